//! What the calls in a pickle stand for: dictionaries, tensors, storages. Each is recognised by name
//! and described; no code is looked up, let alone run.

use super::globals::Global;
use super::value::{Pickle, Span, StorageRef, TensorRef, Value};
use crate::checkpoint::DType;
use crate::checkpoint::error::{Outcome, corrupt};

impl Pickle<'_> {
    /// The value of `function(*arguments)`.
    pub(super) fn call(&mut self, function: Value, arguments: Value) -> Outcome<Value> {
        let function = match function {
            // `_rebuild_from_type_v2(function, type, arguments, state)`, unfolded once: it does not
            // nest in files that PyTorch writes.
            Value::Global(Global::RebuildFromType) => {
                let &[function, _, inner, ..] = self.arguments(arguments)? else {
                    return Err(corrupt("a tensor with attributes lacks its arguments"));
                };
                return match function {
                    Value::Global(Global::RebuildFromType) => {
                        Err(corrupt("a tensor with attributes contains itself"))
                    }
                    function => self.call(function, inner),
                };
            }
            Value::Global(function) => function,
            Value::Opaque => return Ok(Value::Opaque),
            _ => return Err(corrupt("its pickle calls something that is not a function")),
        };
        match function {
            Global::Dict => self.new_dict(arguments),
            Global::RebuildTensor => self.new_tensor(arguments, false),
            Global::RebuildTensorV3 => self.new_tensor(arguments, true),
            Global::RebuildParameter => match self.arguments(arguments)? {
                [tensor, ..] => Ok(*tensor),
                [] => Err(corrupt("a parameter has no tensor")),
            },
            _ => Ok(Value::Opaque),
        }
    }

    fn arguments(&self, arguments: Value) -> Outcome<&[Value]> {
        match arguments {
            Value::Tuple(span) => Ok(self.tuple(span)),
            _ => Err(corrupt(
                "the arguments of a call in its pickle are not a tuple",
            )),
        }
    }

    /// An ordered dictionary, empty or (Python 2) of a list of pairs.
    fn new_dict(&mut self, arguments: Value) -> Outcome<Value> {
        let pairs = match self.arguments(arguments)? {
            &[Value::List(pairs)] => self.list(pairs),
            _ => &[],
        };
        let pairs = pairs.iter().map(|pair| match *pair {
            Value::Tuple(pair) => self.tuple(pair),
            Value::List(pair) => self.list(pair),
            _ => &[],
        });
        let items = pairs.map(|pair| match pair {
            &[key, value] => Ok((key, value)),
            _ => Err(corrupt("an item of a dictionary is not a pair")),
        });
        let items = items.collect::<Outcome<Vec<_>>>()?;
        self.add_dict(items)
    }

    pub(super) fn add_dict(&mut self, items: Vec<(Value, Value)>) -> Outcome<Value> {
        let place = place(self.dicts.len())?;
        self.dicts.push(items);
        Ok(Value::Dict(place))
    }

    pub(super) fn add_list(&mut self, items: Vec<Value>) -> Outcome<Value> {
        let place = place(self.lists.len())?;
        self.lists.push(items);
        Ok(Value::List(place))
    }

    pub(super) fn add_tuple(&mut self, items: &[Value]) -> Outcome<Value> {
        let span = Span {
            start: place(self.tuples.len())?,
            length: place(items.len())?,
        };
        self.tuples.extend_from_slice(items);
        Ok(Value::Tuple(span))
    }

    fn new_tensor(&mut self, arguments: Value, with_dtype: bool) -> Outcome<Value> {
        let unclear =
            || corrupt("the description of a tensor is not (storage, offset, sizes, strides)");
        let arguments = self.arguments(arguments)?;
        let &[
            Value::Storage(storage),
            Value::Int(offset),
            Value::Tuple(shape),
            Value::Tuple(strides),
            ..,
        ] = arguments
        else {
            return Err(unclear());
        };
        let dtype = match (with_dtype, arguments.get(6)) {
            (false, _) => self.storage(storage).map(|storage| storage.dtype),
            (true, Some(Value::Global(Global::DType(dtype)))) => Some(*dtype),
            (true, _) => None,
        };
        let tensor = TensorRef {
            storage,
            dtype: dtype.ok_or_else(unclear)?,
            offset: u64::try_from(offset).map_err(|_| unclear())?,
            shape,
            strides,
        };
        let place = place(self.tensors.len())?;
        self.tensors.push(tensor);
        Ok(Value::Tensor(place))
    }

    /// A persistent id: ('storage', class, key, device, elements[, view]).
    pub(super) fn new_storage(&mut self, id: Value) -> Outcome<Value> {
        let unclear =
            || corrupt("the description of a storage is not (class, key, device, elements)");
        let id = self.arguments(id)?;
        let &[
            Value::Text(_),
            Value::Global(Global::Storage(dtype)),
            Value::Text(key),
            _,
            Value::Int(elements),
            ..,
        ] = id
        else {
            return Err(unclear());
        };
        // (key of the view, offset, elements of the view), in files of PyTorch before 0.4.
        let view_offset = match id.get(5) {
            Some(&Value::Tuple(view)) => match self.tuple(view) {
                [_, Value::Int(offset), _] => *offset,
                _ => return Err(unclear()),
            },
            _ => 0,
        };
        self.add_storage(key, dtype, [elements, view_offset])
            .ok_or_else(unclear)
    }

    fn add_storage(
        &mut self,
        key: Span,
        dtype: DType,
        [elements, view_offset]: [i64; 2],
    ) -> Option<Value> {
        let place = u32::try_from(self.storages.len()).ok()?;
        self.storages.push(StorageRef {
            key,
            dtype,
            elements: elements.try_into().ok()?,
            view_offset: view_offset.try_into().ok()?,
        });
        Some(Value::Storage(place))
    }
}

/// A place in one of the arrays. There are never more values than the pickle has bytes, and those
/// are bounded well below 2^32.
fn place(index: usize) -> Outcome<u32> {
    u32::try_from(index).map_err(|_| corrupt("its pickle holds too many values"))
}
