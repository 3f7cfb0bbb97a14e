#!/usr/bin/env python3
"""Makes calibration.json: temperatures by scikit-learn and SciPy, prediction sets by MAPIE.

Usage: pip install -r requirements.txt && python3 make_calibration.py

Probabilities are float32 and written with as many digits as bring them back exactly; the libraries compute in
float64.

Temperatures come from scikit-learn's CalibratedClassifierCV, and must agree with SciPy's root of the derivative
of the negative log-likelihood, which is written: a minimum of values is known to about 1e-8 only.

Sets by threshold (MAPIE's LAC) and APS come from MAPIE's SplitConformalClassifier. APS is randomised in MAPIE, by
uniform numbers u in the scores of the calibration images; a generator that only gives 1 makes the score the
probability ahead of the label, and `include_last_label=True` makes the sets deterministic. MAPIE chooses the
penalty of RAPS itself, on a part of the images, so that only its scores and its quantile are used for RAPS: a
set holds the classes whose score, each class taken as the label, is within the quantile. MAPIE leaves sets by
threshold empty where no class passes; ours hold the most probable class then, which is added here.

Not covered: probabilities of exactly 0, ties between classes, scores that equal the threshold, calibration sets
that are too small (MAPIE refuses them), and temperatures at the ends of the range. Unit tests in core/src/metrics
do those by hand.
"""

import json
import pathlib
import sys
import warnings

import mapie
import numpy as np
import scipy
import sklearn
from mapie.classification import SplitConformalClassifier
from mapie.conformity_scores.sets.aps import APSConformityScore
from mapie.conformity_scores.sets.raps import RAPSConformityScore
from mapie.metrics.classification import classification_coverage_score, classification_mean_width_score
from mapie.utils import _compute_classification_quantile
from scipy.optimize import brentq
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss

RANDOM = np.random.default_rng(20250311)
COVERAGES = (0.7, 0.9, 0.95)
# Not all of twenty classes are among a few dozen labels, which changes nothing.
warnings.filterwarnings("ignore", message=".*conformalization dataset has less labels")


class Identity(ClassifierMixin, BaseEstimator):
    """A classifier whose input is its output: probabilities."""

    def __init__(self, classes):
        self.classes = classes

    def fit(self, x=None, y=None):
        self.classes_ = np.arange(self.classes)
        self.n_features_in_ = self.classes
        return self

    def predict_proba(self, x):
        return np.asarray(x)

    def predict(self, x):
        return np.asarray(x).argmax(1)


class Ones(np.random.RandomState):
    """Gives 1 instead of random numbers."""

    def uniform(self, low=0.0, high=1.0, size=None):
        return np.ones(size)


def data(n, classes, spread, temperature):
    """Labels drawn from softmax(logits), and the float32 probabilities softmax(logits / temperature)."""
    logits = spread * RANDOM.standard_normal((n, classes))
    labels = np.array([RANDOM.choice(classes, p=row) for row in softmax(logits, axis=1)])
    p32 = softmax(logits / temperature, axis=1).astype(np.float32)
    ordered = np.sort(p32, axis=1)
    assert p32.min() > 1e-7 and (np.diff(ordered, axis=1) > 0).all()
    return labels, p32


def shortest(array):
    """A list whose text is the shortest that reads back as the same float32."""
    values = [float(str(value)) for value in array.ravel()]
    assert (np.array(values, dtype=np.float32) == array.ravel()).all()
    return values


def temperature(name, n, classes, spread, wrong_by):
    labels, p32 = data(n, classes, spread, wrong_by)
    # scikit-learn wants rows that sum to 1 in the precision they have; a constant added to logits changes nothing.
    p = p32.astype(np.float64)
    p /= p.sum(1, keepdims=True)
    logits, one_hot = np.log(p), np.eye(classes)[labels]

    # One calibrator on all examples: a frozen estimator gives the same output in every fold.
    frozen = FrozenEstimator(Identity(classes).fit())
    calibrated = CalibratedClassifierCV(frozen, method="temperature", cv=2, ensemble=False).fit(p, labels)
    by_sklearn = 1 / calibrated.calibrated_classifiers_[0].calibrators[0].beta_
    derivative = lambda beta: (logits * (softmax(beta * logits, axis=1) - one_hot)).sum()
    found = 1 / brentq(derivative, 1 / 20, 1 / 0.05, xtol=1e-14, rtol=1e-14)
    # Within 1e-12 / p, which scikit-learn adds to probabilities before it takes logarithms.
    assert abs(found / by_sklearn - 1) < 1e-5, (found, by_sklearn)

    scaled = np.exp(log_softmax(logits / found, axis=1))
    expected = dict(
        temperature=found,
        nll_before=log_loss(labels, p, labels=range(classes)),
        nll_after=log_loss(labels, scaled, labels=range(classes)),
        scaled=scaled[:4].ravel().tolist(),
    )
    return dict(name=name, classes=classes, labels=labels.tolist(), probabilities=shortest(p32), expected=expected)


