//! The page of the posterior.

use super::*;

#[test]
fn posterior_shows_any_layer_and_any_draw() {
    let mut harness = page("Posterior", &[opened()]);
    assert!(harness.query_by_label("norm1.gamma").is_some());
    assert!(harness.query_by_label("point").is_some());
    assert!(harness.query_by_label("12.3 %").is_some());
    let picture_of = |class: u32| Glimpse {
        picture: Picture::new(1, 8, 8, (0..64).map(|at| 4 * at).collect()).unwrap(),
        truth: class.to_string(),
        said: "3".to_owned(),
        probability: 0.42,
    };
    harness.get_by_role(Role::Slider).focus();
    harness.run_steps(2);
    for _ in 0..3 {
        harness.key_press(egui::Key::ArrowRight);
        harness.run_steps(2);
    }
    let asked = harness
        .state()
        .wishes
        .iter()
        .rev()
        .find_map(|wish| match wish {
            Wish::Scrub(scrub) => Some(scrub.clone()),
            _ => None,
        });
    let scrub = asked.unwrap();
    assert_eq!(scrub.draw, Some(2));
    let scrubbed = News::Scrubbed(Arc::new(Scrubbed {
        kernels: layer(&scrub.layer).kernels,
        answers: (0..8).map(picture_of).collect(),
        scrub,
    }));
    harness.state_mut().panel.on_news(&scrubbed);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("Draw 2:").is_some());
    assert!(
        harness
            .query_by_label_contains("What draw 2 says")
            .is_some()
    );
    picture(&mut harness, "posterior");
    harness.get_by_label("conv2.weight").click();
    harness.run_steps(3);
    let asked = |wish: &Wish| matches!(wish, Wish::Layer(path) if path == "conv2.weight");
    assert!(harness.state().wishes.iter().any(asked));
}

#[test]
fn posterior_follows_a_run() {
    let mut harness = page(
        "Posterior",
        &[prepared(), phase(Phase::Training), progress(140)],
    );
    let asked = |wish: &Wish| {
        let path = "conv1.weight";
        matches!(wish, Wish::Tell(Command::ShowLayer(asked)) if asked == path)
    };
    assert!(harness.state().wishes.iter().any(asked));
    let told = News::Run(Event::Layer(Box::new(layer("conv1.weight"))));
    harness.state_mut().panel.on_news(&told);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("after step 140").is_some());
    assert!(harness.query_by_label_contains("Moved,").is_some());
    picture(&mut harness, "posterior-live");
}

/// A run that begins.
pub fn prepared() -> News {
    let prepared = Prepared {
        load: None,
        conversion: ConversionAccount {
            converted: ["conv1.weight", "conv2.weight"]
                .map(|path| Conversion {
                    path: path.to_owned(),
                    shape: vec![16, 3, 3, 3],
                    added: 432,
                    estimators: Vec::new(),
                })
                .to_vec(),
            ..Default::default()
        },
        examples: 445,
        validation: None,
        test_examples: 1352,
        class_names: Vec::new(),
        different_draws: Some(20),
        steps: 840,
        position: Position::default(),
    };
    News::Run(Event::Prepared(Box::new(prepared)))
}
