//! Runs detectors on a group of tasks while it runs.
//!
//! The scans are those of a [`replay`](super::replay) of the finished group, and each is made as soon as
//! everything up to its time is known. Therefore a log that is still being written gives the same flags as
//! the finished log, for detectors that need only data that the log has about running tasks.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::detect::spark::MedianRule;
use super::detect::{Compared, Completed, Completion, Detector};
use super::replay::{Attempt, DetectorState, Done, Options, Playback, Timeline};
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::table::Outcome;

/// An attempt that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Its identifier within the group.
    pub id: u64,
    /// The task's number in the group.
    pub task: u32,
    /// The attempt's number.
    pub attempt: Option<u32>,
    /// The host.
    pub host: Option<Arc<str>>,
    /// When it begins.
    pub at: Timestamp,
    /// Whether it is a copy of an attempt that runs.
    pub speculative: bool,
}

/// The end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Its identifier within the group.
    pub id: u64,
    /// When it ended.
    pub at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// The records that it read.
    pub records: Option<f64>,
}

/// A report of a running attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// Its identifier within the group.
    pub id: u64,
    /// When it reported.
    pub at: Timestamp,
    /// Its progress.
    pub progress: Option<f64>,
    /// The records that it has read so far.
    pub records: Option<f64>,
}

/// An attempt that a detector flags for the first time.
#[derive(Debug, Clone, PartialEq)]
pub struct Flagged {
    /// The index of the detector.
    pub detector: usize,
    /// The attempt.
    pub launch: Launch,
    /// When it was flagged.
    pub at: Timestamp,
    /// How long it had run then.
    pub elapsed: Millis,
    /// The median time of the tasks that had succeeded then; `None` if none had.
    pub median: Option<Millis>,
    /// What the detector compared.
    pub compared: Option<Compared>,
}

/// Approximate size in bytes of an attempt's entries in maps and lists, including spare capacity.
const PER_ATTEMPT: usize = 160;

/// A group of tasks that runs.
pub struct LiveGroup {
    /// The launch of its first task.
    origin: Timestamp,
    timeline: Timeline,
    playback: Playback,
    states: Vec<DetectorState>,
    /// In order of arrival; the index is the attempt's row in `timeline`.
    launches: Vec<Known>,
    by_id: FxHashMap<u64, usize>,
    hosts: FxHashMap<Arc<str>, u32>,
    launched: FxHashSet<u32>,
    succeeded: FxHashSet<u32>,
    running: usize,
    /// Reports that scans have not seen yet.
    reports: Vec<Report>,
    withdrawn: Vec<(Flagged, Timestamp)>,
}

/// An attempt that was launched.
struct Known {
    launch: Launch,
    /// Its index in [`Timeline::attempts`]; `None` for copies.
    place: Option<usize>,
    ended: bool,
    flags: Vec<Flagged>,
}

impl Known {
    /// Removes its flags from after `end`, each with that time.
    fn flagged_after(&mut self, end: Timestamp) -> impl Iterator<Item = (Flagged, Timestamp)> {
        self.flags.extract_if(.., move |flagged| flagged.at > end).map(move |flagged| (flagged, end))
    }
}

impl LiveGroup {
    /// A group of `tasks` tasks; `first` is the launch of its first task.
    #[must_use]
    pub fn new(tasks: usize, first: Launch, detectors: usize, options: &Options) -> Self {
        let mut group = Self {
            origin: first.at,
            timeline: Timeline { total: tasks, ..Timeline::default() },
            playback: Playback::new(tasks, options),
            states: (0..detectors).map(|_| DetectorState::new(0)).collect(),
            launches: Vec::new(),
            by_id: FxHashMap::default(),
            hosts: FxHashMap::default(),
            launched: FxHashSet::default(),
            succeeded: FxHashSet::default(),
            running: 0,
            reports: Vec::new(),
            withdrawn: Vec::new(),
        };
        group.launch(first);
        group
    }

    /// The number of attempts that run.
    #[must_use]
    pub const fn running(&self) -> usize {
        self.running
    }

    /// Approximate memory use in bytes.
    #[must_use]
    pub fn held(&self) -> u64 {
        let attempts = self.launches.len() as u64;
        let each = size_of::<Known>() + size_of::<Attempt>() + PER_ATTEMPT;
        let of_detectors = self.states.len() * size_of::<Option<Millis>>() + self.states.len();
        attempts.saturating_mul((each + of_detectors) as u64)
    }

