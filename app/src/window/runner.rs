//! Runs, one after the other, beside the window.

use super::{
    album::TestData,
    bell::Bell,
    news::News,
    platform::{self, Computer, OwnPace, Task},
};
use crate::{demo, outcome};
use anyhow::Result;
use bayesadapter::{
    disk,
    session::{self, Command, Control, DeviceChoice, Ending, Job, Method, RunFolder, RunSettings},
};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    },
};

/// A run to make.
#[derive(Clone)]
pub struct Plan {
    /// Where it goes. A run that is there already goes on as its own settings say.
    pub folder: PathBuf,
    pub settings: RunSettings,
}

impl Plan {
    /// Ordinary training and then `method`, in folders under `out`.
    pub fn demo(method: Method, out: &Path) -> Vec<Self> {
        let run = |method| Self {
            folder: demo::run_folder(out, method),
            settings: demo::settings(method, DeviceChoice::Auto, out),
        };
        [Method::Map, method].map(run).to_vec()
    }
}

/// Runs that go on.
pub struct Runner {
    steps: Receiver<Step>,
    control: Option<Control>,
    stop: Arc<AtomicBool>,
    over: bool,
    task: Task,
}

/// What the runs tell.
enum Step {
    Began {
        method: Method,
        folder: PathBuf,
        data: TestData,
        control: Control,
    },
    Ended {
        method: Method,
        ending: Result<Ending, String>,
    },
    Over(Result<(), String>),
}

/// The end of the runs: what they tell wakes the window.
struct Told {
    steps: SyncSender<Step>,
    bell: Bell,
}

impl Told {
    /// Whether somebody listens.
    fn tell(&self, step: Step) -> bool {
        let told = self.steps.send(step).is_ok();
        self.bell.ring();
        told
    }
}

impl Runner {
    /// What is finished is not done again, and what was stopped goes on.
    pub fn new(plans: Vec<Plan>, computer: Computer, bell: Bell) -> Self {
        // Two steps of a run and one at the end: a page, which must not wait, has room for all of them.
        let (sender, steps) = sync_channel(2 * plans.len() + 1);
        let told = Told {
            steps: sender,
            bell,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let task = Task::start(move || async move {
            let done = runs(plans, &computer, &told, &asked).await;
            let done = done.map_err(|error| format!("{error:#}"));
            // Nobody listens once the window is closed.
            told.tell(Step::Over(done));
        });
        Self {
            steps,
            control: None,
            stop,
            over: false,
            task,
        }
    }

    /// Tells the run what to do.
    pub fn tell(&self, command: Command) {
        if command == Command::Stop {
            self.stop.store(true, Ordering::Relaxed);
        }
        if let Some(control) = &self.control {
            control.send(command);
        }
    }

    /// What the run does at this moment, even if nobody has read its events yet. A page asks its own end of the run.
    #[cfg(not(target_family = "wasm"))]
    pub fn phase(&self) -> session::Phase {
        let control = self.control.as_ref();
        control.map_or(session::Phase::Ended, |control| control.latest().phase)
    }

    /// Whether all is done.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// What happened since the last call.
    pub fn poll(&mut self) -> Vec<News> {
        let mut news = Vec::new();
        loop {
            let step = self.steps.try_recv();
            // After the step is taken: a run that has ended has told everything.
            if let Some(control) = &self.control {
                news.extend(control.events().into_iter().map(News::Run));
            }
            match step {
                Ok(Step::Began {
                    method,
                    folder,
                    data,
                    control,
                }) => {
                    self.control = Some(control);
                    news.push(News::Began {
                        method,
                        folder,
                        data,
                    });
                }
                Ok(Step::Ended { method, ending }) => {
                    self.control = None;
                    news.push(News::Ended { method, ending });
                }
                Ok(Step::Over(done)) => {
                    self.over = true;
                    news.push(News::Over(done));
                }
                Err(TryRecvError::Empty) => return news,
                Err(TryRecvError::Disconnected) => {
                    if !self.over {
                        self.over = true;
                        news.push(News::Over(Err(DEFECT.to_owned())));
                    }
                    return news;
                }
            }
        }
    }
}

impl Drop for Runner {
    /// Waits until the current step is done and saved.
    fn drop(&mut self) {
        self.tell(Command::Stop);
        // A thread that waits to tell something learns that nobody listens.
        while Task::MAY_WAIT
            && let Ok(step) = self.steps.recv()
        {
            if let Step::Began { control, .. } = step {
                control.send(Command::Stop);
            }
        }
        self.task.finish();
    }
}

const DEFECT: &str = "the run ended by a defect of this program; what was saved stays";

async fn runs(plans: Vec<Plan>, computer: &Computer, told: &Told, stop: &AtomicBool) -> Result<()> {
    for Plan { folder, settings } in plans {
        let path = folder;
        let opened = match disk::exists(&path.join("run.toml")) {
            true => Some(RunFolder::open(&path)?),
            false => None,
        };
        if let Some((folder, settings)) = &opened
            && folder.is_finished(settings)
        {
            continue;
        }
        let named = computer.device(settings.device).await?;
        platform::give_way(&named);
        let device = &named.device;
        let (job, mut folder, state) = match opened {
            Some((folder, settings)) => {
                let (state, _) = folder.state()?;
                (Job::open(settings, device)?, folder, state)
            }
            None => {
                // The folder is made once the settings are known to be good.
                let job = Job::open(settings, device)?;
                let folder = RunFolder::create(&path, &job.settings, &outcome::about(&named))?;
                (job, folder, None)
            }
        };
        let method = job.settings.posterior.method;
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (control, port) = session::connect();
        let bell = told.bell.clone();
        control.listen(move || bell.ring());
        let heard = told.tell(Step::Began {
            method,
            folder: path,
            data: TestData::of(&job.settings),
            control: control.clone(),
        });
        if !heard || stop.load(Ordering::Relaxed) {
            control.send(Command::Stop);
        }
        let ending = session::run(job, state, &mut folder, &port, &OwnPace).await;
        // Free before the window looks into it.
        drop(folder);
        let finished = matches!(ending, Ok(Ending::Finished));
        let ending = ending.map_err(|error| error.to_string());
        if !told.tell(Step::Ended { method, ending }) || !finished {
            return Ok(());
        }
    }
    Ok(())
}
