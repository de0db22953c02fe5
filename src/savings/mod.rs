//! What a change would save: replays of an application, their error, and what they cost.
//!
//! [`Replays`] replays an application as it was, and predicts what it would have taken under a change. The error of a
//! prediction is the residual of the replay without a change, plus a share of the replayed time: what replays of known
//! pairs of runs were off by.

mod estimate;
mod mapreduce;
mod predict;
mod replays;
mod spark;

pub use estimate::{Amounts, Prediction, Range};
pub(crate) use mapreduce::MapReduceReplays;
pub(crate) use predict::{Baseline, PathStage, Unknown};
pub(crate) use replays::Replays;
pub(crate) use spark::{Resources, SparkReplays};
