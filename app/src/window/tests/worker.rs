//! What is answered first.

use super::{files, outside::window, *};
use crate::window::{
    album::{Album, Wanted},
    bell::Bell,
    errand::Errand,
    platform::{Computer, Worker},
    runner::{Plan, Runner},
};
use bayesadapter::{data, session::Scrub};
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

/// A bell, and whether it was rung.
pub fn bell() -> (Bell, Arc<AtomicBool>) {
    let (bell, rung) = (Bell::default(), Arc::new(AtomicBool::new(false)));
    let (ctx, heard) = (egui::Context::default(), Arc::clone(&rung));
    ctx.set_request_repaint_callback(move |_| heard.store(true, Ordering::Relaxed));
    bell.hang(&ctx);
    (bell, rung)
}

/// Waits until something is so.
pub fn wait_until(mut is_so: impl FnMut() -> bool) {
    let came = (0..30_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_so()
    });
    assert!(came, "it never came");
}

/// The next news.
fn next(worker: &Worker) -> News {
    for _ in 0..30_000 {
        // One at a time is asked for, or this would lose the others.
        if let Some(news) = worker.poll().into_iter().next() {
            return news;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no answer");
}

#[test]
fn the_bell_is_rung_when_the_answer_is_there() {
    let (bell, rung) = bell();
    // What rings before the window is drawn is not lost, since the first frame looks for news.
    Bell::default().ring();
    let worker = Worker::new(Computer::default(), bell);
    worker.ask(|mail| mail.add(Errand::Sort(PathBuf::from("no such file"))));
    wait_until(|| rung.load(Ordering::Relaxed));
    assert!(matches!(worker.poll()[..], [News::Refused(_)]));
    assert!(!worker.is_busy());
}

#[test]
fn every_frame_can_be_rung_for_again() {
    let mut harness = window();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    harness.ctx.set_repaint_observer(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    for _ in 0..2 {
        harness.run_steps(1);
        let before = asked.load(Ordering::Relaxed);
        harness.state().bell.ring();
        harness.state().bell.ring();
        assert_eq!(asked.load(Ordering::Relaxed) - before, 1);
    }
}

#[test]
fn questions_and_draws_do_not_wait_until_a_network_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = files::settings();
    settings.evaluation.draws = 100;
    let run = files::table(&settings);
    let bytes = files::posterior_of(run);
    let path = files::write(folder.path(), "alone.safetensors", &bytes);
    let worker = Worker::new(Computer::default(), Bell::default());
    worker.ask(|mail| mail.open(path.clone()));
    assert!(matches!(next(&worker), News::Opened(_)));
    worker.ask(|mail| mail.add(Errand::Compare(path)));
    // Two of each: when the first is answered, the network is being judged.
    for draw in 0..2 {
        let picture = Picture::new(1, 8, 8, vec![100; 64]).unwrap();
        worker.ask(|mail| mail.question = Some(Question::Drawn(picture)));
        assert!(matches!(next(&worker), News::Answered(_)));
        let layer = "DigitsCnn.conv1.weight".to_owned();
        let draw = Some(draw);
        worker.ask(|mail| mail.scrub = Some(Scrub { draw, layer }));
        assert!(matches!(next(&worker), News::Scrubbed(_)));
    }
    assert!(worker.is_busy());
    assert!(matches!(next(&worker), News::Compared(found) if found.runs[0].evaluations.len() == 1));
}

/// What comes back for pictures of these data.
fn album(worker: &Worker, path: &str, there_were: usize, positions: Vec<usize>) -> Album {
    let wanted = Wanted {
        data: TestData {
            path: path.to_owned(),
            split: Some(("none".to_owned(), 0)),
            set: Default::default(),
        },
        there_were,
        positions,
    };
    worker.ask(|mail| mail.pictures = Some(wanted));
    match next(worker) {
        News::Pictures(album) => Arc::unwrap_or_clone(album),
        _ => panic!("no pictures"),
    }
}

#[test]
fn pictures_are_of_the_data_that_the_network_was_judged_on() {
    use bayesadapter::data::{Dataset, Split};
    let folder = tempfile::tempdir().unwrap();
    let run = files::table(&files::settings());
    let path = files::write(folder.path(), "few", &files::posterior_of(run));
    let worker = Worker::new(Computer::default(), Bell::default());
    worker.ask(|mail| mail.open(path));
    assert!(matches!(next(&worker), News::Opened(_)));
    // The file is of few digits, and a run goes on with more.
    let more = data::digits(Split::Test);
    let found = album(&worker, "digits", more.len(), vec![3, 7]);
    let pictures = found.pictures.unwrap();
    for (picture, at) in pictures.into_iter().zip([3, 7]) {
        assert_eq!(picture.unwrap(), more.picture(at).unwrap());
    }
    // The data changed: nobody knows which picture is which.
    let found = album(&worker, "digits", more.len() - 1, vec![3, 7]);
    let reason = found.pictures.unwrap_err();
    assert!(reason.contains("only the numbers"), "{reason}");
    let reason = album(&worker, "no/such/data", 10, vec![1]).pictures;
    assert!(reason.unwrap_err().contains("no/such/data"));
}

#[test]
fn galleries_are_small_and_do_without_what_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    for class in ["cat", "dog"] {
        for split in ["train", "test"] {
            for number in 0..2 {
                let name = format!("{split}/{class}/{number}.png");
                files::write(folder.path(), &name, &files::image(900, 300));
            }
        }
    }
    files::write(folder.path(), "test/dog/0.png", b"no picture");
    let worker = Worker::new(Computer::default(), Bell::default());
    let path = folder.path().display().to_string();
    let found = album(&worker, &path, 4, vec![3, 2, 0]);
    let pictures = found.pictures.unwrap();
    let sizes = pictures
        .iter()
        .map(|one| one.as_ref().map(|one| one.width).ok());
    let sizes: Vec<Option<usize>> = sizes.collect();
    assert_eq!(sizes, [Some(128), None, Some(128)]);
    assert!(pictures[1].as_ref().unwrap_err().contains("0.png"));
}

/// The last answer of the worker to a drawing.
fn information(worker: &Worker, drawn: Picture) -> f64 {
    worker.ask(|mail| mail.question = Some(Question::Drawn(drawn)));
    match next(worker) {
        News::Answered(answer) => answer.mutual_information,
        _ => panic!("no answer"),
    }
}

#[test]
fn a_scribble_makes_the_network_of_the_demo_unsure() {
    use bayesadapter::data::{Dataset, Split};
    let folder = tempfile::tempdir().unwrap();
    let mut plans = Plan::demo(Method::Pse, folder.path());
    for plan in &mut plans {
        plan.settings.device = bayesadapter::session::DeviceChoice::Cpu;
        plan.settings.evaluation.draws = 2;
        plan.settings.training.epochs = 20;
    }
    let posterior = plans[1].folder.join("posterior.safetensors");
    let mut runner = Runner::new(plans, Computer::default(), Bell::default());
    while !runner.is_over() {
        runner.poll();
        std::thread::sleep(Duration::from_millis(20));
    }
    let worker = Worker::new(Computer::default(), Bell::default());
    worker.ask(|mail| mail.open(posterior));
    assert!(matches!(next(&worker), News::Opened(_)));
    let (digits, scribbles) = (data::digits(Split::Train), data::scribbles(20, 0));
    let mean = |pictures: &dyn Dataset| {
        let of = |at| information(&worker, pictures.picture(at).unwrap());
        (0..20).map(of).sum::<f64>() / 20.0
    };
    let (of_digits, of_scribbles) = (mean(&digits), mean(&scribbles));
    assert!(
        of_scribbles > 1.5 * of_digits,
        "{of_scribbles} and {of_digits}"
    );
}
