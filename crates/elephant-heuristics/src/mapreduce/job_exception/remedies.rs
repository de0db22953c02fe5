//! Remedies for the failure of a job, by kind: settings with their values, or what to change in the code or the cluster.

use super::refused::Refused;
use crate::mapreduce::support::containers::container_for;
use crate::mapreduce::support::heap::{Heap, at_most_the_largest, container_for_heap};
use crate::mapreduce::support::java_opts::JvmOptions;
use crate::mapreduce::support::role::Role;
use crate::mapreduce::support::settings::own_java_opts;
use elephant_base::units::Bytes;
use elephant_catalogue::Advised;
use elephant_model::diagnosis::FailureKind;
use elephant_model::engine_facts::hadoop::{HEAP_SHARE, TASK_TIMEOUT_MS, USUAL_HEAP};
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Status};
use elephant_rule::finding::{Advice, Failure, SettingChange};
use elephant_rule::wording::{by_hadoop, change, name_for};

const HEAP: &str = "-Xmx";
/// The remedy for the root cause; for an unknown one, where to look.
pub(super) fn against(app: &Advised<'_>, failure: Option<&Failure>, error: &str) -> Vec<Advice> {
    if let Some(refused) = Refused::of(app) {
        let remedy = Advice::new(FailureKind::LaunchFailure.remedy());
        return vec![refused.remedy(app).unwrap_or(remedy)];
    }
    if app.status == Status::Killed {
        let told = failure.filter(|failure| failure.kind != FailureKind::ApplicationKill);
        let remedy = told.map(|failure| Advice::new(failure.kind.remedy_of_job()));
        return vec![remedy.unwrap_or_else(|| {
            let command = by_hadoop(app, "mapred job -kill", "hadoop job -kill");
            format!(
                "find out who killed it: a user ({command}), preemption by the scheduler, or a run-time limit"
            )
            .into()
        })];
    }
    let Some(failure) = failure else { return vec![where_to_look(app)] };
    of_failure(app, failure, error)
}

/// The remedy for a failure that attempts report as `error`.
pub(crate) fn of_failure(app: &Advised<'_>, failure: &Failure, error: &str) -> Vec<Advice> {
    let role = role_of(app, error);
    let remedy = || Advice::new(failure.kind.remedy_of_job());
    match failure.kind {
        FailureKind::HeapSpace | FailureKind::GcOverhead => {
            fitting_buffer(app, role, error).unwrap_or_else(|| vec![more_heap(app, role)])
        }
        FailureKind::ContainerMemory => match fitting_heap(app, role, error) {
            Some(smaller) => {
                let larger = larger_container(app, role, error).map(|larger| {
                    let text = format!("if they then run out of heap, {larger}");
                    Advice { text, ..larger }.conditional()
                });
                std::iter::once(smaller).chain(larger).collect()
            }
            None => vec![more_memory(app, role, error)],
        },
        FailureKind::DirectMemory | FailureKind::NativeMemory | FailureKind::Metaspace => {
            vec![remedy(), more_memory(app, role, error).conditional()]
        }
        FailureKind::TaskTimeout => vec![wait_longer(app, error)],
        FailureKind::DiskFull if app.conf.flag(ConfKey::MapOutputCompress) != Some(true) => vec![
            remedy(),
            Advice::new(format!("if map output fills local disks ({}), compress it", local_disks(app)))
                .set([change(app, ConfKey::MapOutputCompress, "true")])
                .conditional(),
        ],
        FailureKind::LocalDisks => vec![
            remedy(),
            Advice::new("avoid nodes on which tasks fail")
                .set([change(app, ConfKey::MaxFailuresPerTracker, 1)])
                .conditional(),
        ],
        FailureKind::CommitDenied if app.conf.flag(role.speculative()) == Some(true) => vec![
            remedy(),
            Advice::new("if copies of tasks are denied again and again, do not start them")
                .set([change(app, role.speculative(), "false")])
                .conditional(),
        ],
        FailureKind::UserCode | FailureKind::PythonError | FailureKind::TooManyFailures => {
            vec![remedy().and("; ").and(&where_to_look(app))]
        }
        _ => vec![remedy()],
    }
}

/// The role whose attempts failed with `error`.
fn role_of(app: &Application, error: &str) -> Role {
    let symbol = app.strings.find(error);
    let died = |kind| {
        app.group(kind)
            .is_some_and(|group| group.attempts.diagnostics().iter().any(|&(_, text)| Some(text) == symbol))
    };
    if symbol.is_some() && !died(TaskKind::Map) && died(TaskKind::Reduce) { Role::Reduce } else { Role::Map }
}

