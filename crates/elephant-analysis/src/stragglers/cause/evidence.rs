//! Evidence for a cause: a typed value with the limit it was compared with.

use std::fmt;

use super::components::Component;
use super::counterfactual::Without;
use super::faults::FaultKind;
use super::node_test::SlowNode;
use super::{Cause, Confidence};
use crate::node_metrics::NodeMetric;
use crate::stragglers::executions::InputUnit;
use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::table::Locality;

/// Evidence for a cause.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct Evidence {
    /// The cause it supports.
    pub cause: Cause,
    /// Its strength.
    pub confidence: Confidence,
    /// The observation.
    pub fact: Fact,
}

/// A value with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// A span of time.
    Time(Millis),
    /// A multiple of something else.
    Ratio(f64),
    /// A percentage.
    Percent(f64),
    /// A number of things.
    Count(u64),
    /// A probability.
    Probability(f64),
}

impl Measure {
    /// The suffix of the value's key in reports.
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

/// An observation about a straggler.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub enum Fact {
    /// Its input compared with the others.
    Input {
        /// Its input.
        input: u64,
        /// Unit of the input.
        unit: InputUnit,
        /// The input over the group's median.
        ratio: f64,
        /// Input is large from this ratio on.
        limit: f64,
        /// Its time per input over the group's median.
        rate_ratio: Option<f64>,
    },
    /// A part of its time.
    Component {
        /// The component.
        component: Component,
        /// How long it took.
        time: Millis,
        /// How long the task took.
        duration: Millis,
        /// How long the task would have taken without it.
        rest: Millis,
        /// A task with this input would be slow from this time on, with the component subtracted from all
        /// tasks.
        limit: Millis,
        /// The part of `time` beyond the component's time in the group's median task.
        excess: Millis,
    },
    /// Its node failed while it ran.
    Fault {
        /// The kind of failure.
        kind: FaultKind,
        /// The node.
        node: String,
        /// Number of failures.
        count: u64,
        /// Message of the first failure in the log.
        message: Option<String>,
    },
    /// Its node was busy while it ran.
    NodeLoad {
        /// The metric.
        metric: NodeMetric,
        /// Its mean while the task ran, in the metric's unit.
        value: f64,
        /// The limit.
        limit: f64,
    },
    /// Its node has more stragglers than the others.
    SlowNode {
        /// The node.
        node: String,
        /// Straggler counts, and their probability.
        test: SlowNode,
        /// The accepted false discovery rate.
        limit: f64,
    },
    /// Its CPU time, for its input if known.
    CpuTime {
        /// Over the group's median.
        ratio: f64,
        /// CPU time is high from this ratio on, or normal up to it.
        limit: f64,
        /// Percentage of its delay that is CPU time beyond the group's median.
        share_of_delay: f64,
        /// Whether CPU time was compared per input.
        for_input: bool,
    },
    /// Its spilled data.
    Spill {
        /// Over the group's median; `None` if the median task spilled nothing.
        ratio: Option<f64>,
        /// Spilling is high from this ratio on.
        limit: f64,
    },
    /// Map outputs that a reduce task failed to fetch at first (`FAILED_SHUFFLE`).
    FailedFetches {
        /// How many.
        count: u64,
    },
    /// It was among the first tasks of its group on its executor, and those are slow.
    FirstOnExecutor {
        /// Median time of the first tasks over the median of later tasks, both for their input.
        ratio: f64,
        /// First tasks are slow from this ratio on.
        limit: f64,
    },
    /// It was among the first tasks of any stage on its executor, and spent time on what a new process does.
    NewExecutor {
        /// How long it deserialized, which loads classes, and collected garbage.
        time: Millis,
        /// How long the group's median task did so.
        usual: Millis,
    },
    /// Another attempt of the same task on another node.
    OtherAttempt {
        /// The node.
        node: String,
        /// How long it ran until its end, or until it was killed.
        time: Millis,
        /// A task of the group is slow from this time on.
        limit: Millis,
    },
    /// It read its input from another node, unlike most other tasks.
    RemoteInput {
        /// Its locality.
        locality: Locality,
        /// Percentage of the group's tasks that read from their own node.
        local_share: f64,
    },
    /// Tasks on several nodes that were launched in the same minute lost their time at their start.
    SlowBeginnings {
        /// How long the first twelfth of its progress took.
        time: Millis,
        /// The number of nodes.
        nodes: u64,
    },
}

