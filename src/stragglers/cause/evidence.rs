//! What speaks for a cause: a typed value with the limit that it was held against.

use std::fmt;

use super::components::Component;
use super::counterfactual::Without;
use super::faults::FaultKind;
use super::node_test::SlowNode;
use super::{Cause, Confidence};
use crate::model::table::Locality;
use crate::node_metrics::NodeMetric;
use crate::stragglers::executions::InputUnit;
use crate::units::{Bytes, Millis};

/// Something that speaks for a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The cause that it speaks for.
    pub cause: Cause,
    /// How much it says.
    pub confidence: Confidence,
    /// What was found.
    pub fact: Fact,
}

/// A value with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// A span of time.
    Time(Millis),
    /// How many times something else it is.
    Ratio(f64),
    /// Hundredths.
    Percent(f64),
    /// A number of things.
    Count(u64),
    /// The chance of something.
    Probability(f64),
}

impl Measure {
    /// The ending of the value's key in reports.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Time(_) => "ms",
            Self::Ratio(_) => "ratio",
            Self::Percent(_) => "percent",
            Self::Count(_) => "count",
            Self::Probability(_) => "probability",
        }
    }

    /// The value in that unit.
    #[must_use]
    pub const fn value(self) -> f64 {
        match self {
            Self::Time(span) => span.as_f64(),
            Self::Ratio(value) | Self::Percent(value) | Self::Probability(value) => value,
            Self::Count(count) => count as f64,
        }
    }
}

/// What was found about a straggler.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// Its input beside that of the others.
    Input {
        /// Its input.
        input: u64,
        /// What that is counted in.
        unit: InputUnit,
        /// How many times the median of the group that is.
        ratio: f64,
        /// The ratio from which input is much.
        limit: f64,
        /// Its time per input, in medians of the group.
        rate_ratio: Option<f64>,
    },
    /// A part of its time.
    Component {
        /// Which.
        component: Component,
        /// How long it took.
        time: Millis,
        /// How long the task took.
        duration: Millis,
        /// How long the task would have taken without it.
        rest: Millis,
        /// From which time on a task of this input would be slow, with the component taken from all.
        limit: Millis,
        /// What of `time` is beyond what the component takes of the group's median task.
        excess: Millis,
    },
    /// Its node failed while it ran.
    Fault {
        /// How.
        kind: FaultKind,
        /// The node.
        node: String,
        /// How often.
        count: u64,
        /// What the history says of the first.
        message: Option<String>,
    },
    /// Its node was busy while it ran.
    NodeLoad {
        /// With what.
        metric: NodeMetric,
        /// The mean while it ran, in the metric's unit.
        value: f64,
        /// The limit.
        limit: f64,
    },
    /// Its node has more stragglers than the others.
    SlowNode {
        /// The node.
        node: String,
        /// How many, and how likely that is.
        test: SlowNode,
        /// The false discovery rate that was allowed.
        limit: f64,
    },
    /// Its CPU time for its input.
    CpuTime {
        /// In medians of the group.
        ratio: f64,
        /// The ratio from which that is much, or up to which it is like the others'.
        limit: f64,
        /// Which part of its delay is CPU time beyond the others', in percent.
        share_of_delay: f64,
        /// Whether it was compared for its input; else as it is.
        for_input: bool,
    },
    /// What it spilled.
    Spill {
        /// In medians of the group; `None` where the median task spilled nothing.
        ratio: Option<f64>,
        /// The ratio from which that is much.
        limit: f64,
    },
    /// Map outputs that a reduce could not fetch at once (`FAILED_SHUFFLE`).
    FailedFetches {
        /// How many.
        count: u64,
    },
    /// It was among the first of its group on its executor, and those are slow.
    FirstOnExecutor {
        /// Median time of the first tasks in medians of the later ones, both for their input.
        ratio: f64,
        /// The ratio from which they are slow.
        limit: f64,
    },
    /// Another attempt at the same task on another node.
    OtherAttempt {
        /// The node.
        node: String,
        /// How long it took, or had taken when it was killed.
        time: Millis,
        /// The time from which a task of the group is slow.
        limit: Millis,
    },
    /// It read its input from another node, and most others did not.
    RemoteInput {
        /// From where.
        locality: Locality,
        /// Percent of the group's tasks that read from their own node.
        local_share: f64,
    },
    /// Tasks on several nodes that were launched in the same minute lost their time at the beginning.
    SlowBeginnings {
        /// How long the first twelfth of its progress took.
        time: Millis,
        /// On how many nodes.
        nodes: u64,
    },
}

