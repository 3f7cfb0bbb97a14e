//! The page.

mod data_uri;
mod gallery;
mod summary;
mod table;

use super::{Chart, Report, charts::Section, palette::dark_rules, text::escaped};
use std::fmt::Write;

/// Without scripts, fonts or pictures from elsewhere, so that it can be kept, sent and printed.
pub fn html(report: &Report, sections: &[Section]) -> String {
    let (title, created) = (escaped(&report.title), escaped(&report.created));
    let style = style();
    let mut body = String::new();
    if !report.evaluations.is_empty() {
        body += &summary::html(report);
        body += &table::html(report);
    }
    for section in sections {
        body += &chart_section(section);
    }
    if let Some(pictures) = &report.pictures {
        body += &gallery::html(pictures);
    }
    body += &settings(report);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{style}</style>\n</head>\n<body>\n<main>\n\
         <header><h1>{title}</h1><p class=\"created\">{created}</p></header>\n\
         {body}</main>\n</body>\n</html>\n"
    )
}

fn style() -> String {
    let sheet = include_str!("style.css");
    format!(
        "{sheet}@media screen and (prefers-color-scheme: dark) {{{}}}\n",
        dark_rules()
    )
}

/// A section with its heading; the content is HTML already.
fn section(id: &str, title: &str, content: &str) -> String {
    format!(
        "<section id=\"{id}\">\n<h2>{}</h2>\n{content}</section>\n",
        escaped(title)
    )
}

fn chart_section(of: &Section) -> String {
    let mut content = format!(
        "<p>{}</p>\n<div class=\"charts\">\n",
        escaped(of.introduction)
    );
    for chart in &of.charts {
        content += &figure(chart);
    }
    content += "</div>\n";
    section(of.id, of.title, &content)
}

fn figure(chart: &Chart) -> String {
    let (name, caption) = (escaped(&chart.name), escaped(&chart.caption));
    let svg = &chart.svg;
    format!("<figure id=\"{name}\">\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>\n")
}

fn settings(report: &Report) -> String {
    if report.settings.is_empty() {
        return String::new();
    }
    let mut content = "<dl class=\"settings\">\n".to_owned();
    for (name, value) in &report.settings {
        // Writing to a string cannot fail.
        let _ = writeln!(
            content,
            "<div><dt>{}</dt><dd>{}</dd></div>",
            escaped(name),
            escaped(value)
        );
    }
    content += "</dl>\n";
    section("settings", "Settings", &content)
}
