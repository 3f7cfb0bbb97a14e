//! The report of pretended networks, and of odd ones.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod synthetic;

use bayesadapter::{
    evaluate::{Collector, Detection, Evaluation},
    session::ValidationScores,
};
use bayesadapter_app::report::{
    Chart, FirstLayer, Report, TrainingPoint, TrainingPoints, TrainingRun, ValidationPoint, charts,
    html, png, write,
};
use resvg::usvg;
use std::{collections::HashSet, path::Path};
use synthetic::{Behaviour, CLASSES};

/// Fails unless every chart is whole.
fn assert_sound(charts: &[Chart]) {
    let mut names = HashSet::new();
    for chart in charts {
        assert!(
            names.insert(&chart.name),
            "two charts are called {}",
            chart.name
        );
        assert!(!chart.title.is_empty() && chart.caption.starts_with("How to read it"));
        usvg::Tree::from_str(&chart.svg, &usvg::Options::default())
            .unwrap_or_else(|error| panic!("{}: {error}", chart.name));
        let mut words = chart.svg.split(|letter: char| !letter.is_alphanumeric());
        // The last two are what a number without bounds becomes on the grid of a chart.
        let odd = ["NaN", "inf", "2147483648", "2147483647"];
        assert!(!words.any(|word| odd.contains(&word)), "{}", chart.svg);
    }
}

#[test]
fn a_report_has_every_section_and_stands_alone() {
    let report = synthetic::report();
    let page = html(&report).unwrap();
    let sections = [
        "summary",
        "comparison",
        "never-seen",
        "calibration",
        "uncertainty",
        "selection",
        "draws",
        "training",
        "posterior",
        "pictures",
        "settings",
    ];
    for section in sections {
        assert!(
            page.contains(&format!("<section id=\"{section}\">")),
            "{section}"
        );
    }
    let without_namespaces = page.replace("http://www.w3.org/2000/svg", "");
    for outside in [
        "http:", "https:", "url(", "@import", "<script", "<link", "src=\"/",
    ] {
        assert!(
            !without_namespaces.contains(outside),
            "the page needs {outside}"
        );
    }
    let charts = charts(&report).unwrap();
    assert_sound(&charts);
    for name in [
        "reliability-mfg",
        "uncertainty-buckets",
        "uncertainty-pse",
        "risk-coverage",
    ] {
        assert!(charts.iter().any(|chart| chart.name == name), "{name}");
        assert!(page.contains(&format!("<figure id=\"{name}\">")), "{name}");
    }
    assert_eq!(page.matches("role=\"img\"").count(), charts.len());
    assert_eq!(
        page.matches("<img ").count(),
        page.matches(" alt=\"").count()
    );
}

#[test]
fn numbers_in_the_table_are_those_of_the_evaluations() {
    let report = synthetic::report();
    let page = html(&report).unwrap();
    let row = |name: &str| {
        let start = page
            .find(&format!("<tr><th scope=\"row\">{name}<"))
            .unwrap();
        &page[start..start + page[start..].find("</tr>").unwrap()]
    };
    let [map, _, pse] = &report.evaluations[..] else {
        panic!("three methods");
    };
    for evaluation in &report.evaluations {
        let scores = &evaluation.scores;
        assert!(row("Accuracy").contains(&format!("{:.2}\u{a0}%", 100.0 * scores.accuracy)));
        assert!(row("NLL").contains(&format!("{:.4}", scores.nll)));
        assert!(row("Brier score").contains(&format!("{:.4}", scores.brier)));
        assert!(row("ECE").contains(&format!("{:.4}", scores.ece)));
        assert!(row("AURC").contains(&format!("{:.4}", scores.aurc)));
        let errors = scores.error_detection.unwrap();
        assert!(row("Errors found by entropy").contains(&format!("{:.4}", errors.entropy.auroc)));
        let strangers = evaluation.out_of_distribution.as_ref().unwrap();
        let by_entropy = strangers.detection.entropy.auroc;
        assert!(row("SVHN found by entropy").contains(&format!("{by_entropy:.4}")));
        let Detection {
            aupr,
            false_alarms_at_95,
            ..
        } = strangers.detection.entropy;
        assert!(row("SVHN found by entropy, AP").contains(&format!("{aupr:.4}")));
        let false_alarms = row("SVHN found by entropy, FPR95");
        assert!(false_alarms.contains(&format!("{false_alarms_at_95:.4}")));
        assert!(false_alarms.contains("lower is better"));
    }
    let gain = pse.scores.nll - map.scores.nll;
    assert!(gain < 0.0, "the pretended ensemble is better");
    let shown = format!("<small class=\"better\">−{:.4}</small>", gain.abs());
    assert!(row("NLL").contains(&shown), "{}", row("NLL"));
    let best = report
        .evaluations
        .iter()
        .map(|one| one.scores.nll)
        .fold(f64::MAX, f64::min);
    assert!(row("NLL").contains(&format!("<td class=\"best\"><strong>{best:.4}</strong>")));
    assert_eq!(row("NLL").matches("<strong>").count(), 1);
    // No draws, no mutual information.
    assert!(row("SVHN found by mutual information").contains("<td>–</td>"));
}

#[test]
fn training_is_shown_on_the_training_and_on_the_validation_set() {
    let mut report = synthetic::report();
    // Whether a chart has curves on either set, if there is such a chart.
    let sets = |report: &Report, name: &str| {
        let mut charts = charts(report).unwrap().into_iter();
        let svg = charts.find(|chart| chart.name == name)?.svg;
        Some(["PSE, training set", "PSE, validation set"].map(|set| svg.contains(set)))
    };
    for name in ["training-likelihood", "training-accuracy"] {
        assert_eq!(sets(&report, name), Some([true, true]), "{name}");
    }
    assert_eq!(sets(&report, "validation-ece"), Some([false, true]));
    // That of the weights, whatever the images are.
    assert_eq!(sets(&report, "training-complexity"), Some([false, false]));
    for run in &mut report.training {
        run.points.validation.clear();
    }
    assert_eq!(sets(&report, "training-likelihood"), Some([true, false]));
    assert_eq!(sets(&report, "validation-ece"), None);
}