    /// Whether the attempt was launched.
    pub(crate) fn knows(&self, id: u64) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Records a launch. A second launch of the same attempt changes nothing.
    pub fn launch(&mut self, launch: Launch) {
        if self.knows(launch.id) {
            return;
        }
        let row = self.launches.len();
        let start_ms = self.since(launch.at);
        if self.launched.insert(launch.task) {
            // Earlier scans are not repeated, so a launch that arrives late goes after the launches that they
            // have processed.
            let made = self.playback.launched();
            let later = self.timeline.launches.get(made..).unwrap_or_default();
            let at = made + later.partition_point(|&other| other <= start_ms);
            self.timeline.launches.insert(at, start_ms);
        }
        self.by_id.insert(launch.id, row);
        let speculative = launch.speculative;
        let node = launch.host.clone().map(|host| {
            let next = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
            *self.hosts.entry(host).or_insert(next)
        });
        self.launches.push(Known { launch, place: None, ended: false, flags: Vec::new() });
        self.running += 1;
        if speculative {
            return;
        }
        let begun = self.playback.begun();
        let waiting = self.timeline.attempts.get(begun..).unwrap_or_default();
        let place = begun + waiting.partition_point(|other| (other.start_ms, other.row) <= (start_ms, row));
        let attempt =
            Attempt { row, start_ms, finish_ms: i64::MAX, node, input: None, records: None, curve: None };
        self.timeline.attempts.insert(place, attempt);
        for (place, attempt) in self.timeline.attempts.iter().enumerate().skip(place) {
            if let Some(known) = self.launches.get_mut(attempt.row) {
                known.place = Some(place);
            }
        }
    }

    /// Records an end. Ends of attempts that were never launched, and second ends, change nothing.
    pub fn end(&mut self, end: &End) {
        let at_ms = self.since(end.at);
        let known = self.by_id.get(&end.id).and_then(|&row| self.launches.get_mut(row));
        let Some(known) = known.filter(|known| !known.ended) else { return };
        known.ended = true;
        self.running -= 1;
        let (task, start, speculative) = (known.launch.task, known.launch.at, known.launch.speculative);
        let place = known.place;
        self.withdrawn.extend(known.flagged_after(end.at));
        self.finish(place, at_ms);
        if end.outcome != Outcome::Succeeded || !self.succeeded.insert(task) {
            return;
        }
        if let Some(duration) = Millis::between(start, end.at) {
            let completion =
                Completion { at_ms, duration_ms: duration.get(), input: None, records: end.records };
            let made = self.playback.completed();
            let later = self.timeline.done.get(made..).unwrap_or_default();
            let at = made + later.partition_point(|other| other.completion.at_ms <= at_ms);
            self.timeline.done.insert(at, Done { completion, attempt: place });
        }
        if speculative {
            // After the copy has won, the originals no longer matter.
            let mut places = Vec::new();
            for other in self.launches.iter_mut().filter(|other| other.launch.task == task && !other.ended) {
                self.withdrawn.extend(other.flagged_after(end.at));
                places.push(other.place);
            }
            for place in places {
                self.finish(place, at_ms);
            }
        }
    }

    /// Records a report. Scans from its time on see it.
    pub fn report(&mut self, report: Report) {
        self.reports.push(report);
    }

    /// Ends all attempts that run, because the group has ended.
    pub fn close(&mut self, at: Timestamp) {
        let at_ms = self.since(at);
        let open = self.launches.iter_mut().filter(|known| !known.ended);
        let places: Vec<Option<usize>> = open
            .map(|known| {
                known.ended = true;
                self.withdrawn.extend(known.flagged_after(at));
                known.place
            })
            .collect();
        self.running = 0;
        for place in places {
            self.finish(place, at_ms);
        }
    }

