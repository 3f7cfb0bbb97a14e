//! A walk through the window with the demo, for pictures of every page and figures of speed and memory.

mod frames;
mod script;

use super::{
    super::{
        Window,
        news::Wish,
        panels::{self, Panel},
        shown,
    },
    LOOK,
};
use anyhow::{Context as _, Result, bail};
use egui::{ColorImage, Context, PointerButton, Pos2, RawInput};
use frames::Frames;
use script::Step;
use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::{Duration, Instant},
};

/// A tour that takes longer hangs; a step of the demo takes seconds.
const LONGEST_STEP: Duration = Duration::from_secs(600);

/// Frames after which a page has found its sizes.
const SETTLING: u32 = 4;

/// What a tour leaves behind: lines of figures, or what went wrong.
pub type Outcome = Arc<Mutex<Result<Vec<String>>>>;

/// The walk.
pub struct Tour {
    folder: PathBuf,
    /// The demo is repeated until then.
    end: Instant,
    steps: VecDeque<Step>,
    since: Instant,
    /// Frames since the step began.
    waited: u32,
    picture: Option<mpsc::Receiver<Arc<ColorImage>>>,
    /// A picture was saved in the last frame.
    pictured: bool,
    /// What pointer and keys do next, an event per frame.
    hand: VecDeque<egui::Event>,
    frames: Frames,
    demos: u32,
    outcome: Outcome,
}

