//! Types of elements.

use std::fmt;

/// Type of the elements as the file stores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DType {
    /// A float of 64 bits.
    F64,
    /// A float of 32 bits.
    F32,
    /// An IEEE float of 16 bits.
    F16,
    /// The upper half of an `F32`.
    BF16,
    /// An integer of 64 bits.
    I64,
    /// An integer of 32 bits.
    I32,
    /// An integer of 16 bits.
    I16,
    /// An integer of 8 bits.
    I8,
    /// A natural number of 64 bits.
    U64,
    /// A natural number of 32 bits.
    U32,
    /// A natural number of 16 bits.
    U16,
    /// A natural number of 8 bits.
    U8,
    /// True or false, a byte each.
    Bool,
    /// A float of eight bits or fewer. It is listed and not converted, as are the next two.
    Minifloat,
    /// A complex number of any size.
    Complex,
    /// A quantised number of any kind.
    Quantised,
}

impl DType {
    /// Bytes of one element; `None` for the types that are not converted.
    pub fn bytes(self) -> Option<usize> {
        match self {
            Self::F64 | Self::I64 | Self::U64 => Some(8),
            Self::F32 | Self::I32 | Self::U32 => Some(4),
            Self::F16 | Self::BF16 | Self::I16 | Self::U16 => Some(2),
            Self::I8 | Self::U8 | Self::Bool => Some(1),
            Self::Minifloat | Self::Complex | Self::Quantised => None,
        }
    }
}

/// As NumPy and PyTorch spell it.
impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F64 => "float64",
            Self::F32 => "float32",
            Self::F16 => "float16",
            Self::BF16 => "bfloat16",
            Self::I64 => "int64",
            Self::I32 => "int32",
            Self::I16 => "int16",
            Self::I8 => "int8",
            Self::U64 => "uint64",
            Self::U32 => "uint32",
            Self::U16 => "uint16",
            Self::U8 => "uint8",
            Self::Bool => "bool",
            Self::Minifloat => "float8 or smaller",
            Self::Complex => "complex",
            Self::Quantised => "quantised",
        })
    }
}
