//! An application that runs: its groups of tasks, and what detectors say of their tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::Identity as Filtered;
use crate::survey::Learnt;
use elephant_analysis::stragglers::detect::Detector;
use elephant_analysis::stragglers::live::{End, Flagged, Launch, LiveGroup, Report};
use elephant_analysis::stragglers::replay::Options;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Engine;
use elephant_model::model::table::TaskKind;
use elephant_parse::spark::{LiveEvent, LiveTask};

/// What identifies an application, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its id.
    pub id: Option<String>,
    /// Its attempt.
    pub attempt: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its user.
    pub user: Option<String>,
    /// When it began.
    pub started_at: Option<Timestamp>,
}

impl Identity {
    /// The values that filters test.
    pub(super) fn filtered(&self, engine: Engine) -> Filtered<'_> {
        Filtered {
            engine: engine.name(),
            id: self.id.as_deref().unwrap_or_default(),
            user: self.user.as_deref(),
            queue: None,
            name: self.name.as_deref(),
            start: self.started_at,
        }
    }
}

/// A task that a detector flags, or flagged wrongly.
#[derive(Debug, Clone, PartialEq)]
pub struct Flag {
    /// The application.
    pub application: Arc<Identity>,
    /// The detector's name.
    pub detector: &'static str,
    /// The group of the task.
    pub group: TaskKind,
    /// The group's name.
    pub group_name: Option<Arc<str>>,
    /// The task, and what the detector saw.
    pub flagged: Flagged,
    /// The newest event that was known.
    pub known_until: Option<Timestamp>,
    /// When the attempt had ended, if it turned out that this was before the flag.
    pub had_ended: Option<Timestamp>,
}

/// An application that runs.
#[derive(Default)]
pub struct LiveApplication {
    identity: Arc<Identity>,
    groups: BTreeMap<TaskKind, LiveTasks>,
    newest: Option<Timestamp>,
    has_ended: bool,
}

/// The tasks of one kind, or of one stage attempt.
struct LiveTasks {
    name: Option<Arc<str>>,
    tasks: Option<u32>,
    /// `None` before the first launch, and if the group has too few tasks or an unknown number.
    live: Option<LiveGroup>,
    ended: Option<Timestamp>,
}

/// How tasks are judged while they run.
pub struct Judges {
    /// The detectors.
    pub detectors: Vec<Box<dyn Detector>>,
    /// The time between scans, and between reports.
    pub options: Options,
    /// Groups with fewer tasks are not judged.
    pub min_tasks: usize,
    /// Scans are made this long after the newest event: events are not written exactly in the order of their times.
    pub settle: Millis,
    /// The engine whose tasks they judge.
    pub engine: Engine,
    /// How tasks progressed in earlier runs.
    pub models: Option<Arc<Learnt>>,
}

impl Judges {
    /// The options for a group of an application.
    fn options_for(&self, application: &Identity, kind: TaskKind, name: Option<&str>) -> Options {
        let mut options = self.options.clone();
        if let Some(models) = self.models.as_ref().filter(|_| options.told_progress) {
            let id = application.id.as_deref().unwrap_or_default();
            let job = (self.engine, application.name.as_deref());
            options.usual_progress = models.usual_progress(job, (kind, name), id);
        }
        options
    }
}

impl LiveApplication {
    /// What identifies it.
    pub(crate) fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// The time of the newest event.
    #[must_use]
    pub const fn newest(&self) -> Option<Timestamp> {
        self.newest
    }

    /// Whether it has ended.
    pub(crate) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The number of task attempts that run.
    pub(crate) fn running(&self) -> usize {
        self.groups.values().filter_map(|group| group.live.as_ref()).map(LiveGroup::running).sum()
    }

    /// The memory that its tasks take, in bytes.
    pub(super) fn held(&self) -> u64 {
        self.groups.values().filter_map(|group| group.live.as_ref()).map(LiveGroup::held).sum()
    }

    /// Processes an event of a log.
    pub(crate) fn take(&mut self, event: LiveEvent, judges: &Judges) {
        match event {
            LiveEvent::Application { id, name, user, attempt, at } => {
                self.begin(Identity { id, attempt, name, user, started_at: at });
            }
            LiveEvent::ApplicationEnd { at } => self.end(at),
            LiveEvent::Stage { stage, name, tasks } => self.group(TaskKind::Stage(stage), name, tasks),
            LiveEvent::StageEnd { stage, at } => self.end_group(TaskKind::Stage(stage), at),
            LiveEvent::Launch(task) => {
                let (kind, launch) = of_log(task);
                self.launch(kind, launch, judges);
            }
            LiveEvent::End { task, at, outcome, records } => {
                let (kind, launch) = of_log(task);
                let id = launch.id;
                // A log that was compacted, or lost a record, may have an end without a start.
                self.launch(kind, launch, judges);
                self.ended(kind, &End { id, at, outcome, records });
            }
        }
    }

