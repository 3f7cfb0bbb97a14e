//! What leaves the window: plots as pictures and numbers, tables, reports.

use super::{
    errand::{Content, Errand, Parcel},
    keys, look,
    news::Wish,
    platform::HAS_FOLDERS,
    purpose::Purpose,
};
use crate::report::{Drawing, Exhibit, Format, Mark, Series};
use egui::{Color32, OpenUrl, RichText, Ui};
use egui_plot::{Bar, BarChart, Corner, Line, LineStyle, PlotUi, Points};
use std::path::{Path, PathBuf};

/// The heading of a plot, with a menu that saves it.
pub fn title<E: Into<Exhibit>>(
    ui: &mut Ui,
    text: &str,
    explained: &str,
    wishes: &mut Vec<Wish>,
    exhibit: impl FnOnce() -> E,
) {
    ui.horizontal(|ui| {
        look::title(ui, text, explained);
        let menu = ui.menu_button(RichText::new("Save").small(), |ui| {
            let clicked = |format: &Format| ui.button(in_words(*format)).clicked();
            Format::ALL.into_iter().filter(clicked).last()
        });
        menu.response
            .accessible_name(format!("Save {}", name(text)));
        if let Some(format) = menu.inner.flatten() {
            let exhibit = exhibit().into();
            let name = format!("{}.{}", exhibit.file_name(), format.ending());
            wishes.push(keep(name, Content::Exhibit(exhibit, format)));
        }
    });
}

/// A heading without what may change while it is looked at.
fn name(heading: &str) -> &str {
    heading.split([',', ':']).next().unwrap_or(heading)
}

fn in_words(format: Format) -> &'static str {
    match format {
        Format::Png => "as a PNG picture…",
        Format::Svg => "as an SVG picture…",
        Format::Csv => "its numbers as CSV…",
    }
}

/// A dialog for where to save something.
pub fn keep(name: String, content: Content) -> Wish {
    Wish::Choose(Purpose::Save(Parcel { name, content }))
}

/// A plot with its heading, from the same description as its file. The legend, if there is to be one, stands where
/// nothing is hidden by it.
pub fn plot(
    ui: &mut Ui,
    drawing: Drawing,
    explained: &str,
    height: f32,
    legend: Option<Corner>,
    wishes: &mut Vec<Wish>,
) {
    title(ui, &drawing.title, explained, wishes, || drawing.clone());
    let inks: Vec<Color32> = drawing.series.iter().map(|one| one.ink.on(ui)).collect();
    let mut plot = look::plot(name(&drawing.title), height)
        .x_axis_label(drawing.x_label.as_str())
        .y_axis_label(drawing.y_label.as_str());
    // Around a value that never changes there would be no telling how large it is.
    let mut values = drawing.series.iter().flat_map(|series| &series.points);
    if let Some([_, first]) = values.next()
        && values.all(|[_, value]| value == first)
    {
        plot = plot.include_y(first - 0.5).include_y(first + 0.5);
    }
    if let Some(corner) = legend {
        let legend = look::legend().follow_insertion_order(true);
        plot = plot.legend(legend.position(corner));
    }
    plot.show(ui, |plot| {
        for (series, ink) in drawing.series.into_iter().zip(inks) {
            show(plot, series, ink);
        }
    });
}

fn show(plot: &mut PlotUi<'_>, series: Series, ink: Color32) {
    let Series {
        name, mark, points, ..
    } = series;
    match mark {
        Mark::Line => plot.line(Line::new(name, points).color(ink).width(2.0)),
        Mark::Dashed => {
            let line = Line::new(name, points).color(ink);
            plot.line(line.style(LineStyle::dashed_loose()));
        }
        Mark::Faint => {
            let line = Line::new(name, points).width(1.0);
            plot.line(line.color(ink.gamma_multiply(0.35)));
        }
        Mark::Points => plot.points(Points::new(name, points).color(ink).radius(3.0)),
        Mark::Bars { width } => {
            // Others are seen through them.
            let fill = ink.gamma_multiply(0.6);
            let bar = |[x, y]: [f64; 2]| {
                let bar = Bar::new(x, y).width(width);
                bar.fill(fill).stroke((0.0, fill))
            };
            let bars = points.into_iter().map(bar).collect();
            plot.bar_chart(BarChart::new(name, bars).color(fill));
        }
    }
}

/// The report of the run whose posterior is open.
pub fn report_menu(ui: &mut Ui, folder: PathBuf, wishes: &mut Vec<Wish>) {
    ui.menu_button("Report", |ui| {
        if HAS_FOLDERS {
            let open = ui.button("Open report");
            let open =
                open.on_hover_text("Written to the folder of the run, and shown in the browser");
            if open.clicked() {
                wishes.push(Wish::Do(Errand::Report(folder.clone())));
            }
        }
        let save = ui.button("Save report…");
        let keys = ui.ctx().format_shortcut(&keys::SAVE_REPORT);
        let save = save.on_hover_text(format!("One HTML file that needs nothing else ({keys})"));
        if save.clicked() {
            wishes.push(save_report(folder));
        }
    });
}

/// A dialog for where to save the report of the run in a folder.
pub fn save_report(folder: PathBuf) -> Wish {
    keep("report.html".to_owned(), Content::Report(folder))
}

/// Tells where something was saved, until the user has read it.
pub fn saved(ui: &mut Ui, saved: &mut Option<PathBuf>) {
    let Some(path) = saved.clone() else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        if ui.button("Dismiss").clicked() {
            *saved = None;
        }
        if HAS_FOLDERS && ui.button("Open it").clicked() {
            ui.ctx().open_url(OpenUrl::new_tab(file_url(&path)));
        }
        ui.label(format!("Saved as {}", path.display()));
    });
}

/// The address of a file, for a browser.
pub fn file_url(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let text = path.display().to_string().replace('\\', "/");
    let mut url = "file://".to_owned();
    if !text.starts_with('/') {
        url.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b':' => {
                url.push(char::from(byte));
            }
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::{file_url, name};

    #[test]
    fn a_plot_stays_the_same_while_its_numbers_change() {
        let [before, after] = ["Moved, 12.3 % in all", "Moved, 12.4 % in all"].map(name);
        assert_eq!((before, after), ("Moved", "Moved"));
    }

    #[test]
    fn addresses_hold_any_path() {
        let url = file_url("/no such folder/é#1.html".as_ref());
        assert_eq!(url, "file:///no%20such%20folder/%C3%A9%231.html");
    }
}