impl Fact {
    /// A component's counterfactual.
    #[must_use]
    pub fn of_component(component: Component, without: &Without) -> Option<Self> {
        Some(Self::Component {
            component,
            time: millis(without.time)?,
            duration: millis(without.duration)?,
            rest: millis(without.rest)?,
            limit: millis(without.limit)?,
            excess: millis(without.excess.max(0.0))?,
        })
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Input { .. } => "input",
            Self::Component { component, .. } => component.name(),
            Self::Fault { kind, .. } => kind.name(),
            Self::NodeLoad { metric, .. } => metric.name(),
            Self::SlowNode { .. } => "slow-node",
            Self::CpuTime { .. } => "cpu-time",
            Self::Spill { .. } => "spill",
            Self::FailedFetches { .. } => "failed-fetches",
            Self::FirstOnExecutor { .. } => "first-on-executor",
            Self::OtherAttempt { .. } => "other-attempt",
            Self::RemoteInput { .. } => "remote-input",
            Self::SlowBeginnings { .. } => "slow-beginnings",
        }
    }

    /// What was measured; `None` where there is no finite value.
    #[must_use]
    pub fn value(&self) -> Option<Measure> {
        Some(match self {
            Self::Input { ratio, .. } | Self::CpuTime { ratio, .. } | Self::FirstOnExecutor { ratio, .. } => {
                Measure::Ratio(*ratio)
            }
            Self::Spill { ratio, .. } => Measure::Ratio((*ratio)?),
            Self::Component { time, .. }
            | Self::OtherAttempt { time, .. }
            | Self::SlowBeginnings { time, .. } => Measure::Time(*time),
            Self::Fault { count, .. } | Self::FailedFetches { count } => Measure::Count(*count),
            Self::NodeLoad { metric, value, .. } => load(*metric, *value)?,
            Self::SlowNode { test, .. } => Measure::Probability(test.adjusted),
            Self::RemoteInput { local_share, .. } => Measure::Percent(*local_share),
        })
    }

    /// What it was held against. For a component that is the limit for what is left without it.
    #[must_use]
    pub fn limit(&self) -> Option<Measure> {
        match self {
            Self::Input { limit, .. }
            | Self::CpuTime { limit, .. }
            | Self::Spill { limit, .. }
            | Self::FirstOnExecutor { limit, .. } => Some(Measure::Ratio(*limit)),
            Self::Component { limit, .. } | Self::OtherAttempt { limit, .. } => Some(Measure::Time(*limit)),
            Self::NodeLoad { metric, limit, .. } => load(*metric, *limit),
            Self::SlowNode { limit, .. } => Some(Measure::Probability(*limit)),
            Self::Fault { .. }
            | Self::FailedFetches { .. }
            | Self::RemoteInput { .. }
            | Self::SlowBeginnings { .. } => None,
        }
    }
}

fn load(metric: NodeMetric, value: f64) -> Option<Measure> {
    Some(match metric {
        NodeMetric::DfsLatency => Measure::Time(Millis::from_f64(value)?),
        NodeMetric::CpuUtil | NodeMetric::DiskUtil | NodeMetric::NetRetrans => Measure::Percent(value),
    })
}

/// Seconds as whole milliseconds.
pub(super) fn millis(seconds: f64) -> Option<Millis> {
    Millis::from_f64((seconds * 1000.0).round())
}

impl fmt::Display for Fact {
    /// One clause, such as `garbage collection took 28 s of 40 s (12 s without it, slow from 15 s)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input { input, unit, ratio, limit, rate_ratio } => {
                match unit {
                    InputUnit::Bytes => write!(f, "read {}", Bytes::new(*input))?,
                    InputUnit::Records => write!(f, "read {input} records")?,
                }
                write!(f, ", {ratio:.1} times the median (much from {limit:.1})")?;
                rate_ratio
                    .map_or(Ok(()), |rate| write!(f, ", and took {rate:.1} times the median time for it"))
            }
            Self::Component { component, time, duration, rest, limit, .. } => {
                let what = component.display_name();
                write!(f, "{what} took {time} of {duration} ({rest} without it, slow from {limit})")
            }
            Self::Fault { kind, node, count, message } => {
                write!(f, "while it ran on {node}, {}", kind.display_name())?;
                if *count > 1 {
                    write!(f, " ({count} times)")?;
                }
                message.as_ref().map_or(Ok(()), |message| write!(f, ": {message}"))
            }
            Self::NodeLoad { metric, value, limit } => {
                let (name, unit) =
                    (metric.display_name(), if *metric == NodeMetric::DfsLatency { "ms" } else { "%" });
                write!(
                    f,
                    "{name} of the node was {value:.1} {unit} while it ran (high from {limit:.1} {unit})"
                )
            }
            Self::SlowNode { node, test, .. } => write!(
                f,
                "on {node} {} of {} tasks were stragglers, on the other nodes {} of {} (adjusted p = {:.2e})",
                test.own.stragglers, test.own.tasks, test.others.stragglers, test.others.tasks, test.adjusted
            ),
            Self::CpuTime { ratio, share_of_delay, for_input, .. } => {
                let what = if *for_input { "CPU time for its input" } else { "CPU time" };
                write!(f, "{what} was {ratio:.1} times the median, {share_of_delay:.0} % of the delay")
            }
            Self::Spill { ratio: Some(ratio), limit } => {
                write!(f, "spilled {ratio:.1} times the median (much from {limit:.1})")
            }
            Self::Spill { ratio: None, .. } => write!(f, "spilled, and most others did not"),
            Self::FailedFetches { count } => write!(f, "{count} fetches of map outputs failed"),
            Self::FirstOnExecutor { ratio, .. } => write!(
                f,
                "was among the first of its stage on its executor, which took {ratio:.1} times as long as later ones"
            ),
            Self::OtherAttempt { node, time, limit } if time < limit => {
                write!(f, "another attempt at it took {time} on {node} (slow from {limit})")
            }
            Self::OtherAttempt { node, time, limit } => {
                write!(f, "another attempt at it ran for {time} on {node}, too (slow from {limit})")
            }
            Self::RemoteInput { local_share, .. } => {
                write!(f, "read its input from another node, {local_share:.0} % of the others from their own")
            }
            Self::SlowBeginnings { time, nodes } => write!(
                f,
                "the first twelfth of its progress took {time}, as with others launched in that minute on {nodes} nodes"
            ),
        }
    }
}
