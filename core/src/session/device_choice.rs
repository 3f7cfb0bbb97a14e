//! Which device computes.

use super::SettingsError;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// What computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// A GPU if there is one, else the CPU; never a software adapter.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The adapter that the system prefers, a software one if there is no other.
    Gpu,
    /// The adapter of this number: discrete GPUs come first, then integrated, virtual and software ones.
    NthGpu(usize),
}

impl FromStr for DeviceChoice {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let number = |digits: &str| digits.parse().ok().map(Self::NthGpu);
        match text {
            "auto" => Some(Self::Auto),
            "cpu" => Some(Self::Cpu),
            "gpu" => Some(Self::Gpu),
            _ => text.strip_prefix("gpu:").and_then(number),
        }
        .ok_or_else(|| {
            SettingsError::new(format!(
                "no device is called \"{text}\"; there are auto, cpu, gpu and gpu:N"
            ))
        })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Gpu => f.write_str("gpu"),
            Self::NthGpu(number) => write!(f, "gpu:{number}"),
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = SettingsError;

    fn try_from(text: String) -> Result<Self, SettingsError> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> Self {
        choice.to_string()
    }
}
