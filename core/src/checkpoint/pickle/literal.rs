//! Instructions that carry their value with them: numbers, text, bytes.

use super::machine::Machine;
use super::value::{Span, Value};
use crate::checkpoint::cursor::Cursor;
use crate::checkpoint::error::{CheckpointProblem, Outcome};

impl<'a> Machine<'a> {
    /// Values that stand in the pickle themselves.
    pub(super) fn literal(&mut self, opcode: u8, start: usize) -> Outcome<Value> {
        Ok(match opcode {
            b'N' => Value::Opaque,
            0x88 => Value::Bool(true),
            0x89 => Value::Bool(false),
            // BININT, BININT1, BININT2, LONG1
            b'J' => Value::Int(i64::from(i32::from_le_bytes(self.cursor.array()?))),
            b'K' => Value::Int(i64::from(self.cursor.u8()?)),
            b'M' => Value::Int(i64::from(self.cursor.u16()?)),
            0x8a => self.long()?,
            // BINFLOAT
            b'G' => self.skip(8)?,
            // BINUNICODE and BINSTRING (Python 2), each with its short and long forms
            b'X' | b'T' => self.text(u64::from, Cursor::u32)?,
            0x8c | b'U' => self.text(u64::from, Cursor::u8)?,
            0x8d => self.text(|length| length, Cursor::u64)?,
            // BINBYTES, BYTEARRAY8
            b'B' => self.bytes(u64::from, Cursor::u32)?,
            b'C' => self.bytes(u64::from, Cursor::u8)?,
            0x8e | 0x96 => self.bytes(|length| length, Cursor::u64)?,
            opcode => {
                return Err(CheckpointProblem::Unsupported {
                    found: format!("its pickle has instruction {opcode:#04x} at byte {start}"),
                    advice: "PyTorch does not write it in files of weights: save them with \
                             torch.save(model.state_dict(), ..) and its usual pickle protocol",
                });
            }
        })
    }

    fn skip(&mut self, length: u64) -> Outcome<Value> {
        self.cursor.take(length)?;
        Ok(Value::Opaque)
    }

    fn bytes<T>(
        &mut self,
        widen: fn(T) -> u64,
        read: fn(&mut Cursor<'a>) -> Outcome<T>,
    ) -> Outcome<Value> {
        let length = widen(read(&mut self.cursor)?);
        self.skip(length)
    }

    fn text<T>(
        &mut self,
        widen: fn(T) -> u64,
        read: fn(&mut Cursor<'a>) -> Outcome<T>,
    ) -> Outcome<Value> {
        let length = widen(read(&mut self.cursor)?);
        Ok(Value::Text(self.span(length)?))
    }

    /// The next bytes. The pickle is far shorter than 2^32 bytes, so both numbers fit.
    fn span(&mut self, length: u64) -> Outcome<Span> {
        let start = self.cursor.position() as u32;
        self.cursor.take(length)?;
        let length = length as u32;
        Ok(Span { start, length })
    }

    fn long(&mut self) -> Outcome<Value> {
        let length = u64::from(self.cursor.u8()?);
        let span = self.span(length)?;
        let bytes = self.pickle.raw(span);
        if bytes.len() > 8 {
            return Ok(Value::Long(span));
        }
        // Sign-extended from its last byte.
        let sign = bytes
            .last()
            .map_or(0, |&byte| if byte < 0x80 { 0 } else { 0xff });
        let mut wide = [sign; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        Ok(Value::Int(i64::from_le_bytes(wide)))
    }
}
