//! An unknown saving is not a saving of nothing: what the trouble cost limits it.

use super::*;
use elephant_base::units::MbMillis;
use elephant_engine::engine::{Options, analyze};
use elephant_rule::finding::TroubleKind as Kind;

/// Kinds whose cost no history tells: the sizes of one process, jobs that users cancelled, and logs that end early.
const WITHOUT_A_COST: [Kind; 9] = [
    Kind::Settings,
    Kind::Driver,
    Kind::Cancelled,
    Kind::Unfinished,
    Kind::Cluster,
    Kind::Imbalance,
    Kind::LittleMemory,
    Kind::FewExecutors,
    Kind::Other,
];

#[test]
fn what_a_trouble_cost_limits_an_unknown_saving() {
    let (Some(corpus), Some(runs)) = (shared("corpus"), shared("runs")) else { return };
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let (mut limited, mut whole_runs) = (0, 0);
    for app in &analyze(&[corpus, runs], &rules, Options::default()).applications {
        for trouble in &app.troubles {
            let (savings, name) = (&trouble.savings, format!("{}: {}", app.id, trouble.id));
            let SavingStatus::Unknown(why) = &savings.status else {
                assert_eq!(savings.at_most, None, "{name}: a saving that is known needs no limit");
                continue;
            };
            if WITHOUT_A_COST.contains(&trouble.kind) {
                continue;
            }
            let Some(limit) = &savings.at_most else {
                // Nothing limits it where the log has no times.
                assert!(!app.complete, "{name}: {why}");
                continue;
            };
            let run_time = app.metrics.run_time.map_or(f64::INFINITY, Millis::as_f64);
            let used = app.metrics.used.map_or(f64::INFINITY, MbMillis::as_gb_hours);
            let memory = limit.gb_hours.map_or(0.0, |memory| memory.high);
            assert!(limit.wall_ms.high <= run_time, "{name}: {limit:?} of {run_time}");
            assert!(memory <= used * (1.0 + 1e-9), "{name}: {limit:?} of {used}");
            limited += 1;
            whole_runs += u32::from(limit.wall_ms.high >= run_time);
        }
    }
    assert!(limited >= 20 && whole_runs >= 3, "{limited} limits, {whole_runs} of them whole runs");
}
