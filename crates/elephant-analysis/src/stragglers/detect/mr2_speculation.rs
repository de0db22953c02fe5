//! The result of Hadoop's speculator for each attempt: when it would have got a copy, or what prevented one.

use super::Detector;
use super::mr2::{Mr2, Worth, gate_is_open};
use crate::stragglers::replay::{DetectorState, Options, Playback, Timeline};
use elephant_base::units::Millis;

/// Result for an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// No scan saw it with a report, or its progress is not logged.
    Unseen,
    /// Too few tasks of its kind were done while it ran.
    TooFewDone,
    /// Its estimate never promised a saving: it seemed to end before a new attempt could.
    NeverWorth,
    /// There was a saving, but tasks of its kind waited for containers, which blocks speculation.
    ContainersWaited,
    /// There was a saving, but the speculator waited after its last copy, another task had a greater saving,
    /// or the maximum number of copies (a setting) was running.
    Paced,
    /// It would have got a copy this long after its launch.
    Speculated(Millis),
}

impl Fate {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unseen => "unseen",
            Self::TooFewDone => "too-few-done",
            Self::NeverWorth => "never-worth",
            Self::ContainersWaited => "containers-waited",
            Self::Paced => "paced",
            Self::Speculated(_) => "speculated",
        }
    }
}

/// The fate of each attempt of a timeline under a speculator. If several reasons prevented a copy, the result
/// is the reason closest to getting a copy.
#[must_use]
pub fn fates(timeline: &Timeline, speculator: &Mr2, options: &Options) -> Vec<Fate> {
    let mut fates = vec![Fate::Unseen; timeline.attempts.len()];
    let mut state = DetectorState::new(timeline.attempts.len());
    let mut playback = Playback::new(timeline.total, options);
    let mut flags = Vec::new();
    while let Some(retired) = playback.advance(timeline, None) {
        state.retire(retired);
        let snapshot = playback.snapshot(timeline);
        let past = state.past();
        let open = gate_is_open(snapshot.completed.count(), snapshot.total);
        let worths = if open { speculator.worths(&snapshot, &past) } else { Vec::new() };
        for (place, attempt) in
            snapshot.running.iter().enumerate().filter(|(_, it)| it.reported_progress().is_some())
        {
            let now = match worths.get(place) {
                None => Fate::TooFewDone,
                Some(Worth::Saves(_)) if snapshot.pending > 0 => Fate::ContainersWaited,
                Some(Worth::Saves(_)) => Fate::Paced,
                Some(_) => Fate::NeverWorth,
            };
            if let Some(fate) = fates.get_mut(attempt.attempt) {
                *fate = now.max(*fate);
            }
        }
        flags.clear();
        speculator.flag(&snapshot, &past, &mut flags);
        state.record(&snapshot, &flags);
    }
    for (fate, first) in fates.iter_mut().zip(state.first_flags()) {
        if let Some(first) = first {
            *fate = Fate::Speculated(*first);
        }
    }
    fates
}

#[cfg(test)]
mod tests {
    use super::super::Completion;
    use super::*;
    use crate::stragglers::progress::ProgressCurve;
    use crate::stragglers::replay::{Attempt, Done};
    use elephant_model::model::Engine;

    fn timeline(spans: &[(i64, i64)], waiting: usize) -> Timeline {
        let attempts: Vec<Attempt> = spans
            .iter()
            .enumerate()
            .map(|(row, &(start_ms, finish_ms))| Attempt {
                row,
                start_ms,
                finish_ms,
                node: None,
                input: None,
                records: None,
                curve: ProgressCurve::linear((finish_ms - start_ms) as f64),
            })
            .collect();
        let done = |(place, attempt): (usize, &Attempt)| Done {
            completion: Completion {
                at_ms: attempt.finish_ms,
                duration_ms: (attempt.finish_ms - attempt.start_ms).unsigned_abs(),
                input: None,
                records: None,
            },
            attempt: Some(place),
        };
        let mut done: Vec<Done> = attempts.iter().enumerate().map(done).collect();
        done.sort_by_key(|done| done.completion.at_ms);
        Timeline { total: spans.len() + waiting, launches: vec![0; spans.len()], attempts, done }
    }

    fn fates_of(spans: &[(i64, i64)], waiting: usize, speculator: Mr2) -> Vec<&'static str> {
        let timeline = timeline(spans, waiting);
        let fates = fates(&timeline, &speculator, &Options::of_engine(Engine::MapReduce));
        fates.into_iter().map(Fate::name).collect()
    }

    #[test]
    fn reasons_that_prevent_a_copy() {
        assert_eq!(fates_of(&[(0, 2000), (0, 2000)], 0, Mr2::LEGACY), ["unseen"; 2]);
        let slow = [(0, 30_000), (0, 300_000), (0, 29_000)];
        let expected = ["never-worth", "speculated", "too-few-done"];
        assert_eq!(fates_of(&slow, 0, Mr2::LEGACY), expected);
        assert_eq!(fates_of(&slow, 1, Mr2::LEGACY)[1], "containers-waited");
        assert_eq!(fates_of(&[(0, 30_000), (0, 30_000)], 0, Mr2::LEGACY), ["too-few-done"; 2]);
        // Two are equally slow; the second would have to wait longer than it runs.
        let two = [(0, 30_000), (0, 100_000), (0, 100_000)];
        let patient = Mr2 { retry_after_speculate_ms: 100_000, ..Mr2::LEGACY };
        assert_eq!(fates_of(&two, 0, patient), ["too-few-done", "speculated", "paced"]);
        assert_eq!(fates_of(&two, 0, Mr2::LEGACY), ["too-few-done", "speculated", "speculated"]);
    }
}
