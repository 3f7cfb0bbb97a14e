//! The instructions.

use super::globals::global;
use super::value::{Pickle, Value};
use crate::checkpoint::cursor::Cursor;
use crate::checkpoint::error::{CheckpointProblem, Outcome, corrupt};

/// Weights are kept outside the pickle, which only describes them in about a hundred bytes each.
pub(in crate::checkpoint) const MAX_PICKLE_BYTES: usize = 32 << 20;

/// Reads the pickle that `bytes` begins with.
pub(in crate::checkpoint) fn read(bytes: &[u8]) -> Outcome<Pickle<'_>> {
    let whole = bytes.len();
    let bytes = &bytes[..bytes.len().min(MAX_PICKLE_BYTES)];
    let mut machine = Machine {
        cursor: Cursor::new(bytes, "its pickle"),
        pickle: Pickle::new(bytes),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Vec::new(),
    };
    while machine
        .step()
        .map_err(|problem| past_limit(problem, whole))?
    {}
    let mut pickle = machine.pickle;
    pickle.length = machine.cursor.position();
    Ok(pickle)
}

/// A pickle that ends at our limit has not been cut short by anyone else.
fn past_limit(problem: CheckpointProblem, bytes: usize) -> CheckpointProblem {
    match problem {
        CheckpointProblem::Truncated { .. } if bytes > MAX_PICKLE_BYTES => too_large(bytes),
        problem => problem,
    }
}

pub(in crate::checkpoint) fn too_large(bytes: usize) -> CheckpointProblem {
    CheckpointProblem::TooLarge {
        what: "its pickle",
        bytes: bytes as u64,
        limit: MAX_PICKLE_BYTES as u64,
        advice: "save the weights alone: torch.save(model.state_dict(), ..)",
    }
}

pub(super) struct Machine<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) pickle: Pickle<'a>,
    stack: Vec<Value>,
    /// Heights of the stack at the marks that have not been used yet.
    marks: Vec<u32>,
    memo: Vec<Value>,
}

impl<'a> Machine<'a> {
    /// One instruction; false after the last. Named as in Python's `pickle.py`.
    fn step(&mut self) -> Outcome<bool> {
        let start = self.cursor.position();
        match self.cursor.u8()? {
            // PROTO, FRAME
            0x80 => _ = self.cursor.u8()?,
            0x95 => _ = self.cursor.u64()?,
            // STOP
            b'.' => {
                self.pickle.root = self.pop()?;
                return Ok(false);
            }
            opcode @ (b'(' | b'0' | b'1' | b'2') => self.stack_instruction(opcode)?,
            opcode @ (b'q' | b'r' | 0x94 | b'h' | b'j') => self.memo_instruction(opcode)?,
            opcode @ (b'c' | 0x93 | b'R' | 0x81 | 0x92 | b'b' | b'Q') => {
                self.object_instruction(opcode)?;
            }
            opcode @ (b')' | b't' | 0x85..=0x87 | b']' | b'l' | b'}' | b'd' | 0x8f | 0x91) => {
                self.new_container(opcode)?;
            }
            opcode @ (b'a' | b'e' | b's' | b'u' | 0x90) => self.fill_container(opcode)?,
            opcode => {
                let value = self.literal(opcode, start)?;
                self.stack.push(value);
            }
        }
        Ok(true)
    }

    fn stack_instruction(&mut self, opcode: u8) -> Outcome<()> {
        match opcode {
            // MARK
            b'(' => self.marks.push(self.stack.len() as u32),
            // POP
            b'0' => _ = self.pop()?,
            // POP_MARK
            b'1' => {
                let mark = self.mark()?;
                self.stack.truncate(mark);
            }
            // DUP
            _ => {
                let top = self.pop()?;
                self.stack.extend([top, top]);
            }
        }
        Ok(())
    }

    fn memo_instruction(&mut self, opcode: u8) -> Outcome<()> {
        let index = match opcode {
            b'q' | b'h' => self.cursor.u8()?.into(),
            b'r' | b'j' => self.cursor.u32()? as usize,
            _ => self.memo.len(),
        };
        if matches!(opcode, b'h' | b'j') {
            let value = self.memo.get(index).copied();
            let value = value.ok_or_else(|| corrupt("its pickle recalls a value it never kept"))?;
            self.stack.push(value);
            return Ok(());
        }
        let value = self.pop()?;
        self.stack.push(value);
        // Every value that is kept took an instruction of its own.
        if index > self.cursor.position() {
            return Err(corrupt(format!(
                "its pickle keeps a value as number {index}"
            )));
        }
        if index >= self.memo.len() {
            self.memo.resize(index + 1, Value::Opaque);
        }
        self.memo[index] = value;
        Ok(())
    }

