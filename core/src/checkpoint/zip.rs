//! The part of the zip format that PyTorch writes: stored entries and a directory at the end.
//!
//! Entries are never copied or unpacked, so an archive costs nothing beyond its own bytes. PyTorch
//! does not compress; an archive that somebody has packed again is refused.

use super::cursor::Cursor;
use super::error::{CheckpointProblem, Outcome, corrupt};
use std::ops::Range;

const END_SIGNATURE: [u8; 4] = *b"PK\x05\x06";
const END64_LOCATOR_SIGNATURE: u32 = u32::from_le_bytes(*b"PK\x06\x07");
const END64_SIGNATURE: u32 = u32::from_le_bytes(*b"PK\x06\x06");
const ENTRY_SIGNATURE: u32 = u32::from_le_bytes(*b"PK\x01\x02");
const LOCAL_SIGNATURE: u32 = u32::from_le_bytes(*b"PK\x03\x04");
const END_BYTES: usize = 22;
const END64_LOCATOR_BYTES: usize = 20;
/// A comment follows the end record; its length is 16 bits.
const MAX_COMMENT_BYTES: usize = u16::MAX as usize;
const ZIP64_EXTRA: u16 = 1;

/// One stored entry.
pub(super) struct ZipEntry<'a> {
    pub(super) name: &'a str,
    /// Where its bytes are in the archive.
    pub(super) range: Range<usize>,
}

/// All entries, in the order of the directory. Their bytes have been compared with their
/// checksums.
pub(super) fn entries(archive: &[u8]) -> Outcome<Vec<ZipEntry<'_>>> {
    let directory = Directory::find(archive)?;
    let mut cursor = Cursor::at(archive, directory.offset, "the archive's directory")?;
    // The count is only a claim; the loop ends with the bytes in any case.
    let mut entries = Vec::new();
    let mut used = 0;
    for _ in 0..directory.count {
        let entry = entry(archive, &mut cursor)?;
        used += entry.range.len();
        // Otherwise many entries over the same bytes could keep the checksums busy for hours.
        if used > archive.len() {
            return Err(corrupt(format!(
                "the archive's entries overlap, the last one `{}`",
                entry.name
            )));
        }
        entries.push(entry);
    }
    Ok(entries)
}

struct Directory {
    count: u64,
    offset: u64,
}

impl Directory {
    fn find(archive: &[u8]) -> Outcome<Self> {
        let first = archive.len().saturating_sub(END_BYTES + MAX_COMMENT_BYTES);
        let tail = archive.get(first..).unwrap_or_default();
        let end = tail
            .windows(END_SIGNATURE.len())
            .rposition(|window| window == END_SIGNATURE)
            .map(|at| first + at)
            .ok_or_else(|| CheckpointProblem::Truncated {
                what: "the zip archive's directory, which stands at the end of the file".to_owned(),
                needed: END_BYTES as u64,
                present: 0,
            })?;
        let mut cursor = Cursor::at(archive, end as u64, "the end of the archive's directory")?;
        // Signature, this disk, disk of the directory, entries on this disk.
        cursor.take(10)?;
        let count = cursor.u16()?;
        let _size = cursor.u32()?;
        let offset = cursor.u32()?;
        if count == u16::MAX || offset == u32::MAX {
            return Self::find64(archive, end);
        }
        Ok(Self {
            count: u64::from(count),
            offset: u64::from(offset),
        })
    }

    fn find64(archive: &[u8], end: usize) -> Outcome<Self> {
        let what = "the archive's 64-bit directory";
        let locator = end
            .checked_sub(END64_LOCATOR_BYTES)
            .ok_or_else(|| corrupt(format!("{what} is not there")))?;
        let mut cursor = Cursor::at(archive, locator as u64, what)?;
        expect(cursor.u32()?, END64_LOCATOR_SIGNATURE, what)?;
        let _disk = cursor.u32()?;
        let mut cursor = Cursor::at(archive, cursor.u64()?, what)?;
        expect(cursor.u32()?, END64_SIGNATURE, what)?;
        // Size of the record, versions, disks, entries on this disk.
        cursor.take(8 + 4 + 8 + 8)?;
        let count = cursor.u64()?;
        let _size = cursor.u64()?;
        let offset = cursor.u64()?;
        Ok(Self { count, offset })
    }
}

