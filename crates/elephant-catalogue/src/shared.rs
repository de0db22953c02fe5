//! Data that several rules use, computed once per application.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Remedy;
use elephant_analysis::metrics::Metrics;
use elephant_analysis::replay::spark::{Recorded, RecordedOnce};
use elephant_analysis::stragglers::cause::{Grounds, LabelledGroup, Params, StragglerCause, attribute_on};
use elephant_analysis::stragglers::executions::Basis;
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_analysis::stragglers::labels::Labelling;
use elephant_model::model::Application;
use elephant_query::Ground;
use elephant_rule::finding::Container;

/// The advice of the rule that sizes a container, by container.
type Remedies<'a> = dyn Fn(Container) -> Option<Remedy> + Sync + 'a;

/// The data that the rules of an application share.
pub struct Shared<'a> {
    app: &'a Application,
    metrics: Option<&'a (dyn Fn() -> &'a Metrics + Sync)>,
    remedies: Option<&'a Remedies<'a>>,
    recorded: Option<&'a RecordedOnce>,
    trusts_jvms: bool,
    stragglers: Mutex<Vec<Arc<Stragglers<'a>>>>,
    queries: OnceLock<Option<Ground<'a>>>,
}

/// The groups of an application with enough tasks, each with its stragglers.
pub struct Stragglers<'a> {
    /// The application.
    pub app: &'a Application,
    labelling: Labelling,
    min_tasks: f64,
    /// The groups.
    pub groups: Vec<GroupStragglers<'a>>,
    grounds: OnceLock<Grounds>,
    causes: OnceLock<Vec<Vec<StragglerCause>>>,
}

#[doc(hidden)]
impl<'a> Shared<'a> {
    /// Nothing is computed yet.
    #[must_use]
    pub const fn of(app: &'a Application) -> Self {
        Self {
            app,
            metrics: None,
            remedies: None,
            recorded: None,
            trusts_jvms: false,
            stragglers: Mutex::new(Vec::new()),
            queries: OnceLock::new(),
        }
    }

    /// The same, with the application's costs, which the first call of `metrics` computes.
    #[must_use]
    pub fn with_metrics(self, metrics: &'a (dyn Fn() -> &'a Metrics + Sync)) -> Self {
        Self { metrics: Some(metrics), ..self }
    }

    /// The same, with the advice of the rules that size containers.
    #[must_use]
    pub fn with_remedies(self, remedies: &'a Remedies<'a>) -> Self {
        Self { remedies: Some(remedies), ..self }
    }

    /// The same, with the recorded run.
    #[must_use]
    pub fn with_recorded(self, recorded: &'a RecordedOnce) -> Self {
        Self { recorded: Some(recorded), ..self }
    }

    /// The same, for rules that judge what JVMs report even if another engine or a concurrent collector does the work.
    #[must_use]
    pub fn with_jvms_trusted(self, trusts_jvms: bool) -> Self {
        Self { trusts_jvms, ..self }
    }

    /// Whether rules judge what JVMs report in any case; see [`Check::doubt`](super::Check::doubt).
    #[must_use]
    pub const fn trusts_jvms(&self) -> bool {
        self.trusts_jvms
    }

    /// The recorded run, ready for replays; `None` if it cannot be replayed.
    #[must_use]
    pub fn recorded(&self) -> Option<&'a Recorded> {
        self.recorded?.get(self.app).ok()
    }

    /// The advice of the rule that sizes `container`, with its effective parameters for this application.
    #[must_use]
    pub fn remedy(&self, container: Container) -> Option<Remedy> {
        self.remedies.and_then(|remedies| remedies(container))
    }

    /// The application's costs, if they are computed.
    #[must_use]
    pub fn metrics(&self) -> Option<&'a Metrics> {
        self.metrics.map(|metrics| metrics())
    }

    /// The queries that cost most; `None` for other engines, or if the run time is unknown.
    #[must_use]
    pub fn queries(&self) -> Option<&Ground<'a>> {
        self.queries.get_or_init(|| Ground::of(self.app)).as_ref()
    }

    /// The stragglers, by wall time, of groups with at least this many tasks.
    #[must_use]
    pub fn stragglers(&self, labelling: Labelling, min_tasks: f64) -> Arc<Stragglers<'a>> {
        let mut known = self.stragglers.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &&Arc<Stragglers<'_>>| {
            known.labelling == labelling && known.min_tasks.total_cmp(&min_tasks).is_eq()
        };
        if let Some(known) = known.iter().find(same) {
            return Arc::clone(known);
        }
        let mut groups = GroupStragglers::of_application(self.app, labelling, Basis::Wall);
        groups.retain(|group| group.executions.tasks.len() as f64 >= min_tasks);
        let (grounds, causes) = (OnceLock::new(), OnceLock::new());
        let new = Arc::new(Stragglers { app: self.app, labelling, min_tasks, groups, grounds, causes });
        known.push(Arc::clone(&new));
        new
    }
}

impl Stragglers<'_> {
    /// The causes of the stragglers of each group.
    #[must_use]
    pub fn causes(&self) -> &[Vec<StragglerCause>] {
        self.causes.get_or_init(|| {
            attribute_on(self.grounds(), self.app, &labelled(&self.groups), None, &Params::default())
        })
    }

    /// Whether a node may be the cause of a straggler. Takes a part of the time that [`Self::causes`] takes.
    #[must_use]
    pub fn suspect_nodes(&self) -> bool {
        self.grounds().suspect_nodes()
    }

    fn grounds(&self) -> &Grounds {
        self.grounds.get_or_init(|| Grounds::of(self.app, &labelled(&self.groups), &Params::default()))
    }
}

fn labelled<'a>(views: &'a [GroupStragglers<'a>]) -> Vec<LabelledGroup<'a>> {
    let of = |view: &'a GroupStragglers<'a>| LabelledGroup {
        group: view.group,
        executions: &view.executions,
        basis: Basis::Wall,
        stragglers: &view.labels.stragglers,
    };
    views.iter().map(of).collect()
}
