//! The thread of the page's runs, from inside: the same module again, without a window.

use super::{
    super::{
        bell::Bell,
        runner::{Plan, Runner},
    },
    Computer, browser,
    wire::{self, Order, Word},
};
use anyhow::{Error, Result};
use bayesadapter::{
    disk::{self, Change},
    session::{DeviceChoice, RunSettings},
};
use std::{cell::RefCell, panic, path::PathBuf};
use wasm_bindgen_futures::spawn_local;

thread_local! {
    static RUNNER: RefCell<Option<Runner>> = RefCell::default();
}

/// Does what the page says.
pub fn obey(order: &[u8], bytes: Option<Vec<u8>>) {
    match wire::decode(order) {
        Ok(Order::File(path)) => disk::put(path, bytes.unwrap_or_default()),
        Ok(Order::Start(plans, device)) => start(plans, device).unwrap_or_else(fail),
        Ok(Order::Tell(command)) => RUNNER.with_borrow(|runner| {
            if let Some(runner) = runner {
                runner.tell(command);
            }
        }),
        Err(error) => fail(error),
    }
}

fn fail(error: Error) {
    say(&Word::Failed(format!("{error:#}")), None);
}

fn start(plans: Vec<(PathBuf, String)>, device: DeviceChoice) -> Result<()> {
    let plans = plans.into_iter().map(|(folder, settings)| {
        let settings = RunSettings::from_toml(&settings)?;
        Ok(Plan { folder, settings })
    });
    let plans = plans.collect::<Result<Vec<Plan>>>()?;
    let log = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        log(info);
        let what = info.payload_as_str().unwrap_or("a defect of this program");
        say(&Word::Failed(what.to_owned()), None);
    }));
    disk::watch(|change| match change {
        Change::Wrote(path, bytes) => say(&Word::Wrote(path.to_owned()), Some(bytes)),
        Change::Renamed(from, to) => say(&Word::Renamed(from.to_owned(), to.to_owned()), None),
        Change::Removed(path) => say(&Word::Removed(path.to_owned()), None),
    });
    let computer = Computer::default();
    computer.choose(device);
    RUNNER.set(Some(Runner::new(plans, computer, Bell::default())));
    spawn_local(tell());
    Ok(())
}

/// Tells what happens, until all is over.
async fn tell() {
    let mut over = false;
    while !over {
        browser::rest().await;
        // Nobody hears it while the tab is hidden.
        browser::breathe().await;
        let news = RUNNER.with_borrow_mut(|runner| {
            let runner = runner.as_mut()?;
            let news = runner.poll();
            over = runner.is_over();
            Some(news)
        });
        let words = news.into_iter().flatten().filter_map(Word::of);
        words.for_each(|word| say(&word, None));
    }
}

fn say(word: &Word, bytes: Option<&[u8]>) {
    let word = wire::encode(word).or_else(|error| {
        let told = format!("{error:#}");
        wire::encode(&Word::Failed(told))
    });
    // A word that is empty cannot be read, which ends the run as well.
    browser::say(&word.unwrap_or_default(), bytes);
}