    fn object_instruction(&mut self, opcode: u8) -> Outcome<()> {
        let value = match opcode {
            // GLOBAL
            b'c' => {
                let module = self.cursor.line()?;
                let name = self.cursor.line()?;
                allowed(module, name)?
            }
            // STACK_GLOBAL
            0x93 => {
                let [module, name] = self.pop_array()?;
                match (module, name) {
                    (Value::Text(module), Value::Text(name)) => {
                        allowed(self.pickle.raw(module), self.pickle.raw(name))?
                    }
                    _ => return Err(corrupt("its pickle asks for a name that is not text")),
                }
            }
            // REDUCE and NEWOBJ: a function or class and its arguments
            b'R' | 0x81 => {
                let [function, arguments] = self.pop_array()?;
                self.pickle.call(function, arguments)?
            }
            // NEWOBJ_EX
            0x92 => {
                let [class, arguments, _] = self.pop_array()?;
                self.pickle.call(class, arguments)?
            }
            // BUILD: attributes of an object, such as the version numbers of a state dict
            b'b' => {
                let [object, _] = self.pop_array()?;
                object
            }
            // BINPERSID
            _ => {
                let id = self.pop()?;
                self.pickle.new_storage(id)?
            }
        };
        self.stack.push(value);
        Ok(())
    }

    fn new_container(&mut self, opcode: u8) -> Outcome<()> {
        let count = match opcode {
            // EMPTY_TUPLE, EMPTY_LIST, EMPTY_DICT, EMPTY_SET
            b')' | b']' | b'}' | 0x8f => 0,
            // TUPLE1 .. TUPLE3
            0x85..=0x87 => usize::from(opcode - 0x84),
            // TUPLE, LIST, DICT, FROZENSET: everything above the mark
            _ => self.stack.len() - self.mark()?,
        };
        let first = self.stack.len().checked_sub(count).ok_or_else(underflow)?;
        let items = &self.stack[first..];
        let value = match opcode {
            b')' | b't' | 0x85..=0x87 => self.pickle.add_tuple(items)?,
            b']' | b'l' => self.pickle.add_list(items.to_vec())?,
            b'}' | b'd' => self.pickle.add_dict(pairs(items)?)?,
            _ => Value::Opaque,
        };
        self.stack.truncate(first);
        self.stack.push(value);
        Ok(())
    }

    fn fill_container(&mut self, opcode: u8) -> Outcome<()> {
        let first = match opcode {
            // APPEND, SETITEM
            b'a' => self.stack.len().checked_sub(1),
            b's' => self.stack.len().checked_sub(2),
            // APPENDS, SETITEMS, ADDITEMS: everything above the mark
            _ => Some(self.mark()?),
        };
        let first = first.ok_or_else(underflow)?;
        let container = first.checked_sub(1).and_then(|at| self.stack.get(at));
        let items = &self.stack[first..];
        match (container.ok_or_else(underflow)?, opcode) {
            (Value::List(place), b'a' | b'e') => {
                if let Some(list) = self.pickle.lists.get_mut(*place as usize) {
                    list.extend_from_slice(items);
                }
            }
            (Value::Dict(place), b's' | b'u') => {
                let items = pairs(items)?;
                if let Some(dict) = self.pickle.dicts.get_mut(*place as usize) {
                    dict.extend(items);
                }
            }
            (Value::Opaque, _) => {}
            _ => {
                return Err(corrupt(
                    "its pickle puts values into something that holds none",
                ));
            }
        }
        self.stack.truncate(first);
        Ok(())
    }

    /// Height of the stack at the last mark, which is used up.
    fn mark(&mut self) -> Outcome<usize> {
        let mark = self.marks.pop().map(|mark| mark as usize);
        mark.filter(|&mark| mark <= self.stack.len())
            .ok_or_else(underflow)
    }

    fn pop(&mut self) -> Outcome<Value> {
        self.stack.pop().ok_or_else(underflow)
    }

    /// The last `N` values, the lowest first.
    fn pop_array<const N: usize>(&mut self) -> Outcome<[Value; N]> {
        let mut values = [Value::Opaque; N];
        for value in values.iter_mut().rev() {
            *value = self.pop()?;
        }
        Ok(values)
    }
}

fn underflow() -> CheckpointProblem {
    corrupt("its pickle takes a value where there is none")
}

fn pairs(items: &[Value]) -> Outcome<Vec<(Value, Value)>> {
    let (pairs, rest) = items.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(corrupt("a dictionary has a key without a value"));
    }
    Ok(pairs.iter().map(|&[key, value]| (key, value)).collect())
}

fn allowed(module: &[u8], name: &[u8]) -> Outcome<Value> {
    let [module, name] = [module, name].map(String::from_utf8_lossy);
    match global(&module, &name) {
        Some(global) => Ok(Value::Global(global)),
        None => Err(CheckpointProblem::ForbiddenGlobal {
            // Enough to recognise it by, however long the file makes it.
            global: format!("{module}.{name}").chars().take(200).collect(),
        }),
    }
}
