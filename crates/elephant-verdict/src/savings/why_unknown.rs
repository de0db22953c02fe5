//! Why it is unknown what a remedy saves.

use std::fmt;

use elephant_base::state::State;

/// Why it is unknown what the remedy of a trouble saves.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub enum WhyUnknown {
    /// Nobody asked.
    NotComputed,
    /// There are more troubles than can be computed together.
    TooMany,
    /// The application has more tasks than can be replayed so often.
    TooManyTasks,
    /// The application was stopped.
    Cancelled,
    /// A stream runs until it is stopped.
    EndlessRun,
    /// The application failed, and the remedy is not about that.
    Failed,
    /// The trouble made the application fail.
    ForNothing,
    /// No model exists for the remedy.
    NoModel,
    /// The advice names no setting.
    NoSetting,
    /// There is no advice.
    NoRemedy,
    /// The advice names no smaller size.
    NoSize,
    /// The advice names no other number of tasks.
    NoNumber,
    /// The advice gives back no idle cores.
    NotReleased,
    /// The advice holds only under a condition.
    OnACondition,
    /// The configuration has fewer executors instead.
    FewerExecutors,
    /// The history lacks times.
    NotMeasured,
    /// The one configuration does not have the change.
    NotRecommended,
    /// The application cannot be replayed with this change; says why.
    NoReplay(String),
}

impl fmt::Display for WhyUnknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotComputed => "it was not computed",
            Self::TooMany => "the application has too many troubles",
            Self::TooManyTasks => "the application has too many tasks to replay this trouble, too",
            Self::Cancelled => "the application was stopped, so the rest of its work is unknown",
            Self::EndlessRun => {
                "a stream runs until it is stopped: its results come sooner, but its run is no shorter"
            }
            Self::Failed => "the application's status is failed, so the time of a full run is unknown",
            Self::ForNothing => "the run failed, so all of it was for nothing",
            Self::NoModel => "there is no model for this remedy",
            Self::NoSetting => "the advice names no setting",
            Self::NoRemedy => "the rule names no remedy",
            Self::NoSize => "the advice names no smaller size",
            Self::NoNumber => "the advice names no other number of tasks",
            Self::NotReleased => "the advice names no setting that would give back idle cores",
            Self::OnACondition => "the advice depends on something that the event log does not show",
            Self::FewerExecutors => "fewer executors are recommended instead",
            Self::NotMeasured => "the history does not contain the times that the saving is computed from",
            Self::NotRecommended => "the change that the rule proposes is not recommended",
            Self::NoReplay(why) => why,
        })
    }
}

impl From<String> for WhyUnknown {
    fn from(why: String) -> Self {
        Self::NoReplay(why)
    }
}

impl From<&str> for WhyUnknown {
    fn from(why: &str) -> Self {
        Self::NoReplay(why.to_owned())
    }
}
