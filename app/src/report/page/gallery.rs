//! The images that a network is most and least sure of.

use super::{data_uri, section};
use crate::report::{
    Picture, Pictures,
    text::{escaped, percent},
};
use std::fmt::Write;

pub fn html(pictures: &Pictures) -> String {
    let mut content = format!(
        "<p>Test images by the {} that {} has for them. Beneath each: what it was taken for, with what \
         confidence, and the {} in nats.</p>\n",
        pictures.measure,
        escaped(&pictures.method),
        pictures.measure
    );
    for (title, pictures) in [
        ("Surest", &pictures.most_certain),
        ("Least sure", &pictures.least_certain),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(content, "<h3>{title}</h3>\n<div class=\"gallery\">");
        for picture in pictures {
            content += &figure(picture);
        }
        content += "</div>\n";
    }
    section("pictures", "Which images is it sure of?", &content)
}

fn figure(picture: &Picture) -> String {
    let Some(address) = data_uri::png(&picture.image) else {
        return String::new();
    };
    let (label, predicted) = (escaped(&picture.label), escaped(&picture.predicted));
    let (class, verdict) = match picture.right {
        true => ("right", format!("✓ {predicted}")),
        false => ("wrong", format!("✗ {predicted}<br>is {label}")),
    };
    let confidence = percent(f64::from(picture.confidence), 1);
    format!(
        "<figure class=\"{class}\"><img src=\"{address}\" alt=\"{label}, taken for {predicted}\">\
         <figcaption><b>{verdict}</b><br>{confidence}<br>{:.3} nats</figcaption></figure>\n",
        picture.uncertainty
    )
}