    /// Flags of attempts that had already ended when they were flagged, because the end became known later;
    /// each with that end.
    pub fn withdrawn(&mut self) -> impl Iterator<Item = (Flagged, Timestamp)> + '_ {
        self.withdrawn.drain(..)
    }

    /// Makes all scans up to `until`, and passes attempts that are flagged for the first time to `flagged`.
    pub fn advance(
        &mut self,
        until: Option<Timestamp>,
        detectors: &[Box<dyn Detector>],
        mut flagged: impl FnMut(Flagged),
    ) {
        let mut reports = std::mem::take(&mut self.reports);
        reports.sort_by_key(|report| (report.at, report.id));
        for report in reports {
            // Scans before the report do not see it.
            let before = Timestamp::from_millis(report.at.as_millis().saturating_sub(1));
            self.scan(Some(until.map_or(before, |until| until.min(before))), detectors, &mut flagged);
            let at_ms = self.since(report.at);
            let known = self.by_id.get(&report.id).and_then(|&row| self.launches.get(row));
            if let Some(place) = known.and_then(|known| known.place) {
                self.playback.report(place, at_ms, report.progress, report.records);
            }
        }
        self.scan(until, detectors, &mut flagged);
    }

    fn scan(
        &mut self,
        until: Option<Timestamp>,
        detectors: &[Box<dyn Detector>],
        flagged: &mut impl FnMut(Flagged),
    ) {
        let origin = self.origin.as_millis();
        let until = until.map(|until| self.since(until));
        let attempts = self.timeline.attempts.len();
        self.states.iter_mut().for_each(|state| state.grow(attempts));
        let mut flags = Vec::new();
        while let Some(retired) = self.playback.advance(&self.timeline, until) {
            self.states.iter_mut().for_each(|state| state.retire(retired));
            let snapshot = self.playback.snapshot(&self.timeline);
            for (number, (detector, state)) in detectors.iter().zip(&mut self.states).enumerate() {
                flags.clear();
                detector.flag(&snapshot, &state.past(), &mut flags);
                let new = flags.iter().filter_map(|&place| snapshot.running.get(place));
                for attempt in new.filter(|attempt| !state.past().has_flagged(attempt)) {
                    let row = self.timeline.attempts.get(attempt.attempt).map(|attempt| attempt.row);
                    let Some(known) = row.and_then(|row| self.launches.get_mut(row)) else { continue };
                    let completed = snapshot.completed;
                    let flag = Flagged {
                        detector: number,
                        launch: known.launch.clone(),
                        at: Timestamp::from_millis(origin.saturating_add(snapshot.now_ms)),
                        elapsed: Millis::from_seconds(attempt.elapsed).unwrap_or_default(),
                        median: median(completed),
                        compared: detector.compared(&snapshot, attempt),
                    };
                    known.flags.push(flag.clone());
                    flagged(flag);
                }
                state.record(&snapshot, &flags);
            }
        }
    }

    /// Whether no further scan is possible.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.running == 0 && self.playback.is_at_end(&self.timeline)
    }

    fn since(&self, at: Timestamp) -> i64 {
        at.as_millis().saturating_sub(self.origin.as_millis())
    }

    fn finish(&mut self, place: Option<usize>, at_ms: i64) {
        if let Some(attempt) = place.and_then(|place| self.timeline.attempts.get_mut(place)) {
            attempt.finish_ms = attempt.finish_ms.min(at_ms);
        }
    }
}

fn median(completed: &Completed) -> Option<Millis> {
    let median = MedianRule::Ordinary.of(completed.count(), |rank| completed.duration_ms(rank))?;
    Millis::from_f64(median.round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::Engine;

    const SECOND: i64 = 1000;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * SECOND)
    }

    /// A task that was launched at the beginning and flagged after 50 s, and its copy.
    fn flagged_with_copy() -> LiveGroup {
        let original = Launch { id: 0, task: 0, attempt: Some(0), host: None, at: at(0), speculative: false };
        let copy = Launch { id: 1, attempt: Some(1), at: at(20), speculative: true, ..original.clone() };
        let flag = Flagged {
            detector: 0,
            launch: original.clone(),
            at: at(50),
            elapsed: Millis::from_secs(50),
            median: None,
            compared: None,
        };
        let mut group = LiveGroup::new(1, original, 1, &Options::of_engine(Engine::Spark));
        group.launch(copy);
        group.launches[0].flags.push(flag);
        group
    }

    fn withdrawn(mut group: LiveGroup) -> Vec<Timestamp> {
        group.withdrawn().map(|(_, end)| end).collect()
    }

    /// The end of a copy may become known late, and the original is over from then on.
    #[test]
    fn flags_from_after_the_copy_won_are_withdrawn() {
        let after = |won: i64| {
            let mut group = flagged_with_copy();
            group.end(&End { id: 1, at: at(won), outcome: Outcome::Succeeded, records: None });
            withdrawn(group)
        };
        assert_eq!(after(40), [at(40)]);
        assert!(after(60).is_empty());
    }

    #[test]
    fn flags_from_after_the_group_ended_are_withdrawn() {
        let after = |ended: i64| {
            let mut group = flagged_with_copy();
            group.close(at(ended));
            withdrawn(group)
        };
        assert_eq!(after(40), [at(40)]);
        assert!(after(60).is_empty());
    }
}
