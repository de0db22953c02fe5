//! What a trouble cost, as the finding that leads it says.

use crate::savings::Loss;
use elephant_base::units::Millis;
use elephant_rule::finding::{Finding, Measure, TroubleKind};

/// The keys of the time in which an application waited for a trouble, of one or several parts of it. The time in which
/// only stragglers ran is not all that they cost: before that, they hold slots that other tasks wait for.
const TIMES: &[(TroubleKind, &[&str])] = &[
    (TroubleKind::FewTasks, &["lost_ms"]),
    (TroubleKind::ManyTasks, &["lost_ms", "saved_ms"]),
    (TroubleKind::Skew, &["lost_ms", "lost_together_ms"]),
    (TroubleKind::Waiting, &["wait_ms"]),
];

/// What removing a trouble of this kind saves at most, by its leading finding.
pub(super) fn of(kind: TroubleKind, leading: Option<&Finding>) -> Loss {
    let Some(leading) = leading.filter(|leading| leading.tells == kind) else { return Loss::default() };
    let of_kind = TIMES.iter().find(|(of, _)| *of == kind).map(|(_, keys)| *keys);
    let keys = of_kind.unwrap_or(if kind.is_of_queries() { &["lost_ms"] } else { &[] });
    let wall = keys.iter().filter_map(|key| leading.time(key)).max();
    let collecting = leading.time("gc_time_ms").filter(|_| kind == TroubleKind::GarbageCollection);
    let wasted = match leading.measure("wasted_gb_hours") {
        Some(Measure::Number(hours, _)) if kind == TroubleKind::MuchMemory => *hours,
        _ => None,
    };
    Loss {
        wall_ms: wall.map(Millis::as_f64),
        is_of_run: kind == TroubleKind::ManyTasks,
        part: None,
        core_hours: collecting.map(|time| time.as_f64() / 3_600_000.0),
        gb_hours: wasted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before the time in which only stragglers ran, they held slots that other tasks waited for.
    #[test]
    fn the_time_in_which_only_stragglers_ran_is_not_all_that_they_cost() {
        let known = |kind: TroubleKind| TIMES.iter().any(|(of, _)| *of == kind);
        assert!(known(TroubleKind::Skew) && known(TroubleKind::FewTasks) && !known(TroubleKind::Stragglers));
    }
}