#[doc(hidden)]
impl Fact {
    /// A component's counterfactual.
    #[must_use]
    pub(crate) fn of_component(component: Component, without: &Without) -> Option<Self> {
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
            Self::NewExecutor { .. } => "new-executor",
            Self::OtherAttempt { .. } => "other-attempt",
            Self::RemoteInput { .. } => "remote-input",
            Self::SlowBeginnings { .. } => "slow-beginnings",
        }
    }

    /// The measured value; `None` if there is no finite value.
    #[must_use]
    pub fn value(&self) -> Option<Measure> {
        Some(match self {
            Self::Input { ratio, .. } | Self::CpuTime { ratio, .. } | Self::FirstOnExecutor { ratio, .. } => {
                Measure::Ratio(*ratio)
            }
            Self::Spill { ratio, .. } => Measure::Ratio((*ratio)?),
            Self::Component { time, .. }
            | Self::NewExecutor { time, .. }
            | Self::OtherAttempt { time, .. }
            | Self::SlowBeginnings { time, .. } => Measure::Time(*time),
            Self::Fault { count, .. } | Self::FailedFetches { count } => Measure::Count(*count),
            Self::NodeLoad { metric, value, .. } => load(*metric, *value)?,
            Self::SlowNode { test, .. } => Measure::Probability(test.adjusted),
            Self::RemoteInput { local_share, .. } => Measure::Percent(*local_share),
        })
    }

    /// The limit it was compared with. For a component, that is the limit for the time without it.
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
            | Self::NewExecutor { .. }
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
                write!(f, ", {ratio:.1}× the median (high from {limit:.1}×)")?;
                rate_ratio
                    .map_or(Ok(()), |rate| write!(f, ", and took {rate:.1}× the median time for its input"))
            }
            Self::Component { component, time, duration, rest, limit, .. } => {
                let what = component.display_name();
                let [time, duration, rest, limit] = [time, duration, rest, limit].map(|span| span.precise());
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
            Self::SlowNode { node, test, .. } => {
                write!(
                    f,
                    "{} of {} tasks on {node} were stragglers, on the other nodes {} of {} (with their share in \
                     each group, {:.1} would be expected on {node}; adjusted p = {:.2e})",
                    test.own.stragglers,
                    test.own.tasks,
                    test.others.stragglers,
                    test.others.tasks,
                    test.expected,
                    test.adjusted
                )?;
                if test.suspected { write!(f, ", a difference too small to blame the node") } else { Ok(()) }
            }
            Self::CpuTime { ratio, share_of_delay, for_input, .. } => {
                let what = if *for_input { "CPU time for its input" } else { "CPU time" };
                write!(f, "{what} was {ratio:.1}× the median, {share_of_delay:.0} % of the delay")
            }
            Self::Spill { ratio: Some(ratio), limit } => {
                write!(f, "spilled {ratio:.1}× the median (high from {limit:.1}×)")
            }
            Self::Spill { ratio: None, .. } => write!(f, "spilled to disk, unlike most other tasks"),
            Self::FailedFetches { count } => write!(f, "{count} fetches of map outputs failed"),
            Self::FirstOnExecutor { ratio, .. } => write!(
                f,
                "was among the first tasks of its stage on its executor; these took {ratio:.1}× as long as later tasks"
            ),
            Self::NewExecutor { time, usual } => write!(
                f,
                "was among the first tasks on its executor; deserializing the task and garbage collection took {time}, \
                 {usual} in the median task"
            ),
            Self::OtherAttempt { node, time, limit } => {
                let ran = if time < limit { "took" } else { "also ran for" };
                let (time, limit) = (time.precise(), limit.precise());
                write!(f, "another attempt of the task {ran} {time} on {node} (slow from {limit})")
            }
            Self::RemoteInput { local_share, .. } => {
                write!(
                    f,
                    "read its input from another node, while {local_share:.0} % of the tasks read theirs locally"
                )
            }
            Self::SlowBeginnings { time, nodes } => write!(
                f,
                "the first twelfth of its progress took {time}; stragglers on {nodes} nodes launched in the same minute also started slowly"
            ),
        }
    }
}