impl Tour {
    /// Pictures go to `folder`; the demo is repeated for `time`.
    pub fn new(folder: PathBuf, time: Duration, outcome: Outcome) -> Self {
        Self {
            folder,
            end: Instant::now() + time,
            steps: script::with_pictures(),
            since: Instant::now(),
            waited: 0,
            picture: None,
            pictured: false,
            hand: VecDeque::new(),
            frames: Frames::default(),
            demos: 0,
            outcome,
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Moves pointer and keys, before egui sees the input of a frame. The user's own mouse is not followed.
    pub fn move_hand(&mut self, input: &mut RawInput) {
        use egui::Event::{MouseMoved, PointerButton, PointerMoved};
        let of_user = |event: &egui::Event| {
            matches!(
                event,
                PointerMoved(_) | MouseMoved(_) | PointerButton { .. }
            )
        };
        input.events.retain(|event| !of_user(event));
        input.events.extend(self.hand.pop_front());
    }

    /// Goes on by at most a step; returns whether the tour goes on at all.
    pub fn go_on(&mut self, window: &mut Window, ctx: &Context) -> bool {
        // That a picture is taken and saved is not the window's own work.
        match self.picture.is_some() || std::mem::take(&mut self.pictured) {
            true => self.frames.skip(),
            false => {
                let page = page(window).map_or("Start", |page| page.name());
                self.frames.add(Instant::now(), page);
            }
        }
        ctx.request_repaint_after(LOOK);
        match self.step(window, ctx) {
            Ok(true) => {
                self.steps.pop_front();
                (self.since, self.waited) = (Instant::now(), 0);
            }
            Ok(false) => self.waited += 1,
            Err(error) => {
                *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
                return false;
            }
        }
        if self.steps.is_empty() {
            self.report("after it");
            if Instant::now() < self.end {
                self.steps = script::without_pictures();
            }
        }
        !self.steps.is_empty()
    }

    /// Whether the step is done.
    fn step(&mut self, window: &mut Window, ctx: &Context) -> Result<bool> {
        if let Some(text) = window.notices.first() {
            bail!("the window says: {text}");
        }
        let Some(step) = self.steps.front() else {
            return Ok(false);
        };
        if self.since.elapsed() > LONGEST_STEP {
            bail!("{step:?} is not done after {LONGEST_STEP:?}");
        }
        match step {
            Step::Start => window.shown = None,
            Step::Page(name) => window.show_panel(name),
            Step::Theme(theme) => ctx.set_theme(*theme),
            Step::Demo => {
                self.demos += 1;
                window.out = self.folder.join("runs");
                window.fulfil(Wish::Demo(bayesadapter::session::Method::Pse));
            }
            Step::UntilLearning(method) => {
                return Ok(window.phase() == bayesadapter::session::Phase::Training
                    && window.run_folder.ends_with(method));
            }
            Step::UntilOver => {
                if window.running() || window.worker.is_busy() {
                    return Ok(false);
                }
                self.report("while it ran");
            }
            Step::Wait(seconds) => {
                let awaited = page(window).is_ok_and(|page| page.waits());
                let busy = awaited || window.worker.is_busy() || !self.hand.is_empty();
                let passed = self.since.elapsed().as_secs_f32() >= *seconds;
                return Ok(passed && self.waited >= SETTLING && !busy);
            }
            Step::Tell(command) => window.fulfil(Wish::Tell(command.clone())),
            Step::Click(x, y) => {
                let area = ctx.content_rect();
                let at = area.min + egui::vec2(x * area.width(), y * area.height());
                self.hand.extend(stroke(&[at]));
            }
            Step::UntilOpen => return Ok(page(window)?.has_opened()),
            Step::ExpectOpen => {
                let page = page(window)?;
                if !page.has_opened() {
                    bail!("nothing was opened on the page {}", page.name());
                }
            }
            Step::Press(key) => self
                .hand
                .extend([true, false].map(|pressed| egui::Event::Key {
                    key: *key,
                    physical_key: None,
                    pressed,
                    repeat: false,
                    modifiers: egui::Modifiers::NONE,
                })),
            Step::Draw(points) => {
                let canvas = ctx.read_response(panels::canvas_id());
                let canvas = canvas.context("there is no canvas to draw on")?.rect;
                let points = points.iter();
                let points = points.map(|&(x, y)| canvas.lerp_inside(egui::vec2(x, y)));
                let points: Vec<Pos2> = points.collect();
                self.hand.extend(stroke(&points));
            }
            Step::Picture(name) => {
                let file = self.folder.join(format!("{name}.png"));
                return self.picture(ctx, &file);
            }
        }
        Ok(true)
    }

    /// Asks for a picture of the window, and saves it when it comes.
    fn picture(&mut self, ctx: &Context, file: &Path) -> Result<bool> {
        let Some(picture) = &self.picture else {
            let (send, receive) = mpsc::channel();
            ctx.request_screenshot(move |picture| {
                // The tour may have ended meanwhile.
                let _ = send.send(picture);
            });
            self.picture = Some(receive);
            return Ok(false);
        };
        let Ok(picture) = picture.try_recv() else {
            return Ok(false);
        };
        (self.picture, self.pictured) = (None, true);
        let [width, height] = picture.size;
        let pixels = shown::rgb(&picture);
        let picture = image::RgbImage::from_raw(width as u32, height as u32, pixels);
        let picture = picture.context("the window has no pixels")?;
        let saved = picture.save(file);
        saved.with_context(|| format!("{} cannot be written", file.display()))?;
        Ok(true)
    }

    fn report(&mut self, when: &str) {
        let line = format!("demo {}, {when}: {}", self.demos, self.frames.take());
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(lines) = &mut *outcome {
            lines.push(line);
        }
    }
}

/// The page that is shown.
fn page(window: &Window) -> Result<&dyn Panel> {
    let page = window.shown.and_then(|at| window.panels.get(at));
    Ok(&**page.context("no page is shown")?)
}

/// A stroke of the pointer through these points.
fn stroke(points: &[Pos2]) -> Vec<egui::Event> {
    let button = |pos, pressed| egui::Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: egui::Modifiers::NONE,
    };
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    let moves = points.iter().copied().map(egui::Event::PointerMoved);
    [egui::Event::PointerMoved(first), button(first, true)]
        .into_iter()
        .chain(moves)
        .chain([button(last, false), egui::Event::PointerGone])
        .collect()
}