fn expect(found: u32, wanted: u32, what: &str) -> Outcome<()> {
    if found == wanted {
        return Ok(());
    }
    Err(corrupt(format!(
        "{what} begins with {found:#010x} instead of {wanted:#010x}"
    )))
}

fn entry<'a>(archive: &'a [u8], directory: &mut Cursor<'a>) -> Outcome<ZipEntry<'a>> {
    expect(
        directory.u32()?,
        ENTRY_SIGNATURE,
        "an entry of the archive's directory",
    )?;
    // Versions, flags.
    directory.take(6)?;
    let method = directory.u16()?;
    let _time = directory.u32()?;
    let checksum = directory.u32()?;
    let mut packed = u64::from(directory.u32()?);
    let mut size = u64::from(directory.u32()?);
    let [name, extra, comment] = [directory.u16()?, directory.u16()?, directory.u16()?];
    // Disk, attributes.
    directory.take(8)?;
    let mut offset = u64::from(directory.u32()?);
    let name = std::str::from_utf8(directory.take(u64::from(name))?)
        .map_err(|_| corrupt("the name of an entry of the archive is not text"))?;
    let extra = directory.take(u64::from(extra))?;
    directory.take(u64::from(comment))?;
    widen(extra, [&mut size, &mut packed, &mut offset])?;
    if method != 0 || packed != size {
        return Err(CheckpointProblem::Unsupported {
            found: format!("the archive's entry `{name}` is compressed (method {method})"),
            advice: "PyTorch stores them as they are: save the file again with torch.save",
        });
    }
    let range = stored(archive, offset, size, name)?;
    check(archive, &range, checksum, name)?;
    Ok(ZipEntry { name, range })
}

/// Replaces every value that did not fit 32 bits by its 64-bit one, which the extra field holds in
/// this order.
fn widen(extra: &[u8], values: [&mut u64; 3]) -> Outcome<()> {
    let mut fields = Cursor::new(extra, "an extra field of the archive's directory");
    while fields.remaining() >= 4 {
        let kind = fields.u16()?;
        let length = fields.u16()?;
        let field = fields.take(u64::from(length))?;
        if kind == ZIP64_EXTRA {
            let mut field = Cursor::new(field, "a 64-bit size of the archive's directory");
            for value in values {
                if *value == u64::from(u32::MAX) {
                    *value = field.u64()?;
                }
            }
            return Ok(());
        }
    }
    Ok(())
}

/// Where the bytes of an entry are: after its local header, whose lengths may differ from the
/// directory's (PyTorch pads there).
fn stored(archive: &[u8], offset: u64, size: u64, name: &str) -> Outcome<Range<usize>> {
    let mut local = Cursor::at(archive, offset, "an entry of the archive")?;
    expect(local.u32()?, LOCAL_SIGNATURE, "an entry of the archive")?;
    local.take(22)?;
    let [name_bytes, extra_bytes] = [local.u16()?, local.u16()?];
    local.take(u64::from(name_bytes) + u64::from(extra_bytes))?;
    let start = local.position();
    let present = local.remaining() as u64;
    local.take(size).map_err(|_| CheckpointProblem::Truncated {
        what: format!("the archive's entry `{name}`"),
        needed: size,
        present,
    })?;
    Ok(start..local.position())
}

fn check(archive: &[u8], range: &Range<usize>, checksum: u32, name: &str) -> Outcome<()> {
    // Zero is what PyTorch writes when it is told to compute no checksums.
    if checksum == 0 {
        return Ok(());
    }
    let found = crc32fast::hash(archive.get(range.clone()).unwrap_or_default());
    if found == checksum {
        return Ok(());
    }
    Err(corrupt(format!(
        "the archive's entry `{name}` has checksum {found:#010x} instead of {checksum:#010x}"
    )))
}
