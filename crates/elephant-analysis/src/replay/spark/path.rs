//! The bounds of an application: its slots, its driver, and the chain of stages that wait for each other.

use super::plan::Plan;
use super::schedule::Outcome;
use crate::replay::Micros;
use elephant_model::model::spark::StageAttempt;

/// Start and end of stage attempts or jobs, by their place.
type Times = [(Micros, Micros)];

impl Plan {
    /// The most slots that are open at once.
    #[must_use]
    pub fn peak_slots(&self) -> u32 {
        let mut steps: Vec<(Micros, i64)> = Vec::new();
        for window in &self.windows {
            let slots = i64::from(window.slots);
            steps.push((window.from, slots));
            steps.extend(window.to.map(|to| (to, -slots)));
        }
        steps.sort_unstable();
        let (mut open, mut peak) = (0, 0);
        for (_, step) in steps {
            open += step;
            peak = peak.max(open);
        }
        u32::try_from(peak).unwrap_or(u32::MAX)
    }

    /// The most executors at once, and the slots of one, if all have as many.
    #[must_use]
    pub fn executor_slots(&self) -> Option<(u32, u32)> {
        let slots = self.windows.first()?.slots;
        let alike = slots > 0 && self.windows.iter().all(|window| window.slots == slots);
        alike.then(|| (self.peak_slots() / slots, slots))
    }

    /// The time in which no job ran.
    #[must_use]
    pub fn driver_time(&self) -> Micros {
        let mut busy = Micros::ZERO;
        let mut until = Micros::ZERO;
        for job in &self.jobs {
            let end = job.end.min(self.recorded);
            busy += (end - job.submitted.max(until)).or_zero();
            until = until.max(end);
        }
        (self.recorded - busy).or_zero()
    }

    /// The stage attempts that the end of the application waited for, one after the other, longest first.
    #[must_use]
    pub fn path(&self, outcome: &Outcome) -> Vec<(u32, Micros)> {
        let mut path = self.path_of(&outcome.stages, &outcome.jobs);
        path.sort_by_key(|&(place, time)| (std::cmp::Reverse(time), place));
        path
    }

    /// The same as recorded, last first.
    #[must_use]
    pub fn recorded_path(&self) -> Vec<StageAttempt> {
        let stages: Vec<_> = self.stages.iter().map(|stage| (stage.submitted, stage.end)).collect();
        let jobs: Vec<_> = self.jobs.iter().map(|job| (job.submitted, job.end)).collect();
        let path = self.path_of(&stages, &jobs).into_iter();
        path.filter_map(|(place, _)| Some(self.stages.get(place as usize)?.id)).collect()
    }

    /// From the last stage attempt back to the first.
    fn path_of(&self, stages: &Times, jobs: &Times) -> Vec<(u32, Micros)> {
        let end_of_stage = |place: u32| stages.get(place as usize).map(|(_, end)| *end);
        let end_of_job = |place: u32| jobs.get(place as usize).map(|(_, end)| *end);
        let last = |places: &[u32], end: &dyn Fn(u32) -> Option<Micros>| {
            places.iter().copied().max_by_key(|&place| (end(place), place))
        };
        // For each order and each n, the job among the first n that ended last.
        let mut lasts: Vec<Vec<u32>> = Vec::new();
        for order in &self.orders {
            let running_last = order.jobs.iter().scan(None, |latest: &mut Option<u32>, &job| {
                *latest = (*latest).into_iter().chain([job]).max_by_key(|&job| (end_of_job(job), job));
                *latest
            });
            lasts.push(running_last.collect());
        }
        let mut job = lasts.first().and_then(|lasts| lasts.last()).copied();
        let mut path: Vec<(u32, Micros)> = Vec::new();
        // In a damaged log, stage attempts of one moment may wait for each other.
        let mut seen = vec![false; self.stages.len()];
        let mut is_new =
            |place: u32| seen.get_mut(place as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        while let Some(current) = job.and_then(|job| self.jobs.get(job as usize)) {
            let mut stage = last(&current.needs, &end_of_stage);
            while let Some(place) = stage.filter(|&place| is_new(place)) {
                let times = stages.get(place as usize);
                path.extend(times.map(|(from, to)| (place, *to - *from)));
                stage =
                    self.stages.get(place as usize).and_then(|stage| last(&stage.waits_for, &end_of_stage));
            }
            let before = lasts.get(current.order as usize);
            job = before.and_then(|lasts| lasts.get((current.waits_for as usize).checked_sub(1)?)).copied();
        }
        path
    }
}
