#!/usr/bin/env python3
"""Makes metrics.json: metrics by scikit-learn, torchmetrics and SciPy.

Usage: pip install -r requirements.txt && python3 make_metrics.py

Inputs are float32 and written with as many digits as bring them back exactly; the libraries compute in
float64, but for torchmetrics' calibration errors, which are float32 inside. Where no library has the metric
(class-wise and adaptive calibration error, buckets, error above a threshold, risk against coverage, face
verification) it is put together here from the definition, in the most direct way and with library parts
where there are some.

Not covered, because the libraries differ from our contract or from one another there: probabilities of
exactly 0 and confidences on a bin edge or exactly 1 (torchmetrics puts 1.0 into a bin of its own,
scikit-learn clips logarithms elsewhere), ties between classes, ties of confidence in adaptive bins and in
risk against coverage, empty input and errors. Unit tests in core/src/metrics do those by hand. Sizes are
small; speed is not covered.
"""

import json
import pathlib
import sys
import warnings

import numpy as np
import scipy
import sklearn
import torch
import torchmetrics
from scipy.special import entr, softmax
from sklearn import metrics as sk
from torchmetrics.functional.classification import binary_calibration_error, multiclass_calibration_error

RANDOM = np.random.default_rng(20240917)
# Rows of float32 sum to 1 only within float32, which scikit-learn finds worth a word for float64.
warnings.filterwarnings("ignore", message="The y_prob values do not sum to one")


def probabilities(*shape, sharpness, labels=None):
    """float32 rows that sum to 1; classes are the last axis. Labels, if given, are made likelier."""
    logits = RANDOM.standard_normal(shape)
    if labels is not None:
        logits += 1.2 * np.eye(shape[-1])[labels]
    return softmax(sharpness * logits, axis=-1).astype(np.float32)


def shortest(array):
    """Nested lists whose text is the shortest that reads back as the same float32."""
    if array.ndim:
        return [shortest(row) for row in array]
    value = float(str(array))
    assert np.float32(value) == array
    return value


def classification(name, n, classes, sharpness):
    labels = RANDOM.integers(0, classes, n)
    p32 = probabilities(n, classes, sharpness=sharpness, labels=labels)
    p, every = p32.astype(np.float64), range(classes)
    confidence, correct = p.max(1), p.argmax(1) == labels
    p_torch, labels_torch = torch.tensor(p), torch.tensor(labels)
    expected = dict(
        accuracy=sk.accuracy_score(labels, p.argmax(1)),
        # scikit-learn has no top-k of two classes.
        top_k={k: sk.top_k_accuracy_score(labels, p, k=k, labels=every) for k in (1, 2, 3, 5) if k < classes > 2},
        nll=sk.log_loss(labels, p, labels=every),
        brier=sk.brier_score_loss(labels, p, labels=every, scale_by_half=False),
        ece={
            bins: multiclass_calibration_error(p_torch, labels_torch, classes, n_bins=bins).item()
            for bins in (1, 10, 15)
        },
        classwise_ece=np.mean(
            [
                binary_calibration_error(p_torch[:, c].contiguous(), (labels_torch == c).long(), n_bins=15).item()
                for c in every
            ]
        ),
        adaptive_ece={bins: adaptive(confidence, correct, bins) for bins in (7, 15)},
        aurc=aurc(confidence, correct),
        error_above=error_above(p32.max(1), correct),
    )
    return dict(
        name=name, classes=classes, labels=labels.tolist(), probabilities=shortest(p32.ravel()), expected=expected
    )


def adaptive(confidence, correct, bins):
    assert len(np.unique(confidence)) == len(confidence)
    parts = np.array_split(np.argsort(confidence), bins)
    gaps = [len(part) * abs(correct[part].mean() - confidence[part].mean()) for part in parts]
    return sum(gaps) / len(confidence)


def aurc(confidence, correct):
    """Mean of the error among the k most confident, k = 1 .. n."""
    order = np.argsort(-confidence)
    return np.mean([1 - correct[order[:k]].mean() for k in range(1, len(order) + 1)])


def error_above(confidence, correct):
    """Points [threshold, count, error], without and with strangers."""
    ood = RANDOM.uniform(0.2, 1.0, 25).astype(np.float32)
    thresholds = np.append(np.arange(10, dtype=np.float32) / np.float32(10), confidence[3])
    strangers = np.concatenate([confidence, ood]), np.concatenate([correct, np.zeros(len(ood), bool)])
    points = lambda c, right: [
        [float(t), int((c >= t).sum()), 1 - right[c >= t].mean() if (c >= t).any() else None] for t in thresholds
    ]
    return dict(
        ood=shortest(ood), thresholds=shortest(thresholds), alone=points(confidence, correct), mixed=points(*strangers)
    )


