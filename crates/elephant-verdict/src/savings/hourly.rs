//! What an hour of a core, of memory or of an instance costs.

use super::estimate::{Amounts, Range};

/// What an hour costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Hourly {
    /// A core, and a GiB of memory. A resource without a price costs nothing.
    Resources { core: Option<f64>, gb: Option<f64> },
    /// An instance with its cores and its GiB of memory.
    Instance { price: f64, cores: f64, gb: f64 },
}

impl Hourly {
    /// Half of the price of an instance is for its cores, and half for its memory, so that costs add up. If only one of
    /// the two is known, it stands for both.
    pub(super) fn cost(self, amounts: &Amounts) -> Option<Range> {
        let (cores, memory) = (amounts.core_hours, amounts.gb_hours);
        match self {
            Self::Resources { core, gb } => {
                let core = core.map(|price| Some(cores?.times(price)));
                let gb = gb.map(|price| Some(memory?.times(price)));
                match (core, gb) {
                    (Some(core), Some(gb)) => Some(core?.plus(gb?)),
                    (one, other) => one.or(other)?,
                }
            }
            Self::Instance { price, cores: of_cores, gb } => {
                let (cores, memory) = (
                    cores.map(|held| held.times(price / of_cores)),
                    memory.map(|held| held.times(price / gb)),
                );
                match (cores, memory) {
                    (Some(cores), Some(memory)) => Some(cores.plus(memory).times(0.5)),
                    (one, other) => one.or(other),
                }
            }
        }
    }
}
