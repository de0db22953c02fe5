//! Sizes of containers that cannot be right are unknown: larger than any machine, or different from what the job's own
//! counters charge for them.

use super::problem::Problems;
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};

/// No container has more memory.
const LARGEST: Bytes = Bytes::from_mib(4 << 20);

/// The step of YARN's schedulers, if the configuration has none or a smaller one.
const STEP: Bytes = Bytes::from_mib(1024);

/// Hadoop starts no reduce task before the last map task if the share is above 1. A share in percent is a common mistake.
const SHARES: std::ops::RangeInclusive<f64> = 0.0..=100.0;

/// Checks the configuration of a job against itself and the counters of the job.
pub fn check(app: &mut Application, problems: &mut Problems) {
    for key in
        [ConfKey::MapMemoryMb, ConfKey::ReduceMemoryMb, ConfKey::MasterMemoryMb, ConfKey::MinimumAllocationMb]
    {
        let Some(size) = app.conf.mebibytes(key).filter(|&size| size > LARGEST) else { continue };
        forget(app, key);
        problems.warn("impossible-setting", None, || {
            format!("{} is {size}, and no container has more than {LARGEST}; it is unknown", key.name())
        });
    }
    if app.uberized != Some(true) {
        for key in [ConfKey::MapMemoryMb, ConfKey::ReduceMemoryMb] {
            compare(app, key, problems);
        }
    }
    let share = app.conf.fraction(ConfKey::SlowStart).filter(|share| !SHARES.contains(share));
    if let Some(share) = share {
        problems.warn("impossible-setting", None, || {
            let (name, taken) = (ConfKey::SlowStart.name(), if share < 0.0 { "0" } else { "1" });
            format!("{name} is {share}, which is not a share of the map tasks; Hadoop takes it as {taken}")
        });
    }
}

/// Compares the size that a job requested with the memory × time that it was charged. YARN rounds requests up to steps.
fn compare(app: &mut Application, key: ConfKey, problems: &mut Problems) {
    let Some((held, time)) = app.held_by_tasks(key).filter(|&(held, _)| held > 0) else { return };
    let charged = Bytes::from_f64(held as f64 / time as f64 * Bytes::PER_MIB as f64);
    let Some(charged) = charged.filter(|&charged| charged <= LARGEST) else {
        forget(app, key);
        problems.warn("impossible-counter", None, || {
            format!(
                "the counters of the job charge more than {LARGEST} for each task; the size of the containers \
                 ({}) is unknown",
                key.name()
            )
        });
        return;
    };
    let Some(size) = app.conf.mebibytes(key) else { return };
    let [least, most] = granted(&app.conf, size);
    // Sums are exact; a hundredth is room for versions that round.
    if charged.as_f64() * 1.01 < least.as_f64() || charged.as_f64() > most.as_f64() * 1.01 {
        forget(app, key);
        problems.warn("container-sizes-disagree", None, || {
            format!(
                "{} is {size}, but the counters of the job charge {charged} for each task; the size of the containers is \
                 unknown",
                key.name()
            )
        });
    }
}

/// The smallest and the largest container that YARN grants for a request.
fn granted(conf: &Conf, size: Bytes) -> [Bytes; 2] {
    let steps = [ConfKey::MinimumAllocationMb, ConfKey::IncrementAllocationMb];
    let step = steps.into_iter().filter_map(|key| conf.mebibytes(key)).chain([STEP]).max().unwrap_or(STEP);
    let rounded = size.whole_mib().div_ceil(step.whole_mib()).saturating_mul(step.whole_mib());
    let cap = conf.mebibytes(ConfKey::MaximumAllocationMb);
    [cap.map_or(size, |cap| cap.min(size)), Bytes::from_mib(rounded)]
}

fn forget(app: &mut Application, key: ConfKey) {
    app.conf.remove(key);
    if !app.unknown_sizes.contains(&key) {
        app.unknown_sizes.push(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::Engine;
    use elephant_model::model::conf::Property;
    use elephant_model::model::counters::{CounterSet, OtherCounter};
    use elephant_model::model::table::TaskKind;

    fn job(settings: &[(&str, &str)], held: i64) -> Application {
        let mut app = Application::new(Engine::MapReduce);
        for (name, value) in settings {
            let property = Property { value: (*value).to_owned(), is_final: true };
            app.conf.insert((*name).to_owned(), property);
        }
        let mut total = CounterSet::default();
        for (name, value) in [("MB_MILLIS_MAPS", held), ("MILLIS_MAPS", 1000)] {
            let (Some(group), Some(name)) = (app.strings.intern("JobCounter"), app.strings.intern(name))
            else {
                continue;
            };
            total.others.push(OtherCounter { group, name, value });
        }
        app.counters.total = Some(total);
        app
    }

    /// The size of map containers in the configuration, whether it is unknown, and the codes of the warnings.
    fn checked(mut app: Application) -> (Option<u64>, bool, Vec<&'static str>) {
        let mut problems = Problems::default();
        check(&mut app, &mut problems);
        let codes = problems.into_vec().into_iter().map(|problem| problem.known_code()).collect();
        let size = app.conf.mebibytes(ConfKey::MapMemoryMb).map(Bytes::whole_mib);
        assert!(app.unknown_sizes.is_empty() || app.task_container(TaskKind::Map).is_none());
        (size, !app.unknown_sizes.is_empty(), codes)
    }

    #[test]
    fn a_container_is_as_large_as_the_counters_say() {
        const SIZE: &str = "mapreduce.map.memory.mb";
        let fits = |size| (size, false, Vec::new());
        assert_eq!(checked(job(&[(SIZE, "1024")], 1_024_000)), fits(Some(1024)));
        assert_eq!(checked(job(&[], 1_024_000)), fits(None));
        // Rounded up to the scheduler's step, or cut to its maximum.
        assert_eq!(checked(job(&[(SIZE, "1100")], 2_048_000)), fits(Some(1100)));
        let coarse = [(SIZE, "1024"), ("yarn.scheduler.minimum-allocation-mb", "4096")];
        assert_eq!(checked(job(&coarse, 4_096_000)), fits(Some(1024)));
        let capped = [(SIZE, "16384"), ("yarn.scheduler.maximum-allocation-mb", "8192")];
        assert_eq!(checked(job(&capped, 8_192_000)), fits(Some(16_384)));
        let disagree = (None, true, vec!["container-sizes-disagree"]);
        assert_eq!(checked(job(&[(SIZE, "1024")], 3_072_000)), disagree);
        assert_eq!(checked(job(&[(SIZE, "2048")], 1_024_000)), disagree);
    }

    #[test]
    fn no_container_is_larger_than_machines() {
        let huge =
            [("mapred.job.map.memory.mb", "1024000000"), ("mapreduce.job.heap.memory-mb.ratio", "0.8")];
        assert_eq!(checked(job(&huge, 0)), (None, true, vec!["impossible-setting"]));
        assert_eq!(checked(job(&[], 1_024_000_000_000_000)), (None, true, vec!["impossible-counter"]));
    }

    #[test]
    fn a_share_of_map_tasks_is_between_0_and_1() {
        const SHARE: &str = "mapreduce.job.reduce.slowstart.completedmaps";
        for (share, codes) in [("0.8", 0), ("2", 0), ("80", 0), ("1e9", 1), ("-5", 1), ("lots", 0)] {
            assert_eq!(checked(job(&[(SHARE, share)], 0)).2.len(), codes, "{share}");
        }
    }
}
