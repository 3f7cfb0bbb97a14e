//! Burn's records: what `module.save_file(..)` and `ModuleRecord::into_bytes` write.

use super::DType;
use super::error::{CheckpointProblem, Outcome, corrupt};
use super::tensor::{Buffer, Layout, StoredTensor};
use burn_pack::{Bytes, MAGIC_NUMBER, Reader, Tensor};
use std::collections::BTreeMap;

type Contents = (Vec<(String, StoredTensor)>, BTreeMap<String, String>);

pub(super) fn is_burnpack(file: &[u8]) -> bool {
    file.starts_with(&MAGIC_NUMBER.to_le_bytes())
}

pub(super) fn read(file: Vec<u8>) -> Outcome<Contents> {
    let length = file.len();
    // The reader checks every length against the file's; its messages name what does not fit.
    let refused =
        |error: burn_pack::Error| corrupt(format!("it is not a sound Burn record ({error})"));
    let reader = Reader::from_bytes(Bytes::from_bytes_vec(file)).map_err(refused)?;
    let metadata = reader.metadata().clone();
    let tensors = reader.into_tensors().map_err(refused)?;
    let stored = tensors.into_iter().map(|tensor| {
        let name = tensor.name.clone();
        match stored(tensor, length) {
            Ok(stored) => Ok((name, stored)),
            Err(reason) => Err(CheckpointProblem::Tensor {
                tensor: name,
                reason,
            }),
        }
    });
    Ok((stored.collect::<Outcome<_>>()?, metadata))
}

fn stored(tensor: Tensor, file_bytes: usize) -> Result<StoredTensor, String> {
    let dtype = dtype(tensor.dtype);
    let shape = tensor.shape.to_vec();
    let bytes = tensor.into_bytes().map_err(|error| error.to_string())?;
    let layout = Layout::row_major(shape).ok_or("has a shape that no machine can hold")?;
    StoredTensor::new(layout, dtype, Buffer::Pack(bytes), file_bytes)
}

fn dtype(dtype: burn_pack::DType) -> DType {
    use burn_pack::DType as Burn;
    match dtype {
        Burn::F64 => DType::F64,
        // Flex32 is stored as f32; the name allows the device to compute with less.
        Burn::F32 | Burn::Flex32 => DType::F32,
        Burn::F16 => DType::F16,
        Burn::BF16 => DType::BF16,
        Burn::I64 => DType::I64,
        Burn::I32 => DType::I32,
        Burn::I16 => DType::I16,
        Burn::I8 => DType::I8,
        Burn::U64 => DType::U64,
        Burn::U32 => DType::U32,
        Burn::U16 => DType::U16,
        Burn::U8 => DType::U8,
        // Some devices keep a truth value in four bytes.
        Burn::Bool(_) if dtype.size() == 4 => DType::U32,
        Burn::Bool(_) => DType::Bool,
        Burn::QFloat(_) => DType::Quantised,
    }
}
