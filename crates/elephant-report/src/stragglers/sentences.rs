//! Sentences: the best detector, the limit of a group, what an application waited for.

use super::words;
use crate::words::{capital, grouped, plural};
use crate::wrap::clean;
use elephant_analysis::stragglers::cause::{Cause, StragglerCause};
use elephant_analysis::stragglers::evaluation::Best;
use elephant_analysis::stragglers::impact::SlowServer;
use elephant_analysis::stragglers::labels::multiple;
use elephant_base::units::{Millis, three_digits};
use elephant_engine::survey::{
    ApplicationStragglers, CauseCorrelation, CauseCount, CauseCounts, EngineDetectors, GroupReport, Job,
    Method, RunTimes, Settings, StragglerReport, Total,
};
use elephant_model::model::table::TaskKind;

/// The text for a report with stragglers that cost no time.
pub(super) const NO_WAIT: &str =
    "No application waited only for stragglers: the last task of each group was not a straggler.";

/// The nodes that are slow over all applications, if causes were inferred that they refute: causes are found in one
/// application at a time, in which a node may run too few tasks to be blamed.
pub(super) fn slow_nodes(report: &StragglerReport) -> Option<String> {
    const NAMED: usize = 3;
    let total = &report.total;
    let doubtful = [Cause::MoreWork, Cause::Contention, Cause::Unexplained];
    let slow = &total.by_median.slow_servers;
    if total.applications < 2 || !total.waiting.iter().any(|waiting| doubtful.contains(&waiting.cause)) {
        return None;
    }
    let one = |server: &SlowServer| {
        let SlowServer { name, ran, expected, jobs } = server;
        format!(
            "{} of {} on {} were stragglers ({expected:.1} expected from the other nodes), in {}",
            ran.stragglers,
            plural(ran.tasks, "task"),
            clean(name),
            plural(*jobs, "application")
        )
    };
    let named: Vec<String> = slow.iter().take(NAMED).map(one).collect();
    let more = slow.len().checked_sub(NAMED).filter(|&more| more > 0);
    let more = more.map(|more| format!("; so it is on {}", plural(more as u64, "more node")));
    (!named.is_empty()).then(|| {
        format!(
            "Over all applications, {}{}. Causes are found within one application, so what is called more work, contention or unexplained may be a slow node; see elephant-rs nodes.",
            named.join("; "),
            more.unwrap_or_default()
        )
    })
}

/// "Not counted: 12 tasks that did not succeed or have no times." `None` if all tasks are counted.
pub(super) fn not_counted(total: &Total, settings: &Settings) -> Option<String> {
    let groups = format!("in groups with fewer than {} that succeeded", settings.min_tasks.max(1));
    let of = [
        (total.unfinished, "that did not succeed or have no times"),
        (total.in_small_groups, &groups),
        (total.by_median.undetermined, "that their copies overtook before they could be stragglers"),
    ];
    let of = of.into_iter().filter(|(count, _)| *count > 0);
    let of: Vec<String> = of.map(|(count, which)| format!("{} {which}", plural(count, "task"))).collect();
    (!of.is_empty()).then(|| format!("Not counted: {}.", of.join(", ")))
}

/// The jobs of traces that are counted and not listed.
pub(super) fn unlisted(report: &StragglerReport) -> String {
    format!(
        "{} of cluster traces, which waited less for stragglers, are counted but not listed; --top N lists N of \
         them.",
        plural(report.unlisted, "more job")
    )
}

/// "46 more applications without stragglers; 37 without enough successful tasks to compare": those without a place in
/// the report. `None` if there are none, or if no application can be judged, which the answer says.
pub(super) fn without(report: &StragglerReport, more: &str) -> Option<String> {
    let count = |is_meant: &dyn Fn(&ApplicationStragglers) -> bool| {
        report.applications.iter().filter(|app| is_meant(app)).count() as u64
    };
    let unjudged = if report.total.tasks == 0 { 0 } else { count(&|app| app.judged() == 0) };
    let without = count(&|app| app.judged() > 0 && app.stragglers() == 0);
    others(without, unjudged, more)
}