def by_mapie(method, coverage, calibration, test):
    """Threshold and sets of SplitConformalClassifier."""
    labels, p = calibration
    name = {"threshold": "lac", "aps": "aps"}[method]
    classifier = SplitConformalClassifier(
        Identity(p.shape[1]).fit(), confidence_level=coverage, conformity_score=name, random_state=Ones()
    ).conformalize(p, labels)
    params = {"include_last_label": True} if method == "aps" else None
    sets = classifier.predict_set(test, conformity_score_params=params)[1][:, :, 0]
    return float(classifier._mapie_classifier.conformity_score_function_.quantiles_[0]), sets


def raps_scores(labels, p, k_reg, lam):
    """MAPIE's scores of labels, with u = 1."""
    score = APSConformityScore()
    score.classes, score.random_state = np.arange(p.shape[1]), Ones()
    plain = score.get_conformity_scores(labels, p, y_enc=labels)
    return RAPSConformityScore._regularize_conformity_score(np.array([k_reg]), lam, plain, score.cutoff)[:, :, 0]


def by_raps(coverage, calibration, test, k_reg, lam):
    labels, p = calibration
    threshold = _compute_classification_quantile(raps_scores(labels, p, k_reg, lam), np.array([1 - coverage]))[0]
    of_class = lambda c: raps_scores(np.full(len(test), c), test, k_reg, lam)[:, 0]
    scores = np.stack([of_class(c) for c in range(p.shape[1])], axis=1)
    assert abs(scores - threshold).min() > 1e-9
    return float(threshold), scores <= threshold


def conformal(name, n, tests, classes, spread, wrong_by):
    labels, p32 = data(n + tests, classes, spread, wrong_by)
    p = p32.astype(np.float64)
    calibration, test, test_labels = (labels[:n], p[:n]), p[n:], labels[n:]
    order = np.argsort(-test, axis=1)
    few = min(max(classes // 10, 1), 5)
    expected = []
    for coverage in COVERAGES:
        for method, penalty in [("threshold", None), ("aps", None), ("raps", (few, 0.01)), ("raps", (3, 0.2))]:
            if method == "raps":
                threshold, sets = by_raps(coverage, calibration, test, *penalty)
            else:
                threshold, sets = by_mapie(method, coverage, calibration, test)
            sets = sets.copy()
            sets[np.arange(tests), order[:, 0]] = True
            expected.append(
                dict(
                    method=method,
                    coverage=coverage,
                    penalty=penalty,
                    threshold=threshold,
                    sets=[[int(c) for c in ranked if row[c]] for ranked, row in zip(order, sets)],
                    test_coverage=float(classification_coverage_score(test_labels, sets[:, :, None])[0]),
                    mean_size=float(classification_mean_width_score(sets[:, :, None])[0]),
                )
            )
    return dict(
        name=name, classes=classes, calibration=n, labels=labels.tolist(), probabilities=shortest(p32), expected=expected
    )


def main():
    about = dict(
        python=sys.version.split()[0], numpy=np.__version__, scipy=scipy.__version__, sklearn=sklearn.__version__,
        mapie=mapie.__version__,
    )
    content = dict(
        about=about,
        temperature=[
            temperature("overconfident", 90, 10, 1.0, 0.5),
            temperature("underconfident", 120, 3, 2.0, 1.7),
            temperature("two_classes", 40, 2, 1.5, 0.6),
        ],
        conformal=[
            conformal("six_classes", 80, 30, 6, 1.5, 0.8),
            conformal("twenty_classes", 60, 16, 20, 1.7, 1.2),
        ],
    )
    path = pathlib.Path(__file__).with_name("calibration.json")
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
