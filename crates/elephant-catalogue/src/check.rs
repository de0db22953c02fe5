//! How a rule judges.

use super::Shared;
use elephant_model::model::Application;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Advice, Verdict};

/// Reason given when metrics were not computed.
pub const NOT_MEASURED: &str = "the costs of the application were not measured";

/// Judges an application.
pub trait Check: Send + Sync {
    /// The verdict on `app`.
    fn check(&self, app: &Application) -> Verdict;

    /// Like [`Check::check`], with data in `shared` that several rules use and that is computed once.
    fn check_among(&self, app: &Application, _shared: &Shared<'_>) -> Verdict {
        self.check(app)
    }

    /// The parts of a Spark application that the verdict depends on. If one of them is incomplete, findings
    /// say so, and "nothing found" becomes "not evaluated".
    fn rests_on(&self) -> &'static [Facet] {
        &[]
    }

    /// Whether more data could reverse a finding, such as executors that do less than others, or memory
    /// that is hardly used. If much is missing, the rule is not evaluated.
    fn needs_all(&self) -> bool {
        false
    }

    /// Why the counters that the verdict depends on do not mean in this application what they usually do: then the rule is not
    /// evaluated, unless parameters say otherwise.
    fn doubt(&self, _app: &Application) -> Option<String> {
        None
    }

    /// The rule's advice, independent of its findings. Used by rules on other symptoms of the same problem.
    fn remedy(&self, _app: &Application) -> Option<Remedy> {
        None
    }

    /// The task counters of this kind that the verdict depends on, as in [`Check::rests_on`].
    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::NONE
    }
}

/// The remedy for the problem that a rule finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Settings to change.
    Change(Vec<Advice>),
    /// Why no setting helps.
    NoSetting(String),
}

#[doc(hidden)]
impl Remedy {
    /// The lines of advice.
    #[must_use]
    pub fn lines(self) -> Vec<Advice> {
        match self {
            Self::Change(lines) => lines,
            Self::NoSetting(why) => vec![why.into()],
        }
    }
}
