//! What a change would save: replays of an application, their error, and what they cost.
//!
//! [`Replays`] replays an application as it was, and predicts what it would have taken under a change. The error of a
//! prediction is the residual of the replay without a change, plus a share of the replayed time: what replays of known
//! pairs of runs were off by.
//!
//! [`shares()`] tells what the troubles of an application save. Savings overlap, so each trouble has its share of what all
//! save together: the mean of what it adds over all orders of removing them (the Shapley value).

mod bounds;
mod causes;
mod estimate;
mod game;
mod hourly;
mod loss;
mod mapreduce;
mod method;
mod players;
mod predict;
mod price_file;
mod prices;
mod removal;
mod replays;
mod shares;
mod sharing;
mod spark;
mod troubles;
mod why_unknown;

pub use estimate::{Amounts, Prediction, Range};
pub(crate) use loss::Loss;
pub(crate) use mapreduce::ChangeEffect;
pub use mapreduce::MapReduceReplays;
pub use method::Method;
pub(crate) use method::Source;
pub use predict::{Baseline, PathStage, Unknown, error_of_replay};
pub use prices::{PriceError, Prices};
pub use removal::{Cause, MemoryChange, Removal};
pub use replays::{Replays, ReplaysOnce};
pub use shares::shares;
pub use spark::{Resources, SparkReplays};
pub use troubles::{ApplicationSavings, SavingStatus, Savings, Sums, TroubleSavings};
pub use why_unknown::WhyUnknown;
