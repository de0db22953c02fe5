//! Warns about values that contradict the rest of the log, and so are unknown.

use super::counted;
use crate::problem::Problems;
use crate::spark::build::{Builder, Outside, Seen};
use elephant_model::model::Engine;

/// Warns about each kind of impossible value, and records the gaps.
pub(super) fn verify(builder: &mut Builder, problems: &mut Problems) {
    let Seen { beyond_task, beyond_memory, contradictions, outside, .. } = builder.seen;
    of_tasks(&builder.seen, problems);
    of_others(outside, problems);
    let gaps = &mut builder.spark.gaps;
    gaps.counters += beyond_task + beyond_memory;
    gaps.times += contradictions + outside.tasks;
    gaps.stages += outside.stages;
    gaps.jobs += outside.jobs;
    gaps.executors += outside.executors;
}

fn warn(problems: &mut Problems, code: &'static str, count: u64, one: &str, many: &str) {
    if count > 0 {
        problems.warn(code, None, || counted(count, one, many));
    }
}

fn of_tasks(seen: &Seen, problems: &mut Problems) {
    if let Some((counter, task)) = seen.first_beyond_task {
        problems.warn("part-exceeds-whole", None, || {
            let of_task = task.map(|task| format!(" of task {task}")).unwrap_or_default();
            let one = format!("{}{of_task}", counter.name_in(Engine::Spark));
            let what = counted(
                seen.beyond_task,
                "task metric is a time longer than the task itself",
                "task metrics are times longer than the tasks themselves",
            );
            let first = if seen.beyond_task > 1 { "the first is " } else { "" };
            format!("{what}: {first}{one}; sums over it are unknown")
        });
    }
    warn(
        problems,
        "peaks-exceed-memory",
        seen.beyond_memory,
        "task has a Peak Execution Memory beyond the memory of its executor; it is unknown",
        "tasks have a Peak Execution Memory beyond the memory of their executors; it is unknown",
    );
    warn(
        problems,
        "starts-disagree",
        seen.contradictions,
        "task has an end that differs from its start in task, stage, executor or launch time; its launch time is unknown",
        "tasks have ends that differ from their starts in task, stage, executor or launch time; their launch times are \
         unknown",
    );
    warn(
        problems,
        "task-times-impossible",
        seen.outside.tasks,
        "task has a launch or end outside the life of its stage or application; that time is unknown",
        "tasks have launches or ends outside the lives of their stages or application; these times are unknown",
    );
}

fn of_others(outside: Outside, problems: &mut Problems) {
    warn(
        problems,
        "stage-times-impossible",
        outside.stages,
        "stage has a time that its other record, its tasks or the application contradict, or an impossible resource \
         profile; that value is unknown",
        "stages have times that their other records, their tasks or the application contradict, or impossible resource \
         profiles; these values are unknown",
    );
    warn(
        problems,
        "job-times-impossible",
        outside.jobs,
        "job has a start or end outside the life of the application, or an impossible stage; that value is unknown",
        "jobs have starts or ends outside the life of the application, or impossible stages; these values are unknown",
    );
    warn(
        problems,
        "executors-impossible",
        outside.executors,
        "executor has a start, end or number of cores that the rest of the log contradicts; that value is unknown",
        "executors have starts, ends or numbers of cores that the rest of the log contradicts; these values are unknown",
    );
}