fn others(without: u64, unjudged: u64, more: &str) -> Option<String> {
    let applications = |count: u64| plural(count, &format!("{more}application"));
    match (without, unjudged) {
        (0, 0) => None,
        (0, _) => Some(format!("{} {UNJUDGED}", applications(unjudged))),
        (_, 0) => Some(format!("{} without stragglers", applications(without))),
        _ => Some(format!("{} without stragglers; {} {UNJUDGED}", applications(without), grouped(unjudged))),
    }
}

/// Why an application counts neither as one with stragglers nor as one without.
const UNJUDGED: &str = "without enough successful tasks to compare";

/// How many groups of a large trace were replayed.
pub(super) fn sample(engine: &EngineDetectors) -> Option<String> {
    (engine.groups < engine.all_groups).then(|| {
        format!(
            "Detectors were replayed on a sample: {} of {}.",
            engine.groups,
            plural(engine.all_groups, "group")
        )
    })
}

/// "at least 1.5× the median time of their group": which tasks are stragglers.
pub(super) fn definition(settings: &Settings) -> String {
    let factor = three_digits(settings.factor);
    match settings.method {
        Method::Median | Method::Mean => {
            format!("at least {factor}× the {} time of their group", settings.method.name())
        }
        Method::Usual => format!("more than {factor}× their usual time"),
        Method::DosIndex => format!("a DoS-index of at least {factor}"),
    }
}

/// Which tasks detectors are rated by. They are not the stragglers of the rest of the report.
pub(super) fn overdue(engine: &EngineDetectors, settings: &Settings) -> String {
    let factor = three_digits(settings.usual.factor);
    let which = match engine.stragglers() {
        0 => format!("A task is overdue if it took more than {factor}× its"),
        1 => format!("Rated by 1 overdue task: it took more than {factor}× its"),
        tasks => format!("Rated by {tasks} overdue tasks: they took more than {factor}× their"),
    };
    format!(
        "{which} usual time, which is known from runs of the job, or else from the input or the median of the group."
    )
}

/// Where detectors know the future; `None` if they nowhere do.
pub(super) fn optimistic(engine: &EngineDetectors) -> Option<String> {
    (engine.optimistic_groups > 0).then(|| {
        format!(
            "Optimistic: in {} of {}, most progress is assumed to be linear to the known end. Detectors that use progress \
             therefore do better here than on a cluster; --startup 1s reduces this effect.",
            engine.optimistic_groups,
            plural(engine.groups, "group")
        )
    })
}

/// Which detector is best, of all and of those that the engine ships.
pub(super) fn verdicts(engine: &EngineDetectors) -> Vec<String> {
    let mut verdicts = vec![format!("{}.", capital(&best(engine.best, engine)))];
    if let (Best::Detector { .. }, Some(offered)) = (engine.best, engine.best_offered)
        && offered != engine.best
    {
        let offered = best(offered, engine);
        verdicts.push(format!("Among those that {} has, {offered}.", words::engine(engine.origin)));
    }
    verdicts
}

/// The best detector, with the numbers of its result.
fn best(best: Best, engine: &EngineDetectors) -> String {
    let result = |place: usize| {
        let pooled = engine.detectors.get(place)?;
        let quality = &pooled.total.quality;
        let interval = quality
            .recall_interval()
            .map(|(low, high)| format!(" (95 % interval {:.0} to {:.0} %)", 100.0 * low, 100.0 * high));
        Some(format!(
            "found {} of {}{} and flagged {} falsely ({})",
            quality.true_positives,
            plural(quality.stragglers, "overdue task"),
            interval.unwrap_or_default(),
            plural(quality.detected.saturating_sub(quality.true_positives), "task"),
            words::parameters(&pooled.total.parameters),
        ))
    };
    match best {
        Best::Detector { id, place } => {
            result(place).map(|result| format!("the best detector is {id}: it {result}"))
        }
        Best::FewFound { id, place } => result(place).map(|result| format!("{best}; {id} {result}")),
        Best::TooFew { .. } | Best::None => None,
    }
    .unwrap_or_else(|| best.to_string())
}

