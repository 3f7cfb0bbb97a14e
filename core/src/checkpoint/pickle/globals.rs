//! The Python names a pickle may mention.

use crate::checkpoint::DType;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::checkpoint) enum Global {
    /// `OrderedDict` and its like.
    Dict,
    /// `_rebuild_tensor` and `_rebuild_tensor_v2`: (storage, offset, sizes, strides, ..).
    RebuildTensor,
    /// `_rebuild_tensor_v3`: the same with the type of the elements as argument 6.
    RebuildTensorV3,
    /// `_rebuild_parameter`: its first argument.
    RebuildParameter,
    /// `_rebuild_from_type_v2`: (function, type, arguments, state).
    RebuildFromType,
    /// The class of a storage.
    Storage(DType),
    /// `torch.float32` and its like.
    DType(DType),
    /// Found beside weights; its calls give an opaque value.
    Harmless,
}

/// What `module.name` stands for; `None` if it has no business in a file of weights.
pub(super) fn global(module: &str, name: &str) -> Option<Global> {
    match (module, name) {
        ("collections", "OrderedDict" | "defaultdict") => Some(Global::Dict),
        ("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2") => Some(Global::RebuildTensor),
        ("torch._utils", "_rebuild_tensor_v3") => Some(Global::RebuildTensorV3),
        ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state") => {
            Some(Global::RebuildParameter)
        }
        ("torch._tensor", "_rebuild_from_type_v2") => Some(Global::RebuildFromType),
        ("torch.storage", "UntypedStorage") => Some(Global::Storage(DType::U8)),
        ("torch", _) => torch(name),
        _ => is_harmless(module, name).then_some(Global::Harmless),
    }
}

fn torch(name: &str) -> Option<Global> {
    let storage = |dtype| Some(Global::Storage(dtype));
    let dtype = |dtype| Some(Global::DType(dtype));
    match name {
        "DoubleStorage" => storage(DType::F64),
        "FloatStorage" => storage(DType::F32),
        "HalfStorage" => storage(DType::F16),
        "BFloat16Storage" => storage(DType::BF16),
        "LongStorage" => storage(DType::I64),
        "IntStorage" => storage(DType::I32),
        "ShortStorage" => storage(DType::I16),
        "CharStorage" => storage(DType::I8),
        "ByteStorage" => storage(DType::U8),
        "BoolStorage" => storage(DType::Bool),
        "float64" | "double" => dtype(DType::F64),
        "float32" | "float" => dtype(DType::F32),
        "float16" | "half" => dtype(DType::F16),
        "bfloat16" => dtype(DType::BF16),
        "int64" | "long" => dtype(DType::I64),
        "int32" | "int" => dtype(DType::I32),
        "int16" | "short" => dtype(DType::I16),
        "int8" => dtype(DType::I8),
        "uint64" => dtype(DType::U64),
        "uint32" => dtype(DType::U32),
        "uint16" => dtype(DType::U16),
        "uint8" => dtype(DType::U8),
        "bool" => dtype(DType::Bool),
        "float8_e4m3fn" | "float8_e5m2" => dtype(DType::Minifloat),
        "Size" | "device" | "Tensor" => Some(Global::Harmless),
        _ => None,
    }
}

/// Names that training scripts leave beside the weights: settings, scores, paths. None of them is
/// ever called, so this list is not what keeps a reader safe; it keeps honest files readable while
/// anything unexpected is named and refused.
fn is_harmless(module: &str, name: &str) -> bool {
    matches!(
        (module, name),
        ("argparse", "Namespace")
            | ("types", "SimpleNamespace")
            | ("collections", "Counter" | "deque")
            | ("datetime", "datetime" | "date" | "timedelta")
            | (
                "pathlib" | "pathlib._local",
                "PosixPath" | "WindowsPath" | "PurePosixPath"
            )
            | ("numpy", "dtype" | "ndarray")
            | (
                "numpy.core.multiarray" | "numpy._core.multiarray",
                "scalar" | "_reconstruct"
            )
            | ("_codecs", "encode")
            | (
                "builtins" | "__builtin__",
                "set"
                    | "frozenset"
                    | "list"
                    | "dict"
                    | "int"
                    | "float"
                    | "bool"
                    | "str"
                    | "complex"
            )
            | ("torch.nn.parameter", "Parameter" | "Buffer")
            | ("torch.serialization", "_get_layout")
    )
}