#[test]
fn names_are_text_and_not_markup() {
    let odd = "<b>&\"'</b>";
    let behaviour = Behaviour {
        draws: 3,
        spread: 1.0,
        sharpness: 1.0,
    };
    let mut collector = Collector::new(CLASSES.map(|name| format!("{odd}{name}")));
    let labels: Vec<u32> = (0..40).map(synthetic::label).collect();
    let predicted = synthetic::prediction(40, true, 1, &behaviour);
    collector.add(&predicted, None, &labels).unwrap();
    collector.add_out_of_distribution(odd, &predicted).unwrap();
    let evaluation = collector.finish(odd).unwrap();
    let report = Report {
        title: odd.to_owned(),
        created: odd.to_owned(),
        settings: vec![(odd.to_owned(), odd.to_owned())],
        pictures: Some(bayesadapter_app::report::Pictures::of(
            &evaluation,
            2,
            |_| Some(image::RgbImage::new(4, 4)),
        )),
        evaluations: vec![evaluation.clone(), evaluation],
        ..synthetic::report()
    };
    let page = html(&report).unwrap();
    assert!(!page.contains("<b>&"), "markup came through");
    assert!(page.contains("<h1>&lt;b&gt;&amp;&quot;&#39;&lt;/b&gt;</h1>"));
    assert_sound(&charts(&report).unwrap());
}

fn degenerate(evaluation: Evaluation) -> Report {
    let point = |step, value| TrainingPoint {
        step,
        likelihood_loss: value,
        complexity_loss: f64::NAN,
        accuracy: None,
    };
    let undefined = ValidationPoint {
        step: 1,
        scores: ValidationScores {
            accuracy: 0.0,
            nll: f64::INFINITY,
            ece: f64::NAN,
            images: 1,
        },
    };
    let mut layer = synthetic::report().first_layers.remove(0);
    layer.kernels.std.fill(0.0);
    layer.kernels.mean.fill(f32::NAN);
    let cut = FirstLayer {
        method: "cut short".to_owned(),
        kernels: bayesadapter::evaluate::KernelPosterior {
            mean: vec![],
            ..layer.kernels.clone()
        },
    };
    Report {
        evaluations: vec![evaluation.clone(), evaluation],
        training: vec![TrainingRun {
            method: "unknown".to_owned(),
            points: TrainingPoints {
                training: vec![point(0, 1.0), point(1, f64::INFINITY)],
                validation: vec![undefined],
            },
        }],
        first_layers: vec![layer, cut],
        ..Report::default()
    }
}

#[test]
fn odd_evaluations_give_whole_charts() {
    let certain = Behaviour {
        draws: 2,
        spread: 0.0,
        sharpness: 400.0,
    };
    let flat = Behaviour {
        draws: 1,
        spread: 0.0,
        sharpness: 0.0,
    };
    let mut odd = vec![
        // All draws agree, and one class only is ever predicted.
        synthetic::evaluation("certain", 30, 10, &certain),
        synthetic::evaluation("flat", 30, 0, &flat),
        synthetic::evaluation("one example", 1, 0, &certain),
        synthetic::evaluation("one example, one stranger", 1, 1, &flat),
    ];
    let mut mean = synthetic::evaluation("mean", 3, 0, &Behaviour { draws: 0, ..flat });
    mean.class_names.clear();
    odd.push(mean);
    for evaluation in odd {
        let report = degenerate(evaluation);
        assert_sound(&charts(&report).unwrap());
        let page = html(&report).unwrap();
        assert!(!page.contains("NaN") && !page.contains("inf "));
    }
    // Nothing at all.
    let empty = Report::default();
    assert_sound(&charts(&empty).unwrap());
    assert!(html(&empty).unwrap().contains("</html>"));
}

#[test]
fn pictures_have_the_size_that_was_asked_for() {
    let report = synthetic::report();
    let charts = charts(&report).unwrap();
    let chart = charts
        .iter()
        .find(|chart| chart.name == "risk-coverage")
        .unwrap();
    for scale in [1.0, 2.5] {
        let picture = image::load_from_memory(&png(&chart.svg, scale).unwrap())
            .unwrap()
            .to_rgb8();
        assert_eq!(picture.width(), (480.0 * scale) as u32);
        assert_eq!(picture.height(), (340.0 * scale) as u32);
        assert_eq!(picture.get_pixel(0, 0), &image::Rgb([255; 3]));
        let dark = picture
            .pixels()
            .filter(|pixel| pixel.0.iter().all(|&value| value < 120));
        assert!(dark.count() > 100, "the words are missing");
    }
    assert!(png("<svg", 1.0).is_err());
    for scale in [0.0, -1.0, f32::NAN, 1e9] {
        assert!(png(&chart.svg, scale).is_err(), "{scale}");
    }
}

#[test]
fn a_report_is_written_whole() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    let report = synthetic::report();
    let path = write(&report, &folder).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        html(&report).unwrap()
    );
    for chart in charts(&report).unwrap() {
        let file = folder.join("charts").join(format!("{}.png", chart.name));
        assert!(image::open(&file).is_ok(), "{}", file.display());
    }
    let blocked = path.join("folder");
    let error = write(&report, &blocked).unwrap_err();
    assert!(format!("{error:#}").contains("report.html"), "{error:#}");
}
