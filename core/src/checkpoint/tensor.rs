//! One tensor of a checkpoint: where its bytes are, and how they become numbers.

use super::DType;
use burn_pack::Bytes;
use half::{bf16, f16};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that several tensors may share with the whole file: nothing is copied on opening.
#[derive(Clone)]
pub(super) enum Buffer {
    File {
        file: Arc<Vec<u8>>,
        range: Range<usize>,
    },
    Pack(Bytes),
}

impl Buffer {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::File { file, range } => file.get(range.clone()).unwrap_or_default(),
            Self::Pack(bytes) => bytes,
        }
    }
}

/// How the elements lie in their buffer, in units of elements.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
    pub(super) offset: usize,
}

impl Layout {
    /// Row-major from the start of the buffer; `None` if there are more elements than can be counted.
    pub(super) fn row_major(shape: Vec<usize>) -> Option<Self> {
        let mut strides = vec![1; shape.len()];
        let mut step = 1usize;
        for (stride, &size) in strides.iter_mut().zip(&shape).rev() {
            *stride = step;
            // An axis of no elements has no steps either.
            step = step.checked_mul(size.max(1))?;
        }
        Some(Self {
            shape,
            strides,
            offset: 0,
        })
    }

    /// Number of elements.
    pub(super) fn elements(&self) -> Option<usize> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        self.shape
            .iter()
            .try_fold(1usize, |count, &size| count.checked_mul(size))
    }

    /// One past the last element that is read.
    fn end(&self) -> Option<usize> {
        let mut steps = self.shape.iter().zip(&self.strides);
        let last = steps.try_fold(self.offset, |end, (&size, &stride)| {
            end.checked_add(size.checked_sub(1)?.checked_mul(stride)?)
        })?;
        last.checked_add(1)
    }

    fn is_row_major(&self) -> bool {
        let mut step = 1;
        let mut axes = self.shape.iter().zip(&self.strides).rev();
        axes.all(|(&size, &stride)| {
            let fits = size == 1 || stride == step;
            step *= size;
            fits
        })
    }
}

/// A tensor in a checkpoint. Its values stay in the file's bytes until they are asked for.
#[derive(Clone)]
pub struct StoredTensor {
    layout: Layout,
    elements: usize,
    dtype: DType,
    buffer: Buffer,
}

impl fmt::Debug for StoredTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.dtype, self.layout.shape)
    }
}

impl StoredTensor {
    /// `file_bytes` bounds what a tensor may unfold to: a view with stride zero can claim any number
    /// of elements over four bytes.
    ///
    /// The error completes a sentence that begins with the tensor's name.
    pub(super) fn new(
        layout: Layout,
        dtype: DType,
        buffer: Buffer,
        file_bytes: usize,
    ) -> Result<Self, String> {
        let shape = &layout.shape;
        let too_many = || {
            format!(
                "has shape {shape:?}, which is more elements than its file has bytes ({file_bytes}); \
                 an expanded view is saved whole after `.contiguous()`, otherwise the file is damaged"
            )
        };
        let elements = layout.elements().ok_or_else(too_many)?;
        if elements > file_bytes {
            return Err(too_many());
        }
        if let Some(bytes) = dtype.bytes()
            && elements > 0
        {
            let present = buffer.bytes().len();
            let needed = layout.end().and_then(|end| end.checked_mul(bytes));
            if needed.is_none_or(|needed| needed > present) {
                return Err(format!(
                    "has shape {shape:?}, strides {:?} and offset {} of {dtype}, which reaches past the {present} \
                     bytes stored for it: the file is cut short or altered; fetch it again",
                    layout.strides, layout.offset
                ));
            }
        }
        Ok(Self {
            layout,
            elements,
            dtype,
            buffer,
        })
    }