/// The class that allocates the sort buffer, in the stack of an error.
const BUFFER: &str = "MapTask$MapOutputBuffer.init";

/// The remedy if the heap was full when the sort buffer was allocated: a buffer of at most half of the heap, or a heap of
/// twice the buffer. The buffer is one array in the old generation, which two thirds of the heap hold. `None` if that is not
/// the reason.
fn fitting_buffer(app: &Advised<'_>, role: Role, error: &str) -> Option<Vec<Advice>> {
    let heap = app.task_heap(role.kind()).filter(|_| role == Role::Map && error.contains(BUFFER))?;
    let buffer = app.in_force(ConfKey::SortMb, Conf::mebibytes)?;
    let half = Bytes::from_mib(heap.whole_mib() / 2);
    if buffer <= half {
        return None;
    }
    let what = format!("the sort buffer of {buffer} does not fit the heap of {heap}: make it smaller");
    let smaller = Advice::new(what).set([change(app, ConfKey::SortMb, half.whole_mib())]);
    let twice = Bytes::from_mib(buffer.whole_mib().saturating_mul(2));
    let larger = (at_most_the_largest(app, twice) == twice).then(|| {
        let larger = enlarge(app, role, (heap, twice));
        Advice { text: format!("or, if map tasks would then spill again, {larger}"), ..larger }.conditional()
    });
    Some(std::iter::once(smaller).chain(larger).collect())
}

/// Half as much heap again, or what other rules advise if that is more, and a container that holds it.
fn more_heap(app: &Advised<'_>, role: Role) -> Advice {
    let now = app.task_heap(role.kind());
    let base = now.unwrap_or(USUAL_HEAP);
    let larger = Bytes::from_mib(base.whole_mib().saturating_mul(3).div_ceil(2));
    // Other troubles of the job may need still more, such as a larger sort buffer: each setting has one value.
    let wanted = app.group(role.kind()).and_then(|group| Heap::of(app, role, group).larger);
    let larger = larger.max(wanted.unwrap_or_default());
    let larger = at_most_the_largest(app, larger);
    if larger.whole_mib() <= base.whole_mib() {
        return less_data(role);
    }
    // Without a version, nothing tells how large the heap was.
    if now.is_none() && app.conf.text(role.java_opts()).is_none() {
        let present = app.conf.mebibytes(role.memory());
        let memory = present.map(|now| half_more(app, now));
        if memory.is_some_and(|memory| present.is_some_and(|now| memory <= now.whole_mib())) {
            return less_data(role);
        }
        let text = format!(
            "enlarge the heap of the {} by half: -Xmx in {}",
            role.plural(),
            own_java_opts(app, role)
        );
        return match memory {
            Some(memory) => {
                Advice::new(format!("{text}, and their containers")).set([change(app, role.memory(), memory)])
            }
            None => Advice::new(text),
        };
    }
    enlarge(app, role, (base, larger))
}

/// A heap that grows, and a container that holds it.
fn enlarge(app: &Advised<'_>, role: Role, (base, larger): (Bytes, Bytes)) -> Advice {
    let container = container_for_heap(app, larger);
    let enough = app.task_container(role.kind()).is_some_and(|now| now >= container)
        || app.task_memory_is_unlimited(role.kind());
    let memory = (!enough).then(|| change(app, role.memory(), container.whole_mib()));
    let opts = java_opts(app, role, larger);
    // Other options may be many and hold passwords.
    let heap = format!("-Xmx in {} {}m → {}m", opts.setting, base.whole_mib(), larger.whole_mib());
    let text = match &memory {
        Some(memory) => format!("{heap}, and {memory}"),
        None => heap,
    };
    Advice { text, ..Advice::default().set_for_first(std::iter::once(opts).chain(memory)) }
}

/// The JVM options of a role with another heap limit.
fn java_opts(app: &Application, role: Role, heap: Bytes) -> SettingChange {
    let set = app.conf.text(role.java_opts()).unwrap_or_default();
    let limit = format!("{HEAP}{}m", heap.whole_mib());
    let others = set.split_whitespace().filter(|option| !option.starts_with(HEAP));
    let to = others.chain([limit.as_str()]).collect::<Vec<_>>().join(" ");
    let own = own_java_opts(app, role);
    let from = app.conf.raw(own).filter(|options| !options.trim().is_empty());
    SettingChange { setting: own.to_owned(), from, to }
}