/// The settings of the best detector that the engine ships, as lines to paste, after a sentence with their
/// cost. `None` if none of these detectors is the best, or if it would not have copied any task.
pub(super) fn settings(engine: &EngineDetectors) -> Option<(String, Vec<String>)> {
    let (false, Some(Best::Detector { place, .. }), Some(framework)) =
        (engine.settings.is_empty(), engine.best_offered, engine.origin.engine())
    else {
        return None;
    };
    let copies = engine.detectors.get(place).and_then(|pooled| pooled.total.quality.copies());
    let cost = copies.map(|(copies, saved)| {
        format!("; copies would have run for {copies} in total, and tasks would have ended {saved} earlier in total, if no copy was slow for the same reason as its task")
    });
    let line = |setting: &elephant_engine::survey::EngineSetting| {
        words::setting(framework, setting.name, &setting.value)
    };
    let lines = engine.settings.iter().map(line).collect();
    let run_times = run_times(engine.run_times.as_ref()?);
    Some((format!("Settings for such speculation{}{run_times}:", cost.unwrap_or_default()), lines))
}

/// "; by replay, 3 applications of 12 min would have taken 2 min less in total, 1.5 min to 2.5 min".
fn run_times(run_times: &RunTimes) -> String {
    let RunTimes { applications, unknown, recorded_ms, saved_ms, error_ms } = *run_times;
    let time = |ms: f64| Millis::from_f64(ms.max(0.0)).unwrap_or_default();
    let unknown = match unknown {
        0 => String::new(),
        unknown => format!("; {} cannot be replayed", plural(unknown, "application")),
    };
    let applications = match applications {
        0 => return unknown,
        count => plural(count, "application"),
    };
    let saved = if saved_ms > error_ms {
        let (low, high) = (time(saved_ms - error_ms), time(saved_ms + error_ms));
        format!("{} less in total, {low} to {high}", time(saved_ms))
    } else {
        format!("about as long ({} less, within the error of {})", time(saved_ms), time(error_ms))
    };
    format!("; by replay, {applications} of {} would have taken {saved}{unknown}", time(recorded_ms))
}

/// "200 map tasks, median 5.213 s, stragglers from 7.82 s".
pub(super) fn limit(group: &GroupReport, settings: &Settings) -> String {
    let time = |ms: f64| Millis::from_f64(ms).map_or_else(|| "-".to_owned(), Millis::precise);
    let reference = match (settings.method, group.limit) {
        (Method::Median | Method::Mean, Some(limit)) => format!(
            ", {} {}, stragglers from {}",
            settings.method.name(),
            time((1000.0 * limit.reference).round()),
            // Times are whole milliseconds, so those from half of one on are those from the next one on.
            time(multiple(1000.0, limit.at).ceil())
        ),
        (Method::Usual, _) => {
            format!(", stragglers above {}× the usual time", three_digits(settings.factor))
        }
        (Method::DosIndex, _) => {
            format!(", stragglers from a DoS-index of {}", three_digits(settings.factor))
        }
        _ => String::new(),
    };
    let undetermined = match group.undetermined {
        0 => String::new(),
        count => format!(", {count} undetermined"),
    };
    // A single wave is not mentioned.
    let waves = group.waves().filter(|waves| *waves > 1.0).map(|waves| format!(" in {waves:.1} waves"));
    let tasks = plural(group.judged, noun(group.kind));
    format!("{tasks}{}{reference}{undetermined}", waves.unwrap_or_default())
}

const fn noun(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Map => "map task",
        TaskKind::Reduce => "reduce task",
        _ => "task",
    }
}

/// The first fact: that of the primary cause, or weak evidence for another.
pub(super) fn fact(cause: &StragglerCause) -> Option<String> {
    let evidence = cause.evidence.first()?;
    let of_other = (evidence.cause != cause.primary)
        .then(|| format!("weak evidence for {}, ", evidence.cause.display_name()));
    Some(format!("{}{}", of_other.unwrap_or_default(), evidence.fact))
}

/// "waited for task 7 of stage 3 (contention on the node, inferred)", or else the most frequent cause.
pub(super) fn mainly(app: &ApplicationStragglers) -> Option<String> {
    if let Some(waited_for) = &app.waited_for {
        let task = words::task(waited_for);
        let cause = words::cause(waited_for.cause, waited_for.confidence);
        return Some(format!("waited for {task} ({cause})"));
    }
    most_frequent(&app.causes)
}