    /// Sizes of the axes, outermost first; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Type of the elements in the file.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The values in row-major order, rounded to f32; `None` for the types that are not converted.
    pub(super) fn to_f32(&self) -> Option<Vec<f32>> {
        Some(match self.dtype {
            DType::F64 => self.gather(|bytes| f64::from_le_bytes(bytes) as f32),
            DType::F32 => self.gather(f32::from_le_bytes),
            DType::F16 => self.gather(|bytes| f16::from_le_bytes(bytes).to_f32()),
            DType::BF16 => self.gather(|bytes| bf16::from_le_bytes(bytes).to_f32()),
            DType::I64 => self.gather(|bytes| i64::from_le_bytes(bytes) as f32),
            DType::I32 => self.gather(|bytes| i32::from_le_bytes(bytes) as f32),
            DType::I16 => self.gather(|bytes| f32::from(i16::from_le_bytes(bytes))),
            DType::I8 => self.gather(|bytes| f32::from(i8::from_le_bytes(bytes))),
            DType::U64 => self.gather(|bytes| u64::from_le_bytes(bytes) as f32),
            DType::U32 => self.gather(|bytes| u32::from_le_bytes(bytes) as f32),
            DType::U16 => self.gather(|bytes| f32::from(u16::from_le_bytes(bytes))),
            DType::U8 => self.gather(|[byte]: [u8; 1]| f32::from(byte)),
            DType::Bool => self.gather(|[byte]: [u8; 1]| f32::from(byte != 0)),
            DType::Minifloat | DType::Complex | DType::Quantised => return None,
        })
    }

    fn gather<const N: usize>(&self, read: impl Fn([u8; N]) -> f32) -> Vec<f32> {
        let (words, _) = self.buffer.bytes().as_chunks::<N>();
        let Layout {
            shape,
            strides,
            offset,
        } = &self.layout;
        if self.elements == 0 {
            return Vec::new();
        }
        if self.layout.is_row_major() {
            let words = &words[*offset..offset + self.elements];
            return words.iter().map(|&word| read(word)).collect();
        }
        let mut values = Vec::with_capacity(self.elements);
        let mut index = vec![0; shape.len()];
        let mut at = *offset;
        while values.len() < self.elements {
            values.push(read(words[at]));
            // The next index, as an odometer counts.
            for axis in (0..shape.len()).rev() {
                index[axis] += 1;
                at += strides[axis];
                if index[axis] < shape[axis] {
                    break;
                }
                at -= index[axis] * strides[axis];
                index[axis] = 0;
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(layout: Layout, dtype: DType, bytes: Vec<u8>) -> Result<StoredTensor, String> {
        let file = Arc::new(bytes);
        let range = 0..file.len();
        let length = file.len();
        StoredTensor::new(layout, dtype, Buffer::File { file, range }, length)
    }

    fn view(shape: &[usize], strides: &[usize], offset: usize) -> Layout {
        Layout {
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            offset,
        }
    }

    fn row_major(shape: &[usize]) -> Layout {
        Layout::row_major(shape.to_vec()).unwrap()
    }

    #[test]
    fn a_transposed_view_is_gathered_in_row_major_order() {
        let tensor = stored(view(&[2, 3], &[1, 2], 1), DType::U8, (0..8).collect()).unwrap();
        assert_eq!(tensor.to_f32().unwrap(), [1., 3., 5., 2., 4., 6.]);
    }

    #[test]
    fn every_float_type_becomes_f32() {
        let value = -1.5f32;
        let cases = [
            (DType::F64, f64::from(value).to_le_bytes().to_vec()),
            (DType::F32, value.to_le_bytes().to_vec()),
            (DType::F16, f16::from_f32(value).to_le_bytes().to_vec()),
            (DType::BF16, bf16::from_f32(value).to_le_bytes().to_vec()),
            (DType::I64, (-7i64).to_le_bytes().to_vec()),
        ];
        for (dtype, bytes) in cases {
            let expected = if dtype == DType::I64 { -7. } else { value };
            let tensor = stored(row_major(&[]), dtype, bytes).unwrap();
            assert_eq!(tensor.to_f32().unwrap(), [expected], "{dtype}");
        }
    }

    #[test]
    fn views_past_their_bytes_are_refused() {
        let bytes = || vec![0; 24];
        assert!(stored(view(&[2, 3], &[3, 1], 0), DType::F32, bytes()).is_ok());
        assert!(stored(view(&[2, 3], &[3, 1], 1), DType::F32, bytes()).is_err());
        assert!(stored(view(&[2, 3], &[usize::MAX, 1], 0), DType::F32, bytes()).is_err());
        assert!(stored(view(&[1 << 40], &[0], 0), DType::F32, bytes()).is_err());
        assert!(stored(view(&[0, usize::MAX], &[1, 1], 9), DType::F32, bytes()).is_ok());
    }
}
