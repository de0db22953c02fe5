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

pub use estimate::{Amounts, Prediction, Range};
pub(crate) use loss::Loss;
pub(crate) use mapreduce::{Gain, MapReduceReplays};
pub(crate) use predict::{Baseline, PathStage, Unknown, error_of_replay};
pub(crate) use prices::{PriceError, Prices};
pub(crate) use removal::{Cause, MemoryChange, Removal};
pub(crate) use replays::{Replays, ReplaysOnce};
pub(crate) use shares::shares;
pub(crate) use spark::{Resources, SparkReplays};
pub(crate) use troubles::{ApplicationSavings, SavingStatus, Savings, Sums, TroubleSavings};
