//! Slots: when executors open and close them.

use super::{Event, Run};
use crate::replay::spark::change::Slots;
use crate::replay::spark::slots::openings;

impl Run<'_> {
    /// Plans the slots whose times do not depend on the replay.
    pub(super) fn open_slots(&mut self) {
        let windows = &self.plan.windows;
        let openings = match self.change.slots {
            Slots::Recorded => Vec::new(),
            Slots::Number(slots) => openings(windows, slots),
            Slots::Unlimited => windows.first().map(|first| (first.from, i32::MAX)).into_iter().collect(),
        };
        if self.change.slots != Slots::Recorded {
            for (from, slots) in openings {
                self.at(from, Event::Slots(slots));
            }
            return;
        }
        for step in self.plan.steps.iter().take_while(|step| step.after.is_none()) {
            self.at(step.time, Event::Slots(step.slots));
        }
    }

    /// Plans the slots that follow the submission of a stage attempt.
    pub(super) fn move_executors(&mut self, stage: u32) {
        if self.change.slots != Slots::Recorded {
            return;
        }
        let first = self.plan.steps.partition_point(|step| step.after < Some(stage));
        for step in self.plan.steps.iter().skip(first).take_while(|step| step.after == Some(stage)) {
            self.at(self.now + step.time, Event::Slots(step.slots));
        }
    }
}