/// "warm-up on the executor (11 tasks: 2 measured, 9 inferred)".
fn most_frequent(causes: &CauseCounts) -> Option<String> {
    let (most, _) = causes.by_frequency().into_iter().next()?;
    let confidence = most.confidence().to_string();
    let separator = match confidence.chars().next() {
        None => "",
        Some(first) if first.is_ascii_digit() => ": ",
        Some(_) => ", ",
    };
    let tasks = plural(most.primary, "task");
    Some(format!("{} ({tasks}{separator}{confidence})", most.cause.display_name()))
}

/// The run of a job that waited longest, and its reason; if no run waited, the most frequent cause. A single
/// run is named without its time.
pub(super) fn of_job(job: &Job<'_>) -> String {
    let Some(run) = job.longest() else { return String::new() };
    if job.judged_runs == 1 {
        let why = mainly(run).map(|why| format!(": {why}")).unwrap_or_default();
        return format!("{}{why}", run.id);
    }
    let hit = job.runs.len() as u64;
    let hit = if hit < job.judged_runs { format!("{hit} with stragglers; ") } else { String::new() };
    if run.delay > Millis::ZERO {
        let why = mainly(run).unwrap_or_else(|| "waited".to_owned());
        return format!("{hit}longest in {}, {}: {why}", run.id, run.delay);
    }
    let why = most_frequent(&job.causes()).map(|why| format!("mostly {why}; ")).unwrap_or_default();
    format!("{hit}{why}for instance {}", run.id)
}

/// To the millisecond: "4.035 s", "1m 2.345s", "1h 1m 2.345s".
pub(super) fn exact(span: Millis) -> String {
    let (minutes, ms) = (span.get() / 60_000, span.get() % 60_000);
    let (seconds, ms) = (ms / 1000, ms % 1000);
    match (minutes / 60, minutes % 60) {
        (0, 0) if seconds == 0 => format!("{ms} ms"),
        (0, 0) => format!("{seconds}.{ms:03} s"),
        (0, minutes) => format!("{minutes}m {seconds}.{ms:03}s"),
        (hours, minutes) => format!("{hours}h {minutes}m {seconds}.{ms:03}s"),
    }
}

/// "garbage collection 3 (2 measured, 1 weak), unexplained 1".
pub(super) fn causes(counts: &CauseCounts) -> String {
    let words = |(count, _): (CauseCount, f64)| {
        let confidence = count.confidence().to_string();
        let confidence = if confidence.is_empty() { String::new() } else { format!(" ({confidence})") };
        format!("{} {}{confidence}", count.cause.display_name(), count.primary)
    };
    let words: Vec<String> = counts.by_frequency().into_iter().map(words).collect();
    words.join(", ")
}

/// "All stragglers by cause: data skew 12 (measured), unexplained 3." over several applications; `None` if only one has
/// stragglers, whose causes are in its own lines.
pub(super) fn all_causes(total: &Total) -> Option<String> {
    (total.applications_hit > 1).then(|| format!("All stragglers by cause: {}.", causes(&total.causes)))
}

/// "busy CPUs on the node and disk: correlation 0.07 over the days …".
pub(super) fn correlation(correlation: &CauseCorrelation) -> String {
    format!(
        "{} and {}: correlation {:.2} over the days (of stragglers with a DoS-index of 10 or more, each counted for one cause).",
        correlation.one.display_name(),
        correlation.other.display_name(),
        correlation.pearson
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applications_without_a_place_are_all_counted() {
        let text = |without, unjudged| others(without, unjudged, "more ");
        let both = "46 more applications without stragglers; 37 without enough successful tasks to compare";
        assert_eq!(text(46, 37).as_deref(), Some(both));
        assert_eq!(text(1, 0).as_deref(), Some("1 more application without stragglers"));
        assert_eq!(
            text(0, 1).as_deref(),
            Some("1 more application without enough successful tasks to compare")
        );
        assert_eq!(text(0, 0), None);
    }
}
