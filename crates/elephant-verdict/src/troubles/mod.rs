//! Troubles: findings of one root cause, with one remedy.
//!
//! A trouble is what is wrong ("stage 4 is skewed", "executors die out of memory"). Several findings may describe it:
//! those of one [`TroubleKind`](elephant_rule::finding::TroubleKind) about one subject, and those that only repeat its
//! consequences. [`diagnose`] takes the judged findings of one application through four stages, each with a type that the
//! next stage takes over: `grouped` makes troubles, `settled` makes one value for each setting out of their advice (one
//! root cause, one remedy), `priced` says what they save, `worded` makes the sentences.

mod configuration;
mod consequences;
mod cost_at_most;
mod executors;
mod failed_run;
mod fewer_executors;
mod grouped;
mod groups;
mod logged;
mod measured_loss;
mod memory_taken;
mod on_platform;
mod place;
mod priced;
mod ranking;
mod reasons_first;
mod recommended;
mod removal;
mod replayed_change;
mod replayed_job_change;
mod resources;
mod root_cause;
mod saves;
mod settled;
mod settled_advice;
mod straggling;
mod task_memory;
mod task_numbers;
mod trouble;
mod unproven;
mod value;
mod without_effect;
mod worded;

use crate::savings::{ApplicationSavings, Prices, ReplaysOnce};
use elephant_analysis::metrics::Metrics;
use elephant_analysis::replay::spark::RecordedOnce;
use elephant_model::model::Application;
use elephant_rule::finding::Finding;
use elephant_ruleset::RuleSet;
use elephant_ruleset::settings::{OrderBy, OrderParams};

pub use executors::heap_per_task;
pub use logged::Logged;
pub use ranking::{Worth, WorthSum};
pub use recommended::Recommended;
pub use saves::saves;
pub use trouble::{Confidence, Telling, Trouble};
pub use value::{magnitude, same as same_value};
pub use without_effect::why as why_inert;

/// The rules and prices by which troubles are judged.
#[derive(Clone, Copy)]
pub struct Basis<'a> {
    /// The rules in force.
    pub rules: &'a RuleSet,
    /// Without them, no cost is computed.
    pub prices: Option<&'a Prices>,
}

/// The troubles of an application, and one configuration against all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosed {
    /// The troubles, worst first.
    pub troubles: Vec<Trouble>,
    /// One value for each setting.
    pub configuration: Vec<Recommended>,
    /// What all of them save together; `None` without troubles.
    pub savings: Option<ApplicationSavings>,
}

/// The application that is judged, and by what.
struct Case<'a> {
    app: &'a Application,
    basis: Basis<'a>,
    metrics: &'a Metrics,
    replays: ReplaysOnce<'a>,
}

impl<'a> Case<'a> {
    fn order(&self) -> &'a OrderParams {
        self.basis.rules.order()
    }

    /// Whether savings decide. Under the presets of Dr. Elephant, severities do, and advice is as its rules gave it.
    fn is_by_saving(&self) -> bool {
        self.order().by == OrderBy::Saving
    }
}

/// From the judged findings of `app` to its troubles, in stages. Afterwards the advice of `findings` proposes no other
/// values than the one configuration, and their severities are those of their troubles.
pub fn diagnose(
    app: &Application,
    basis: Basis<'_>,
    (metrics, recorded): (&Metrics, RecordedOnce),
    findings: &mut [Finding],
) -> Diagnosed {
    let case = Case { app, basis, metrics, replays: ReplaysOnce::new(app, basis.rules, metrics, recorded) };
    let grouped = grouped::grouped(&case, findings);
    let settled = settled::settled(&case, grouped);
    let priced = priced::priced(&case, settled);
    worded::worded(app, priced)
}

#[cfg(test)]
pub(crate) mod tests;
