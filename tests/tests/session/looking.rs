//! Looks at a run on its way: they tell the truth, and change nothing.

use super::{broken::Holey, *};
use bayesadapter::{
    data::Preparation,
    evaluate::KernelPosterior,
    models::Normalisation,
    predict::Draws,
    session::{Interim, Pace, Scrub, Scrubbed},
    train::RunningStatistics,
};
use burn::tensor::{Tensor, TensorData};
use std::cell::Cell;

const LAYER: &str = "DigitsCnn.conv1.weight";

fn scrub(draw: Option<u32>) -> Command {
    Command::ShowDraw(Scrub {
        draw,
        layer: LAYER.to_owned(),
    })
}

/// Someone who asks for everything all the time.
struct Curious {
    control: Control,
    breaths: Cell<u32>,
}

impl Pace for Curious {
    async fn breathe(&self) -> f64 {
        let number = self.breaths.replace(self.breaths.get() + 1);
        let draw = (number % 4).checked_sub(1);
        for command in [Command::JudgeNow, scrub(draw)] {
            self.control.send(command);
        }
        0.0
    }

    async fn wait(&self) {}
}

/// What a run leaves that is looked at all the time, and what is seen.
fn looked_at(job: Job) -> (Memory, Vec<Interim>, Vec<Scrubbed>) {
    let mut memory = Memory::default();
    let (control, port) = connect();
    let pace = Curious {
        control: control.clone(),
        breaths: Cell::new(0),
    };
    let ending = read_sync(run(job, None, &mut memory, &port, &pace));
    assert_eq!(ending.unwrap(), Ending::Finished);
    let (mut interims, mut drawn) = (Vec::new(), Vec::new());
    for event in control.events() {
        match event {
            Event::Interim(interim) => interims.push(*interim),
            Event::Draw(scrubbed) => drawn.push(*scrubbed),
            // Of the broken pictures, at the end.
            Event::Warning { message } => assert!(message.contains("passed over"), "{message}"),
            _ => {}
        }
    }
    (memory, interims, drawn)
}

#[test]
fn a_run_that_is_looked_at_learns_the_same_to_the_bit() {
    for method in [Method::Map, Method::Mfg, Method::Pse] {
        let settings = settings(method);
        let alone = complete(settings.clone(), None);
        let (seen, interims, drawn) = looked_at(job(settings));
        assert!(!interims.is_empty() && drawn.len() > 3, "{method}");
        let (alone, seen) = (alone.kept(), seen.kept());
        assert!(alone.posterior == seen.posterior, "{method}");
        assert_eq!(timeless(&alone.history), timeless(&seen.history));
        // The looks are not kept.
        assert_eq!(alone.evaluations, seen.evaluations);
        assert_eq!(alone.states.len(), seen.states.len());
    }
}

#[test]
fn a_look_is_of_the_pictures_that_it_names() {
    let mut still = settings(Method::Pse);
    // Nothing moves, so that what is seen on the way is the result.
    still.training.rates.lr = 1e-30;
    still.training.rates.variational_lr = Some(1e-30);
    still.training.running_statistics = RunningStatistics::Freeze;
    still.training.epochs = 1;
    still.data.skip_broken = true;
    let test = Holey::of(1000, |index| index % 7 == 3);
    let others = Some(("others".to_owned(), Holey::of(300, |_| false)));
    let train = Arc::new(digits(Split::Train));
    let job = Job::new(
        still,
        None,
        Splits::new(train, test.clone()),
        others,
        &Device::flex(),
    );
    let (memory, interims, _) = looked_at(job.unwrap());
    let (some, kept) = (&interims[0].evaluation, memory.kept());
    let whole = &kept.evaluations[0];
    assert_eq!((some.draws, some.test_pictures()), (2, 1000));
    assert!((200..256).contains(&some.scores.examples));
    let strangers = some.out_of_distribution.as_ref().unwrap();
    assert_eq!(strangers.examples.len(), 77);
    let position = |number: usize| (0..).find(|&at| whole.picture_of(at) == number).unwrap();
    for at in 0..some.scores.examples {
        let number = some.picture_of(at);
        assert!(number % 7 != 3, "picture {number} is broken");
        assert_eq!(some.labels[at], test.label(number));
        let of_whole = position(number);
        for (one, other) in [
            (&some.examples.entropy, &whole.examples.entropy),
            (
                &some.examples.mutual_information,
                &whole.examples.mutual_information,
            ),
        ] {
            let (one, other) = (one[at], other[of_whole]);
            assert!((one - other).abs() < 1e-5, "{one} and {other} of {number}");
        }
    }
}

