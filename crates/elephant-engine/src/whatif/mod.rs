//! What applications would have taken under other resources, or without a trouble.
//!
//! Each application is replayed: its recorded tasks are scheduled again under the change. The replay without a change
//! shows the error of the model.

mod application;
mod jobs;
mod scaling;
mod settings;
mod total;

use std::path::PathBuf;

use application::without_troubles;
pub use application::{ApplicationReplays, Cost, MemoryCheck, PathStage, Replays, Scenario};
pub use elephant_analysis::memory_fit::{MemoryFit, MemoryHolder, MemoryReason, MemoryVerdict};
pub use elephant_verdict::savings::{Amounts, Prediction, Range};
pub use jobs::Job;
pub use scaling::{Resource, Scaling, ScalingPoint};
pub use settings::{Change, Settings, Trouble};
pub use total::{ChangeTotal, Total, most_frequent};

use crate::engine::{Filter, Progress, visit_for_rules};
use crate::results::{Sort, SourceProblem, Summary};
use elephant_base::limits::Limits;
use elephant_input::named::Named;
use elephant_ruleset::RuleSet;
use elephant_verdict::troubles::Basis;

/// The replays of all applications.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WhatIfReport {
    /// Counts of files and applications.
    pub files: Summary,
    /// The applications, by the most that a change saves.
    pub applications: Vec<ApplicationReplays>,
    /// What the changes save over all applications.
    pub total: Total,
    /// The currency of costs, if prices were given.
    pub currency: Option<String>,
    /// The order of the applications and jobs.
    pub(crate) order: Sort,
    /// Problems, by source.
    pub problems: Vec<SourceProblem>,
    /// Whether an input named by the user could not be read.
    pub named_input_failed: bool,
}

#[doc(hidden)]
impl WhatIfReport {
    /// Orders the applications.
    pub fn sort(&mut self, by: Sort) {
        self.order = by;
        self.applications.sort_by(|a, b| ApplicationReplays::order(a, b, by));
    }
}

/// Replays all applications below `paths`; costs are computed by the parameters of `rules`.
#[must_use]
pub fn report(paths: &[PathBuf], rules: &RuleSet, settings: &Settings) -> WhatIfReport {
    let basis = Basis { rules, prices: None };
    report_with(paths.into(), basis, settings, &Filter::default(), &Limits::default(), &Progress::default())
}

/// The same for applications that `filter` selects, with prices, and `limits` for each file, reporting to `progress`.
#[must_use]
pub fn report_with(
    named: Named<'_>,
    basis: Basis<'_>,
    settings: &Settings,
    filter: &Filter,
    limits: &Limits,
    progress: &Progress,
) -> WhatIfReport {
    let visited = visit_for_rules(named, filter, limits, progress, |app, sources| {
        ApplicationReplays::of(app, sources, basis, settings)
    });
    let mut applications: Vec<ApplicationReplays> =
        visited.applications.into_iter().map(|visit| visit.value).collect();
    applications.sort_by(ApplicationReplays::by_saving);
    let changes = if settings.changes.is_empty() { without_troubles() } else { settings.changes.clone() };
    WhatIfReport {
        files: visited.summary,
        total: Total::of(&applications, &changes),
        currency: basis.prices.map(|prices| prices.currency().to_owned()),
        order: Sort::Saving,
        applications,
        problems: visited.problems,
        named_input_failed: visited.named_input_failed,
    }
}
