//! What is there again at the next start.

use super::{outside::window, *};
use crate::window::{platform, sort::Found};
use bayesadapter::session::RunSettings;
use std::collections::HashMap;

#[derive(Default)]
struct Memory(HashMap<String, String>);

impl eframe::Storage for Memory {
    fn get_string(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }

    fn set_string(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), value);
    }

    fn remove_string(&mut self, key: &str) {
        self.0.remove(key);
    }

    fn flush(&mut self) {}
}

fn kept(window: &Window) -> Option<String> {
    window.panels.iter().find_map(|panel| panel.kept())
}

#[test]
fn choices_page_and_settings_come_back() {
    let mut settings = RunSettings::default();
    settings.training.epochs = 7;
    settings.data.path = "few-digits".to_owned();
    settings.model.weights = Some("a folder/weights \"1\".pth".to_owned());
    let mut memory = Memory::default();
    let mut before = window();
    let left = before.state_mut();
    left.out = PathBuf::from("/somewhere/else");
    left.welcome.method = Method::Mfg;
    left.tell(&News::Sorted(Found::Settings(Box::new(settings.clone()))));
    left.show_panel("Calibration");
    platform::remember(left, &mut memory);

    let mut after = window();
    platform::recall(after.state_mut(), Some(&memory));
    let found = after.state();
    assert_eq!(found.out, PathBuf::from("/somewhere/else"));
    assert_eq!(found.welcome.method, Method::Mfg);
    let page = found.panels[found.shown.unwrap()].name();
    assert_eq!(page, "Calibration");
    let text = kept(found).unwrap();
    assert_eq!(RunSettings::from_toml(&text).unwrap(), settings);
}

#[test]
fn what_an_older_version_left_is_read() {
    let mut memory = Memory::default();
    let old = "(out:\"/old/place\",method:map)".to_owned();
    eframe::Storage::set_string(&mut memory, eframe::APP_KEY, old);
    let mut harness = window();
    platform::recall(harness.state_mut(), Some(&memory));
    assert_eq!(harness.state().out, PathBuf::from("/old/place"));
    assert_eq!(harness.state().shown, None);
}

#[cfg(target_os = "linux")]
#[test]
fn runs_are_kept_among_the_data_of_the_user() {
    let absolute = |name| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let data = absolute("XDG_DATA_HOME");
    let data = data.or_else(|| Some(absolute("HOME")?.join(".local/share")));
    let place = data.unwrap().join("bayesadapter/runs");
    assert_eq!(platform::usual_place(), place);
}