    /// The application begins.
    pub fn begin(&mut self, identity: Identity) {
        self.saw(identity.started_at);
        self.identity = Arc::new(identity);
    }

    /// The application ends.
    pub(crate) fn end(&mut self, at: Option<Timestamp>) {
        self.saw(at);
        self.has_ended = true;
        let newest = self.newest;
        self.groups.values_mut().for_each(|group| group.end(newest));
    }

    /// A group of tasks begins; `tasks` is their number.
    pub fn group(&mut self, kind: TaskKind, name: Option<Arc<str>>, tasks: Option<u32>) {
        let new = LiveTasks { name, tasks, live: None, ended: None };
        let known = self.groups.entry(kind).or_insert(new);
        known.tasks = known.tasks.or(tasks);
    }

    /// A group ends.
    pub(crate) fn end_group(&mut self, kind: TaskKind, at: Option<Timestamp>) {
        self.saw(at);
        if let Some(group) = self.groups.get_mut(&kind) {
            group.end(at);
        }
    }

    /// An attempt begins.
    pub fn launch(&mut self, kind: TaskKind, launch: Launch, judges: &Judges) {
        self.saw(Some(launch.at));
        let Some(group) = self.groups.get_mut(&kind) else { return };
        match (&mut group.live, group.tasks) {
            (Some(live), _) => live.launch(launch),
            (None, Some(tasks)) if tasks as usize >= judges.min_tasks.max(1) && group.ended.is_none() => {
                let options = judges.options_for(&self.identity, kind, group.name.as_deref());
                let live = LiveGroup::new(tasks as usize, launch, judges.detectors.len(), &options);
                group.live = Some(live);
            }
            (None, _) => {}
        }
    }

    /// An attempt ends.
    pub fn ended(&mut self, kind: TaskKind, end: &End) {
        self.saw(Some(end.at));
        if let Some(live) = self.live(kind) {
            live.end(end);
        }
    }

    /// An attempt reports its progress.
    pub fn report(&mut self, kind: TaskKind, report: Report) {
        self.saw(Some(report.at));
        if let Some(live) = self.live(kind) {
            live.report(report);
        }
    }

    fn live(&mut self, kind: TaskKind) -> Option<&mut LiveGroup> {
        self.groups.get_mut(&kind)?.live.as_mut()
    }

    fn saw(&mut self, at: Option<Timestamp>) {
        self.newest = self.newest.max(at);
    }

    /// Makes all scans up to a time, `None` for all that there can be, and passes on the flags in the order of their
    /// times, then of stages, tasks and detectors.
    pub fn advance(&mut self, until: Option<Timestamp>, judges: &Judges, mut take: impl FnMut(Flag)) {
        let mut flags = Vec::new();
        let known_until = self.newest;
        for (&kind, group) in &mut self.groups {
            let Some(live) = &mut group.live else { continue };
            let flag = |flagged: Flagged, had_ended| Flag {
                detector: judges.detectors.get(flagged.detector).map_or("", |detector| detector.id()),
                application: Arc::clone(&self.identity),
                group: kind,
                group_name: group.name.clone(),
                flagged,
                known_until,
                had_ended,
            };
            flags.extend(live.withdrawn().map(|(flagged, end)| flag(flagged, Some(end))));
            live.advance(until, &judges.detectors, |flagged| flags.push(flag(flagged, None)));
        }
        self.groups.retain(|_, group| !group.is_over());
        flags.sort_by_key(|flag| {
            let Flagged { at, detector, launch, .. } = &flag.flagged;
            (*at, flag.group, launch.task, launch.attempt, launch.id, *detector, flag.had_ended)
        });
        flags.into_iter().for_each(&mut take);
    }
}

impl LiveTasks {
    fn end(&mut self, at: Option<Timestamp>) {
        self.ended = self.ended.or(at);
        if let (Some(group), Some(at)) = (&mut self.live, self.ended) {
            group.close(at);
        }
    }

    fn is_over(&self) -> bool {
        self.ended.is_some() && self.live.as_ref().is_none_or(LiveGroup::is_over)
    }
}

fn of_log(task: LiveTask) -> (TaskKind, Launch) {
    let LiveTask { stage, id, index, attempt, launched, host, speculative } = task;
    (TaskKind::Stage(stage), Launch { id, task: index, attempt, host, at: launched, speculative })
}
