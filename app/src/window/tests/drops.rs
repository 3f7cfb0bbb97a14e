//! Files that are let go of over the window.

use super::{files, outside::reads, outside::window, setup::checkpoint, *};
use crate::window::errand::Errand;
use std::path::Path;

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

fn let_go(harness: &mut Harness<'_, Window>, path: &Path) {
    let dropped = Arc::new(Dropped(path.to_owned()));
    harness.input_mut().dropped_files.push(dropped);
}

fn shown(harness: &Harness<'_, Window>) -> &'static str {
    let window = harness.state();
    window.shown.map_or("Start", |at| window.panels[at].name())
}

#[test]
fn a_dropped_checkpoint_leads_to_the_set_up() {
    let folder = tempfile::tempdir().unwrap();
    let weights = files::write(folder.path(), "weights.pth", &checkpoint());
    let mut harness = window();
    let_go(&mut harness, &weights);
    assert!(reads(&mut harness, "0 parameters fit"));
    picture(&mut harness, "dropped");
    // Unknown to all: the message names it.
    let notes = files::write(folder.path(), "notes.txt", b"nothing of use");
    harness.state_mut().fulfil(Wish::Do(Errand::Sort(notes)));
    assert!(reads(&mut harness, "notes.txt"));
}

#[test]
fn posteriors_pictures_and_folders_go_where_they_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut harness = window();
    let posterior = files::write(folder, "a.safetensors", &files::posterior());
    let_go(&mut harness, &posterior);
    assert!(reads(&mut harness, "PSE posterior of digits-cnn"));
    assert_eq!(shown(&harness), "Posterior");
    let photograph = files::write(folder, "photograph.png", &files::image(40, 30));
    let_go(&mut harness, &photograph);
    assert!(reads(&mut harness, "photograph.png"));
    assert_eq!(shown(&harness), "Predict");
    let pictures = folder.join("pictures");
    for class in ["cat", "dog"] {
        for number in 0..20 {
            let name = format!("{class}/{number}.png");
            files::write(&pictures, &name, &files::image(8, 8));
        }
    }
    let_go(&mut harness, &pictures);
    assert!(reads(&mut harness, "test images, 2 classes"));
    assert_eq!(shown(&harness), "Set up");
}

#[test]
fn several_pictures_are_asked_about_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = folder.path().join("pictures");
    let names = ["one.png", "two.png", "three.png"];
    let paths = names.map(|name| files::write(&pictures, name, &files::image(8, 8)));
    let mut harness = window();
    // A folder without classes is no data, and there is nobody to ask.
    let_go(&mut harness, &pictures);
    assert!(reads(&mut harness, "nothing says what they show"));
    assert_eq!(shown(&harness), "Start");
    let posterior = files::write(folder.path(), "a.safetensors", &files::posterior());
    harness.state_mut().fulfil(Wish::Open(posterior));
    assert!(reads(&mut harness, "PSE posterior of digits-cnn"));
    let_go(&mut harness, &pictures);
    assert!(reads(&mut harness, "Picture 1 of 3"));
    assert_eq!(shown(&harness), "Predict");
    // By name.
    assert!(reads(&mut harness, "one.png"));
    harness.get_by_label("Next").click();
    assert!(reads(&mut harness, "three.png"));
    harness.get_by_label("Next").click();
    assert!(reads(&mut harness, "two.png"));
    // Loose ones, let go of together.
    let others = ["a.png", "b.png"];
    for name in others {
        let other = files::write(folder.path(), name, &files::image(8, 8));
        let_go(&mut harness, &other);
    }
    assert!(reads(&mut harness, "Picture 5 of 5"));
    assert!(reads(&mut harness, "b.png"));
    harness.get_by_label("Back").click();
    assert!(reads(&mut harness, "Picture 4 of 5"));
    assert!(reads(&mut harness, "a.png"));
    // One that is known already is not added again.
    let_go(&mut harness, &paths[0]);
    assert!(reads(&mut harness, "Picture 1 of 5"));
    // What is asked about in another way ends the list.
    let image = egui::ColorImage::filled([8, 8], egui::Color32::WHITE);
    harness.event(egui::Event::PasteImage(Arc::new(image)));
    let gone = (0..500).any(|_| {
        harness.run_steps(1);
        std::thread::sleep(std::time::Duration::from_millis(20));
        harness.query_by_label("Picture 1 of 5").is_none()
    });
    assert!(gone);
}

#[test]
fn a_photograph_larger_than_a_texture_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = window();
    let posterior = files::write(folder.path(), "a.safetensors", &files::posterior());
    harness.state_mut().fulfil(Wish::Open(posterior));
    assert!(reads(&mut harness, "PSE posterior of digits-cnn"));
    let wide = files::write(folder.path(), "wide.png", &files::image(9000, 4));
    let_go(&mut harness, &wide);
    assert!(reads(&mut harness, "wide.png"));
    harness.run_steps(2);
    harness.render().unwrap();
    // Pages that are told of a large picture in another way do not depend on the worker's having made it small.
    let large = Picture::new(1, 9000, 4, vec![100; 36_000]).unwrap();
    let told = answer(Question::Pasted(large.clone()), large);
    harness.state_mut().tell(&told);
    harness.run_steps(2);
    harness.render().unwrap();
}

#[test]
fn on_the_page_that_compares_only_networks_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut harness = window();
    harness.state_mut().show_panel("Compare");
    harness.run_steps(2);
    let run = files::table(&files::settings());
    let posterior = files::write(folder, "alone.safetensors", &files::posterior_of(run));
    let_go(&mut harness, &posterior);
    assert!(reads(&mut harness, "Remove alone PSE"));
    assert_eq!(shown(&harness), "Compare");
    let weights = files::write(folder, "weights.pth", &checkpoint());
    let_go(&mut harness, &weights);
    assert!(reads(&mut harness, "0 parameters fit"));
    assert_eq!(shown(&harness), "Set up");
}

#[test]
fn every_bad_file_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut harness = window();
    let names = ["one.txt", "two.txt", "three.txt"];
    for name in names {
        let bad = files::write(folder.path(), name, b"nothing of use");
        let_go(&mut harness, &bad);
    }
    let all = (0..500).any(|_| {
        harness.run_steps(1);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let notices = &harness.state().notices;
        let told = |name: &&str| notices.iter().any(|notice| notice.contains(name));
        names.iter().all(told)
    });
    assert!(all, "{:?}", harness.state().notices);
}