/// The remedy if the container cannot grow.
fn less_data(role: Role) -> Advice {
    let (task, most) = (role.kind().name(), ConfKey::MaximumAllocationMb.name());
    format!("give each {task} task less data: the cluster grants no larger containers ({most})").into()
}

fn half_more(app: &Advised<'_>, now: Bytes) -> u64 {
    container_for(app, Bytes::from_mib(now.whole_mib().saturating_mul(3) / 2)).whole_mib()
}

/// Half as much memory again, but at least a quarter more than the use that the error reports: the container may have
/// been larger than requested, because schedulers round up.
fn more_memory(app: &Advised<'_>, role: Role, error: &str) -> Advice {
    if let Some(larger) = larger_container(app, role, error) {
        let heap = app.conf.heap_limit(role.java_opts());
        return if heap.is_some() { larger } else { larger.and(", or limit -Xmx to 80 % of the container") };
    }
    let key = name_for(app, role.memory());
    match app.task_container(role.kind()) {
        Some(_) => less_data(role),
        None => format!("increase {key} by half, or lower -Xmx to 80 % of it").into(),
    }
}

/// The same without an alternative, with a heap that fits if the present one does not. `None` if the size of the container is
/// unknown, or if the cluster grants no larger one.
fn larger_container(app: &Advised<'_>, role: Role, error: &str) -> Option<Advice> {
    let now = app.task_container(role.kind())?;
    let larger = half_more(app, now).max(for_used(app, error).unwrap_or_default());
    // Other troubles of the job may need a larger heap: each setting has one value.
    let heap = app.group(role.kind()).and_then(|group| Heap::of(app, role, group).container(app));
    let larger = Bytes::from_mib(larger).max(heap.unwrap_or_default());
    if larger <= now {
        return None;
    }
    let fitting = Bytes::from_f64(larger.as_f64() * HEAP_SHARE)?;
    let is_too_large = app.conf.heap_limit(role.java_opts()).is_some_and(|heap| heap > fitting);
    let heap = is_too_large.then(|| JvmOptions::of(app, role).with_heap(fitting));
    let what = if is_too_large {
        "request larger containers, with a heap that fits"
    } else {
        "request larger containers"
    };
    let memory = change(app, role.memory(), larger.whole_mib());
    Some(Advice::new(what).set(std::iter::once(memory).chain(heap)))
}

/// A heap that leaves room for the rest of the process, if the present one does not, and if no task used more. It costs
/// nothing, unlike a larger container. `None` if it would be hardly smaller, if it would not make up for what the killed
/// process used beyond its container, or if other troubles need a larger one.
fn fitting_heap(app: &Advised<'_>, role: Role, error: &str) -> Option<Advice> {
    let container = app.task_container(role.kind())?;
    let fitting = Bytes::from_f64(container.as_f64() * HEAP_SHARE)?;
    let beyond = used(error).map_or(0.0, |used| used.as_f64() - container.as_f64());
    let least = beyond.max(container.as_f64() * app.advice.least_heap_cut.get());
    let now = app.conf.heap_limit(role.java_opts());
    let now = now.filter(|now| now.as_f64() - fitting.as_f64() >= least)?;
    let group = app.group(role.kind())?;
    if Heap::of(app, role, group).larger.is_some_and(|larger| larger > fitting) {
        return None;
    }
    let committed = group.winners().filter_map(|row| group.attempts.bytes(row, Counter::CommittedHeapBytes));
    let committed = committed.max().filter(|most| most.get() > 0 && *most <= fitting)?;
    let what = format!(
        "let the heap fit the container: {now} leaves too little of {container} for the rest of the process, and no {} task \
         used more than {committed}",
        role.kind().name()
    );
    Some(Advice::new(what).set([JvmOptions::of(app, role).with_heap(fitting)]))
}

/// The container for the use that the error reports, in MiB.
fn for_used(app: &Advised<'_>, error: &str) -> Option<u64> {
    let needed = Bytes::from_f64(used(error)?.as_f64() * app.advice.killed_room.get())?;
    Some(container_for(app, needed).whole_mib())
}

