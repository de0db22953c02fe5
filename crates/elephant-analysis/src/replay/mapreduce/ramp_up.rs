//! How many reduces may hold containers while maps wait for some.

use super::Kind;
use super::attempts::{Attempt, Task};
use crate::replay::Micros;
use elephant_base::whole::Whole;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;

/// Hadoop's default of `yarn.app.mapreduce.am.job.reduce.rampup.limit`.
const LIMIT: f64 = 0.5;

/// While maps wait, the application master asks for reduces up to the share of maps that have ended, but not above a
/// limit (Hadoop's `RMContainerAllocator.scheduleReduces`).
#[derive(Debug, Clone, Copy)]
pub(super) struct RampUp {
    /// A share of the containers.
    limit: f64,
    /// The recording shows that this many may run, such as in containers that the job had before or after its peak.
    recorded: usize,
}

impl RampUp {
    /// `None` for Hadoop 1, in which reduces have slots of their own. `attempts` are sorted by start.
    pub(super) fn of(app: &Application, tasks: &[Task], attempts: &[Attempt]) -> Option<Self> {
        if app.masters.is_empty() {
            return None;
        }
        let limit = app.conf.fraction(ConfKey::ReduceRampUp).unwrap_or(LIMIT).clamp(0.0, 1.0);
        let firsts =
            tasks.iter().filter(|task| task.kind == Kind::Map).filter_map(|task| task.attempts.first());
        let last_map = firsts.filter_map(|place| Some(attempts.get(*place)?.start)).max();
        let recorded = last_map.map_or(0, |start| most_reduces_before(attempts, start));
        Some(Self { limit, recorded })
    }

    /// The reduces that may hold some of these containers while maps wait, of which this many have ended and are left.
    pub(super) fn reduces(&self, containers: usize, (ended, left): (usize, usize)) -> usize {
        let share = ended as f64 / ended.saturating_add(left).max(1) as f64;
        let ideal = (share.min(self.limit) * containers as f64).as_usize();
        // What maps do not need is free for reduces.
        ideal.max(containers.saturating_sub(left)).max(self.recorded)
    }
}

/// The most reduces that ran at once before `time`.
fn most_reduces_before(attempts: &[Attempt], time: Micros) -> usize {
    let reduces = attempts.iter().filter(|attempt| attempt.kind == Kind::Reduce && attempt.start < time);
    let mut changes: Vec<(Micros, i64)> =
        reduces.flat_map(|reduce| [(reduce.start, 1), (reduce.end.min(time), -1)]).collect();
    // Of changes at the same time, ends come first.
    changes.sort_unstable();
    let running = changes.iter().scan(0_i64, |running, (_, change)| {
        *running += change;
        Some(*running)
    });
    usize::try_from(running.max().unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduces_get_the_share_of_ended_maps_up_to_the_limit() {
        let ramp = RampUp { limit: 0.5, recorded: 0 };
        assert_eq!(ramp.reduces(40, (0, 400)), 0);
        assert_eq!(ramp.reduces(40, (100, 300)), 10);
        assert_eq!(ramp.reduces(40, (300, 100)), 20);
        assert_eq!(ramp.reduces(40, (398, 2)), 38);
        assert_eq!(ramp.reduces(0, (0, 0)), 0);
        assert_eq!(RampUp { recorded: 30, ..ramp }.reduces(40, (300, 100)), 30);
        assert_eq!(RampUp { limit: 1.0, ..ramp }.reduces(40, (300, 100)), 30);
    }
}
