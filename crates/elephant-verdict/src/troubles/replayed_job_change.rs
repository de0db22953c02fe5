//! Changes of settings that would make a MapReduce job slower, or do it no good.

use super::value::{larger_splits, magnitude};
use crate::savings::{ChangeEffect, MapReduceReplays};
use elephant_analysis::replay::mapreduce::{Cause, Kind, StartUp};
use elephant_base::units::Bytes;
use elephant_model::model::conf::ConfKey;
use elephant_rule::finding::SettingChange;

/// Why a change does the job no good, as far as a replay can tell. More tasks must not make it slower. Fewer tasks must
/// make it faster by more than the error of the replay, even if starting a task takes as long as it may. Reduce tasks that
/// start later must make it faster, or hold their containers for the share `less_held` less time.
pub(super) fn of(replays: &MapReduceReplays, change: &SettingChange, less_held: f64) -> Option<String> {
    let sets = |key: ConfKey| key.names().contains(&change.setting.as_str());
    let to = magnitude(&change.setting, &change.to)?;
    let split = || Some(Cause::SplitSize(Bytes::from_f64(to)?, StartUp::Container));
    if sets(ConfKey::Maps) {
        let count: u32 = change.to.parse().ok()?;
        return without_effect(
            &replays.effect_of(Cause::Tasks(Kind::Map, count as usize, StartUp::Container))?,
            false,
        );
    }
    if let Some(is_larger) = larger_splits(change) {
        return without_effect(&replays.effect_of(split()?)?, is_larger);
    }
    if sets(ConfKey::Reduces) {
        let count: u32 = change.to.parse().ok()?;
        let effect = replays.effect_of(Cause::Tasks(Kind::Reduce, count as usize, StartUp::Container))?;
        return without_effect(&effect, count < replays.reduces());
    }
    if sets(ConfKey::SlowStart) {
        let effect = replays.effect_of(Cause::SlowStart(to))?;
        let helps = effect.held >= less_held || effect.wall_ms > 0.0;
        return (!helps).then(|| "reduce tasks would wait as long".to_owned());
    }
    None
}

fn without_effect(effect: &ChangeEffect, is_fewer: bool) -> Option<String> {
    if effect.wall_ms < -effect.error_ms {
        return Some("the job would take longer".to_owned());
    }
    let helps = if is_fewer {
        effect.wall_ms.min(effect.start_ups_ms) > effect.error_ms
    } else {
        effect.wall_ms > 0.0
    };
    (!helps).then(|| "the job would be no faster".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::troubles::tests::built_in;
    use elephant_analysis::metrics::Metrics;
    use elephant_base::units::Timestamp;
    use elephant_model::model::counters::Counter;
    use elephant_model::model::table::TaskKind;
    use elephant_model::model::{Application, MasterAttempt};
    use elephant_ruleset::RuleSet;

    /// This many map tasks of 128 MiB that take this many seconds, on ten containers; then a reduce task of an hour.
    fn job(maps: i64, seconds: i64) -> Application {
        let start = |place: i64| (seconds + 1) * (place / 10);
        let times = (0..maps).map(|place| (start(place), Some(start(place) + seconds)));
        let mut maps = elephant_sample::tasks(TaskKind::Map, times);
        for row in 0..maps.attempts.len() {
            maps.attempts.set_counter(row, Counter::HdfsBytesRead, Some(128 << 20));
        }
        let last = maps.sorted_ends().last().unwrap().as_millis() / 1000;
        let reduces = elephant_sample::tasks(TaskKind::Reduce, [(last, Some(last + 3600))]);
        let mut app = elephant_sample::job(vec![maps, reduces], &[]);
        app.masters.push(MasterAttempt { started_at: None, node: None });
        app.finished_at = Some(Timestamp::from_millis(1000 * (last + 3600)));
        app
    }

    fn rules() -> RuleSet {
        RuleSet::new(elephant_heuristics::BUILT_IN).unwrap()
    }

    fn harm(app: &Application, setting: &str, to: &str) -> Option<String> {
        let replays = MapReduceReplays::of(app, rules().metrics(), &Metrics::default()).unwrap();
        let change = SettingChange { setting: setting.to_owned(), from: None, to: to.to_owned() };
        of(&replays, &change, built_in().less_held.get())
    }

    #[test]
    fn a_lower_minimum_makes_more_tasks() {
        let app = job(45, 360);
        let replays = MapReduceReplays::of(&app, rules().metrics(), &Metrics::default()).unwrap();
        let of = |setting: &str, from: &str, mib: u64| {
            let to = (mib << 20).to_string();
            super::of(
                &replays,
                &SettingChange { setting: setting.to_owned(), from: Some(from.to_owned()), to },
                built_in().less_held.get(),
            )
        };
        // Nine full waves of half the time instead of five, the last of which is half empty.
        assert_eq!(of(MINIMUM, "17179869184", 64), None);
        let maximum = "mapreduce.input.fileinputformat.split.maxsize";
        assert_eq!(of(maximum, "1048576", 640).unwrap(), "the job would be no faster");
    }

    const MINIMUM: &str = "mapreduce.input.fileinputformat.split.minsize";
    const REDUCES: &str = "mapreduce.job.reduces";

    #[test]
    fn larger_splits_must_make_the_job_faster() {
        // Fifty normal tasks: ten of five minutes save the start of four waves.
        assert_eq!(harm(&job(50, 60), MINIMUM, "671088640").unwrap(), "the job would be no faster");
        // Five tasks leave half of the containers idle.
        assert_eq!(harm(&job(50, 360), MINIMUM, "1342177280").unwrap(), "the job would take longer");
        // Tiny tasks, in three hundred waves.
        assert_eq!(harm(&job(3000, 5), MINIMUM, "3355443200"), None);
    }

    #[test]
    fn more_reduces_must_not_make_the_job_slower() {
        assert_eq!(harm(&job(50, 60), REDUCES, "8"), None);
        assert_eq!(harm(&job(50, 60), "mapreduce.task.io.sort.mb", "8"), None);
    }
}