/// The memory that a killed process used, from "Current usage: 2.1 GB of 2 GB physical memory used". Older versions write
/// "2.1gb", and Hadoop 1 "Current usage : 2260926464bytes".
fn used(error: &str) -> Option<Bytes> {
    let told = error.split("Current usage").nth(1)?;
    let mut words = told.trim_start_matches([' ', ':']).split_whitespace();
    let (number, unit) = (words.next()?, words.next()?);
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
    let unit = if digits == number { unit } else { number.get(digits.len()..)? };
    let bytes = match unit.to_ascii_lowercase().trim_matches('.') {
        "bytes" => 1.0,
        "mb" => Bytes::from_mib(1).as_f64(),
        "gb" => Bytes::from_mib(1024).as_f64(),
        _ => return None,
    };
    Bytes::from_f64(digits.parse::<f64>().ok()? * bytes)
}

/// Twice the time limit that the error names, but not less than Hadoop's default.
fn wait_longer(app: &Application, error: &str) -> Advice {
    let seconds = error.split("Timed out after ").nth(1).and_then(|rest| rest.split(' ').next());
    let told = seconds.and_then(|text| text.parse::<u64>().ok()).map(|secs| secs.saturating_mul(1000));
    let set = || app.conf.integer(ConfKey::TaskTimeout).and_then(|ms| u64::try_from(ms).ok());
    let Some(limit) = told.or_else(set).filter(|limit| *limit > 0) else {
        return FailureKind::TaskTimeout.remedy().into();
    };
    let twice = change(app, ConfKey::TaskTimeout, limit.saturating_mul(2).max(TASK_TIMEOUT_MS));
    Advice::new(format!("{}; if they need the time, wait longer", FailureKind::TaskTimeout.remedy()))
        .set([twice])
        .conditional()
}

/// The setting with the local disks of a node.
fn local_disks(app: &Application) -> &'static str {
    by_hadoop(app, "yarn.nodemanager.local-dirs", "mapred.local.dir")
}

