//! How much memory there is.

use super::host;
use crate::ops::Hardware;

/// What bounds a training step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// For everything together, if known.
    pub(super) bytes: Option<u64>,
    /// For one tensor, if it is bounded.
    pub(super) tensor: Option<u64>,
}

impl Budget {
    /// What was given, or else what the host has left beside the network, whose `parameters` are in memory
    /// already. Nobody tells how much memory a GPU has.
    pub(super) fn new(given: Option<u64>, hardware: Hardware, parameters: u64) -> Self {
        let of_host = || match hardware.in_host_memory {
            true => host::available().map(|bytes| bytes.saturating_add(parameters)),
            false => None,
        };
        Self {
            bytes: given.or_else(of_host),
            tensor: hardware.tensor_limit,
        }
    }

    /// Whether so much fits; `None` if nothing is known.
    pub(super) fn fits(&self, total: u64, largest_tensor: u64) -> Option<bool> {
        let too_large = |limit: Option<u64>, bytes| limit.is_some_and(|limit| bytes > limit);
        if too_large(self.bytes, total) || too_large(self.tensor, largest_tensor) {
            return Some(false);
        }
        self.bytes.map(|_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_bounds_single_tensors_only() {
        let gpu = Hardware {
            cpu: false,
            in_host_memory: false,
            software_adapter: false,
            tensor_limit: Some(100),
        };
        let unknown = Budget::new(None, gpu, 5);
        assert_eq!(unknown.fits(1 << 40, 100), None);
        assert_eq!(unknown.fits(200, 101), Some(false));
        let given = Budget::new(Some(200), gpu, 5);
        assert_eq!(given.fits(200, 100), Some(true));
        assert_eq!(given.fits(201, 100), Some(false));
    }
}
