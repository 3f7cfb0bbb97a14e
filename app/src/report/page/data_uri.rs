//! Pictures within a page.

use image::{ImageFormat, RgbImage};
use std::io::Cursor;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A picture as an address that holds it; nothing for a picture without pixels.
pub fn png(image: &RgbImage) -> Option<String> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).ok()?;
    Some(format!("data:image/png;base64,{}", base64(bytes.get_ref())))
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for letter in 0..4 {
            // A group of n bytes has n + 1 letters.
            let sextet = (bits >> (18 - 6 * letter)) & 63;
            out.push(match letter <= group.len() {
                true => LETTERS[sextet as usize].into(),
                false => '=',
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_the_standard() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, encoded) in cases {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    #[test]
    fn a_picture_without_pixels_has_no_address() {
        assert_eq!(png(&RgbImage::new(0, 0)), None);
        let address = png(&RgbImage::new(2, 3)).unwrap();
        assert!(address.starts_with("data:image/png;base64,iVBOR"));
    }
}