#[test]
fn a_draw_on_the_way_is_that_of_the_result() {
    let mut still = settings(Method::Pse);
    still.training.rates.lr = 1e-30;
    still.training.rates.variational_lr = Some(1e-30);
    still.training.running_statistics = RunningStatistics::Freeze;
    still.training.epochs = 1;
    let (memory, _, drawn) = looked_at(job(still));
    let file = PosteriorFile::from_bytes(&memory.kept().posterior).unwrap();
    let device = Device::flex();
    let bayes = file.into_network(&device).unwrap();
    let preparation = Preparation::new([1, 8, 8], Normalisation::digits(1));
    let test = digits(Split::Test);
    for Scrubbed {
        scrub,
        kernels,
        answers,
    } in drawn
    {
        let draws = match scrub.draw {
            Some(draw) => {
                let kept = read_sync(KernelPosterior::of_draw(&bayes, LAYER, draw)).unwrap();
                assert!(kernels == Some(kept), "draw {draw}");
                Draws::List(vec![draw])
            }
            None => Draws::Mean,
        };
        assert_eq!(answers.len(), 12);
        for answer in answers {
            let mut numbers = 0..test.len();
            let number = numbers.find(|&at| test.picture(at).unwrap() == answer.picture);
            let label = test.label(number.unwrap()) as usize;
            assert_eq!(answer.truth, test.class_names()[label]);
            let input = preparation.prepare(&answer.picture).unwrap();
            let input = Tensor::from_data(TensorData::new(input, [1, 1, 8, 8]), &device);
            let said = bayes.predict::<4>(input, draws.clone()).unwrap();
            let class = said.predicted_classes()[0] as usize;
            assert_eq!(answer.said, test.class_names()[class]);
            assert!((said.probabilities()[class] - answer.probability).abs() < 1e-5);
        }
    }
}

/// Stops a paused run in the middle of a look.
struct Impatient {
    control: Control,
    waits: Cell<u32>,
    /// Breaths in the look, and those of them after the stop.
    breaths: Cell<[u32; 2]>,
}

impl Pace for Impatient {
    async fn breathe(&self) -> f64 {
        if self.control.latest().phase != Phase::Paused {
            self.control.send(Command::Pause);
            return 0.0;
        }
        let [mut breaths, mut after] = self.breaths.get();
        after += u32::from(breaths >= 3);
        breaths += 1;
        if breaths == 3 {
            self.control.send(Command::Stop);
        }
        self.breaths.set([breaths, after]);
        0.0
    }

    async fn wait(&self) {
        let waits = self.waits.replace(self.waits.get() + 1);
        assert!(waits < 100, "the look never came");
        self.control.send(Command::JudgeNow);
    }
}

#[test]
fn a_stop_does_not_wait_until_a_look_is_done() {
    let mut settings = settings(Method::Mfg);
    settings.evaluation.draws = 20;
    let mut memory = Memory::default();
    let (control, port) = connect();
    let pace = Impatient {
        control: control.clone(),
        waits: Cell::new(0),
        breaths: Cell::new([0; 2]),
    };
    let ending = read_sync(run(job(settings), None, &mut memory, &port, &pace));
    assert_eq!(ending.unwrap(), Ending::Stopped);
    assert_eq!(pace.breaths.get(), [3, 0]);
    let interim = |event: &Event| matches!(event, Event::Interim(_));
    assert!(!control.events().iter().any(interim));
    assert_eq!(memory.kept().states.len(), 1);
}

#[test]
fn a_run_that_is_paused_is_judged_as_it_is() {
    let mut settings = settings(Method::Mfg);
    settings.training.epochs = 200;
    let (control, thread) = spawn(job(settings), None, Memory::default());
    until(&control, |event| matches!(event, Event::Progress(_)));
    control.send(Command::Pause);
    control.send(Command::JudgeNow);
    let mut judged = None;
    until(&control, |event| {
        if let Event::Interim(interim) = event {
            judged = Some(interim.clone());
        }
        judged.is_some()
    });
    let interim = judged.unwrap();
    assert_eq!(interim.evaluation.scores.examples, 256);
    assert_eq!(interim.steps, 200 * 12);
    control.send(Command::Stop);
    assert_eq!(thread.join().unwrap().unwrap(), Ending::Stopped);
}