def detection(name, positives, negatives):
    """Uncertainty of strangers and of ordinary examples."""
    truth = np.repeat([1, 0], [len(positives), len(negatives)])
    scores = np.concatenate([positives, negatives]).astype(np.float64)
    fpr, tpr, _ = sk.roc_curve(truth, scores, drop_intermediate=False)
    expected = dict(
        auroc=sk.roc_auc_score(truth, scores),
        aupr=sk.average_precision_score(truth, scores),
        fpr95=fpr[tpr >= 0.95].min(),
        fpr80=fpr[tpr >= 0.8].min(),
    )
    return dict(name=name, positives=shortest(positives), negatives=shortest(negatives), expected=expected)


def detections():
    rounded = lambda mean, n: np.round(RANDOM.normal(mean, 1, n), 1).astype(np.float32)
    smooth = lambda mean, n: RANDOM.normal(mean, 1, n).astype(np.float32)
    return [
        detection("distinct", smooth(1, 40), smooth(0, 60)),
        detection("ties", rounded(1, 60), rounded(0, 40)),
        detection("worse_than_chance", rounded(-1, 20), rounded(0, 20)),
    ]


def draws():
    count, n, classes = 5, 24, 4
    labels = RANDOM.integers(0, classes, n)
    common = RANDOM.standard_normal((n, classes)) + 1.0 * np.eye(classes)[labels]
    p32 = softmax(common + 1.5 * RANDOM.standard_normal((count, n, classes)), axis=-1).astype(np.float32)
    mean32 = softmax(common, axis=-1).astype(np.float32)
    p = p32.astype(np.float64)
    mean = p.mean(0)
    total, aleatoric = entr(mean).sum(-1), entr(p).sum(-1).mean(0)
    mutual_information = total - aleatoric
    assert (mutual_information > 0).all()
    score = lambda q: [sk.accuracy_score(labels, q.argmax(1)), sk.log_loss(labels, q, labels=range(classes))]
    correct = mean.argmax(1) == labels
    parts = np.array_split(np.argsort(mutual_information, kind="stable"), 10)
    expected = dict(
        single=[score(q) for q in p],
        ensemble=[score(p[: s + 1].mean(0)) for s in range(count)],
        mean_network=score(mean32.astype(np.float64)),
        mean=mean.ravel().tolist(),
        total=total.tolist(),
        aleatoric=aleatoric.tolist(),
        mutual_information=mutual_information.tolist(),
        bucket_indices=[part.tolist() for part in parts],
        bucket_accuracies=[correct[part].mean() for part in parts],
    )
    return dict(
        draws=count, classes=classes, labels=labels.tolist(), probabilities=shortest(p32.ravel()),
        mean_network=shortest(mean32.ravel()), expected=expected,
    )


def verification():
    """Ten folds that are not contiguous, similarities with ties."""
    n, folds = 200, 10
    fold = RANDOM.permutation(np.arange(n) % folds)
    same = RANDOM.random(n) < 0.5
    similarity = np.round(RANDOM.normal(np.where(same, 0.6, 0.2), 0.25), 2).astype(np.float32)
    thresholds, accuracies = [], []
    for f in range(folds):
        train, test = fold != f, fold == f
        candidates = np.unique(similarity[train])[::-1]
        scores = [sk.accuracy_score(same[train], similarity[train] >= t) for t in candidates]
        thresholds.append(candidates[np.argmax(scores)])
        accuracies.append(sk.accuracy_score(same[test], similarity[test] >= thresholds[-1]))
    expected = dict(
        thresholds=shortest(np.array(thresholds)), accuracies=accuracies, mean=np.mean(accuracies),
        standard_error=scipy.stats.sem(accuracies),
    )
    return dict(similarities=shortest(similarity), same=same.tolist(), folds=fold.tolist(), expected=expected)


def main():
    about = dict(
        python=sys.version.split()[0], numpy=np.__version__, scipy=scipy.__version__, sklearn=sklearn.__version__,
        torch=torch.__version__.split("+")[0], torchmetrics=torchmetrics.__version__,
    )
    content = dict(
        about=about,
        classification=[
            classification("ten_classes", 120, 10, 1.5),
            classification("sharp", 90, 3, 4.0),
            classification("two_classes", 40, 2, 1.0),
        ],
        detection=detections(),
        draws=draws(),
        verification=verification(),
    )
    path = pathlib.Path(__file__).with_name("metrics.json")
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