fn where_to_look(app: &Application) -> Advice {
    let ran = app.groups.iter().any(|group| !group.attempts.is_empty());
    let yarn = app.id.replacen("job_", "application_", 1);
    if !app.masters.is_empty() {
        format!("read the log of a failed attempt: yarn logs -applicationId {yarn}").into()
    } else if ran && app.ran_on_job_tracker() {
        "read the log of a failed attempt: logs/userlogs on the node that ran it, or the job tracker's page on the task"
            .into()
    } else if app.ran_on_job_tracker() {
        "no attempt ran: read the log of the job tracker and check the queue in the scheduler".into()
    } else if ran {
        "read the log of a failed attempt: logs/userlogs on the node that ran it, or yarn logs".into()
    } else {
        "no attempt ran: read the log of the application master and check the queue in the scheduler".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;

    #[test]
    fn a_job_is_not_told_options_of_spark() {
        let remedy = FailureKind::MissingClass.remedy_of_job();
        assert!(remedy.contains("-libjars") && !remedy.contains("--jars"), "{remedy}");
        assert!(!FailureKind::MissingClass.remedy().contains("-libjars"));
        assert_eq!(FailureKind::HeapSpace.remedy_of_job(), FailureKind::HeapSpace.remedy());
    }

    #[test]
    fn a_sort_buffer_that_does_not_fit_becomes_smaller() {
        let error = "Error: java.lang.OutOfMemoryError: Java heap space\n\tat \
                     org.apache.hadoop.mapred.MapTask$MapOutputBuffer.init(MapTask.java:1000)";
        let settings = |buffer: &str, error: &str| {
            let heap = [("mapreduce.map.memory.mb", "1024"), ("mapreduce.map.java.opts", "-Xmx820m")];
            let app =
                elephant_sample::job(Vec::new(), &[heap[0], heap[1], ("mapreduce.task.io.sort.mb", buffer)]);
            let advice = of_failure(&advised(&app), &Failure::new(FailureKind::HeapSpace), error);
            let shown = |line: Advice| {
                let to: Vec<String> = line.settings.into_iter().map(|change| change.to).collect();
                (to.join(" "), line.conditional)
            };
            advice.into_iter().map(shown).collect::<Vec<_>>()
        };
        let both = [("410".to_owned(), false), ("-Xmx1800m 2560".to_owned(), true)];
        assert_eq!(settings("900", error), both);
        // Other code filled the heap, or the buffer fits.
        let more = [("-Xmx1230m 1536".to_owned(), false)];
        assert_eq!(
            (settings("900", "Java heap space"), settings("400", error)),
            (more.to_vec(), more.to_vec())
        );
    }

    #[test]
    fn nobody_waits_shorter_than_usual() {
        let waits =
            |error: &str| wait_longer(&elephant_sample::job(Vec::new(), &[]), error).settings[0].to.clone();
        assert_eq!(waits("Timed out after 5 secs"), "600000");
        assert_eq!(waits("Timed out after 600 secs"), "1200000");
    }

    #[test]
    fn a_heap_that_fits_comes_before_a_larger_container() {
        let by = |heap: &str, committed: i64, error: &str| {
            let mut reduces = elephant_sample::tasks(TaskKind::Reduce, [(0, Some(60))]);
            reduces.attempts.set_counter(0, Counter::CommittedHeapBytes, Some(committed << 20));
            let settings = [("mapreduce.reduce.memory.mb", "4096"), ("mapreduce.reduce.java.opts", heap)];
            let advice =
                fitting_heap(&advised(&elephant_sample::job(vec![reduces], &settings)), Role::Reduce, error)?;
            Some(advice.settings[0].to.clone())
        };
        let of = |heap: &str, committed: i64| by(heap, committed, "");
        assert_eq!(of("-Xmx3900m", 2900).as_deref(), Some("-Xmx3276m"));
        // It fits already, or it was used.
        assert_eq!((of("-Xmx3276m", 2900), of("-Xmx3900m", 3600), of("-Xmx3900m", 0)), (None, None, None));
        // A heap that is hardly smaller leaves hardly more room.
        assert_eq!((of("-Xmx3277m", 2900), of("-Xmx3480m", 2900)), (None, None));
        assert_eq!(of("-Xmx3482m", 2900).as_deref(), Some("-Xmx3276m"));
        // The process used more beyond its container than the smaller heap would leave.
        let used = |used: &str| format!("Current usage: {used} of 4 GB physical memory used; 5 GB of 8.4 GB");
        assert_eq!(by("-Xmx3900m", 2900, &used("4.7 GB")), None);
        assert!(by("-Xmx3900m", 2900, &used("4.1 GB")).is_some());
    }

    #[test]
    fn no_container_is_larger_than_the_cluster_grants() {
        let app = |memory: &str, heap: &str| {
            let most = ("yarn.scheduler.maximum-allocation-mb", "8192");
            let settings = [("mapreduce.map.memory.mb", memory), ("mapreduce.map.java.opts", heap), most];
            elephant_sample::job(Vec::new(), &settings)
        };
        let of = |memory: &str, heap: &str| {
            let app = app(memory, heap);
            let settings =
                |advice: Advice| advice.settings.into_iter().map(|change| change.to).collect::<Vec<_>>();
            (
                settings(more_memory(&advised(&app), Role::Map, "")),
                settings(more_heap(&advised(&app), Role::Map)),
            )
        };
        let (memory, heap) = of("6144", "-Xmx4800m");
        assert_eq!(
            (memory, heap),
            (vec!["8192".to_owned()], vec!["-Xmx6553m".to_owned(), "8192".to_owned()])
        );
        assert_eq!(of("8192", "-Xmx6553m"), (Vec::new(), Vec::new()));
        assert!(more_memory(&advised(&app("8192", "-Xmx6553m")), Role::Map, "").text.contains("less data"));
        // The job had larger containers, so the setting is not that of its cluster.
        assert_eq!(of("12288", "-Xmx9000m").0, ["18432"]);
        // A heap above its container shrinks with a larger container, too.
        assert_eq!(of("2048", "-Xmx4096m").0, ["3072", "-Xmx2457m"]);
    }

    /// The scheduler gave 2 GiB for 1 GiB: half as much again as requested would be the same container.
    #[test]
    fn a_larger_container_holds_what_was_used() {
        let app = elephant_sample::job(Vec::new(), &[("mapreduce.map.memory.mb", "1024")]);
        let of = |error: &str| more_memory(&advised(&app), Role::Map, error).settings[0].to.clone();
        let told =
            "beyond physical memory limits. Current usage: 2.1 GB of 2 GB physical memory used; 3 GB of 4 GB";
        assert_eq!(of(told), "3072");
        assert_eq!(of("Current usage: 2.1gb of 2.0gb physical memory used"), "3072");
        assert_eq!(of(""), "1536");
        assert_eq!(for_used(&advised(&app), "Current usage: 900.5 MB of 1 GB"), Some(1536));
        assert_eq!(
            for_used(&advised(&app), "Current usage : 2260926464bytes. Limit : 2147483648bytes."),
            Some(3072)
        );
        for unknown in
            ["Current usage: much", "Current usage", "Current usage: 12", "Current usage: . GB of 1 GB"]
        {
            assert_eq!(for_used(&advised(&app), unknown), None, "{unknown}");
        }
    }
}
