//! Attempts: which of them takes a free slot, and the effects of its end.

use super::{Event, Run};
use crate::replay::Micros;
use crate::replay::spark::plan::{Attempt, Task, to_u32};

impl<'a> Run<'a> {
    fn attempt(&self, place: u32) -> Option<&'a Attempt> {
        self.plan.attempts.get(place as usize)
    }

    /// The attempts of a task that are part of this replay.
    fn attempts(&self, task: u32) -> impl Iterator<Item = (u32, &'a Attempt)> + use<'a> {
        let (plan, change) = (self.plan, self.change);
        let range =
            plan.tasks.get(task as usize).map(|task: &Task| task.attempts.clone()).unwrap_or_default();
        range.filter_map(move |place| {
            let attempt = plan.attempts.get(place as usize)?;
            change.keeps(place, attempt).then_some((place, attempt))
        })
    }

    /// The attempt that a task starts with: an original, if there is one.
    fn first_attempt(&self, task: u32) -> Option<(u32, &'a Attempt)> {
        let first = self.plan.tasks.get(task as usize)?.attempts.start;
        if let Some(only) = self.attempt(first).filter(|attempt| attempt.only) {
            return self.change.keeps(first, only).then_some((first, only));
        }
        let original = self.attempts(task).find(|(_, attempt)| !attempt.speculative);
        original.or_else(|| self.attempts(task).next())
    }

    pub(super) fn open_stage(&mut self, place: u32) {
        let Some(stage) = self.stage(place) else { return };
        let left = match self.change.tasks.get(&place) {
            Some(times) => to_u32(times.len()),
            None if self.change.keeps_all() => to_u32(stage.tasks.len()),
            None => to_u32(stage.tasks.clone().filter(|&task| self.attempts(task).next().is_some()).count()),
        };
        let replaced = self.change.tasks.contains_key(&place);
        let Some(state) = self.stages.get_mut(place as usize) else { return };
        state.open = true;
        state.left = left;
        if replaced {
            state.next = 0;
        }
        if left == 0 { self.end_stage(place) } else { self.make_ready(place) }
    }

    fn end_stage(&mut self, place: u32) {
        let end_lag = self.stage(place).map(|stage| stage.end_lag).unwrap_or_default();
        self.at(self.now + end_lag, Event::StageEnd(place));
    }

    /// Where the stage attempt stands among those with queued tasks.
    fn rank(&self, place: u32) -> (u32, u32, u32) {
        let running =
            self.stages.get(place as usize).filter(|_| self.plan.fair).map_or(0, |state| state.running);
        (running, self.stage(place).map_or(0, |stage| stage.job), place)
    }

    fn make_ready(&mut self, place: u32) {
        if self.stages.get(place as usize).is_some_and(|state| state.open) {
            self.ready.insert(self.rank(place));
        }
    }

    fn count_running(&mut self, place: u32, change: impl FnOnce(u32) -> u32) {
        // Only fair scheduling asks how many tasks run.
        if !self.plan.fair {
            return;
        }
        let before = self.rank(place);
        if let Some(state) = self.stages.get_mut(place as usize) {
            state.running = change(state.running);
        }
        if self.ready.remove(&before) {
            self.ready.insert(self.rank(place));
        }
    }

    /// Launches queued tasks while there are free slots.
    pub(super) fn fill_slots(&mut self) {
        while self.free > 0
            && let Some(&ready) = self.ready.first()
        {
            let (_, _, stage) = ready;
            if let Some(times) = self.change.tasks.get(&stage) {
                self.launch_replaced(stage, times);
            } else if let Some(next) = self.next_attempt(stage) {
                self.launch(next);
            } else {
                self.ready.remove(&ready);
            }
        }
    }

    fn launch_replaced(&mut self, stage: u32, times: &[Micros]) {
        let Some(state) = self.stages.get_mut(stage as usize) else { return };
        let Some(&time) = times.get(state.next as usize) else {
            let rank = self.rank(stage);
            self.ready.remove(&rank);
            return;
        };
        state.next += 1;
        self.occupy(stage, time);
        self.at(self.now + time, Event::ReplacedTaskEnd(stage));
    }

    pub(super) fn replaced_task_end(&mut self, stage: u32) {
        self.free += 1;
        self.count_running(stage, |running| running.saturating_sub(1));
        self.one_settled(stage);
    }

    /// Takes the next queued attempt of a stage attempt: in the order of recorded launches.
    fn next_attempt(&mut self, stage: u32) -> Option<u32> {
        loop {
            let first = self.next_first_attempt(stage);
            let state = self.stages.get_mut(stage as usize)?;
            let repeated = state.repeated.first().copied();
            let place = match (first, repeated) {
                (Some((place, attempt)), repeated)
                    if repeated.is_none_or(|repeated| (attempt.launch, place) <= repeated) =>
                {
                    state.next = attempt.task + 1;
                    place
                }
                (_, Some(repeated)) => {
                    state.repeated.remove(&repeated);
                    repeated.1
                }
                _ => return None,
            };
            let attempt = self.attempt(place)?;
            if attempt.only {
                return Some(place);
            }
            let task = self.tasks.entry(attempt.task).or_default();
            if !task.settled {
                return Some(place);
            }
            task.outstanding = task.outstanding.saturating_sub(1);
        }
    }

    fn next_first_attempt(&self, place: u32) -> Option<(u32, &'a Attempt)> {
        let state = self.stages.get(place as usize)?;
        let end = self.stage(place)?.tasks.end;
        (state.next..end).find_map(|task| self.first_attempt(task))
    }

    /// Takes a slot for `time`.
    fn occupy(&mut self, stage: u32, time: Micros) {
        self.free -= 1;
        self.task_time += time;
        self.count_running(stage, |running| running + 1);
    }

    fn launch(&mut self, place: u32) {
        let now = self.now;
        let Some(attempt) = self.attempt(place) else { return };
        let time = self.change.time(place, attempt);
        self.occupy(attempt.stage, time);
        self.at(now + time, Event::AttemptEnd(place));
        if attempt.early > Micros::ZERO {
            self.at(now + time - attempt.early.min(time), Event::SlotGivenBack);
        }
        // There is no other attempt to queue or to kill.
        if attempt.only {
            return;
        }
        self.ends.insert(place, now + time);
        let task = self.tasks.entry(attempt.task).or_default();
        // Repeated attempts and copies were counted when they were queued.
        if task.outstanding == 0 {
            task.outstanding = 1;
        }
        if attempt.speculative || task.copied {
            return;
        }
        task.copied = true;
        let copies =
            self.attempts(attempt.task).filter(|(_, copy)| copy.speculative && copy.launch >= attempt.launch);
        for (copy, recorded) in copies.collect::<Vec<_>>() {
            self.queue_later(copy, recorded, now + (recorded.launch - attempt.launch));
        }
    }

    fn queue_later(&mut self, place: u32, attempt: &Attempt, at: Micros) {
        self.tasks.entry(attempt.task).or_default().outstanding += 1;
        self.at(at, Event::Queued(place));
    }

    pub(super) fn queue(&mut self, place: u32) {
        let Some(attempt) = self.attempt(place) else { return };
        if let Some(state) = self.stages.get_mut(attempt.stage as usize) {
            state.repeated.insert((attempt.launch, place));
        }
        self.make_ready(attempt.stage);
    }

    pub(super) fn attempt_end(&mut self, place: u32) {
        let now = self.now;
        let Some(attempt) = self.attempt(place) else { return };
        if !attempt.only && self.ends.get(&place) != Some(&now) {
            return;
        }
        if attempt.early == Micros::ZERO {
            self.free += 1;
        }
        self.count_running(attempt.stage, |running| running.saturating_sub(1));
        if attempt.only {
            self.one_settled(attempt.stage);
            return;
        }
        self.ends.remove(&place);
        let task = self.tasks.entry(attempt.task).or_default();
        task.outstanding = task.outstanding.saturating_sub(1);
        let (settled, outstanding) = (task.settled, task.outstanding);
        if settled {
            return;
        }
        match self.attempts(attempt.task).find(|(other, next)| *other > place && !next.speculative) {
            // An output that was lost with its executor is computed again, some time after the end.
            Some((next, again)) if again.launch >= attempt.finish || !attempt.succeeded() => {
                let gap = if attempt.succeeded() { again.launch - attempt.finish } else { Micros::ZERO };
                self.queue_later(next, again, now + gap);
            }
            _ if attempt.succeeded() || outstanding == 0 => self.settle(place, attempt),
            _ => {}
        }
    }

    /// Nothing more is needed of the task: its other attempts are killed as long after the success as they were.
    fn settle(&mut self, place: u32, attempt: &Attempt) {
        let now = self.now;
        self.tasks.entry(attempt.task).or_default().settled = true;
        for (other, recorded) in
            self.attempts(attempt.task).filter(|(other, _)| *other != place).collect::<Vec<_>>()
        {
            let killed = now + (recorded.finish - attempt.finish).or_zero();
            if let Some(end) = self.ends.get_mut(&other).filter(|end| **end > killed) {
                let later = std::mem::replace(end, killed);
                self.task_time = self.task_time - (later - killed);
                self.at(killed, Event::AttemptEnd(other));
            }
        }
        self.one_settled(attempt.stage);
    }

    fn one_settled(&mut self, stage: u32) {
        let Some(state) = self.stages.get_mut(stage as usize) else { return };
        state.left = state.left.saturating_sub(1);
        if state.left == 0 {
            self.end_stage(stage);
        }
    }
}
