//! Answers as CSV: one line for each group, or for each application.

mod overview;

use std::io::{self, Write};

use super::super::cells::{number, quoted};
use super::{nodes, words};
use elephant_base::units::{Millis, Timestamp};
use elephant_store::{Answer, Change, Group, Measure, Run, Runs, View};

/// Scripts rely on these names and on their order, so add new columns at the end.
const OF_GROUPS: [&str; 16] = [
    "by",
    "key",
    "applications",
    "failed",
    "not_judged",
    "memory_unknown",
    "severity",
    "runtime_ms",
    "resource_used_gb_hours",
    "resource_wasted_gb_hours",
    "saves_gb_hours",
    "saves_ms",
    "cost",
    "saves_cost",
    "resource_judged_gb_hours",
    "cost_unknown",
];
/// After all other columns, because it was added later: the time that is saved at most in addition.
const LIMIT: &str = "saves_more_at_most_ms";
const OF_RUNS: [&str; 15] = [
    "application",
    "attempt",
    "source",
    "name",
    "user",
    "queue",
    "status",
    "submitted_at",
    "runtime_ms",
    "resource_used_gb_hours",
    "resource_wasted_gb_hours",
    "saves_gb_hours",
    "severity",
    "trouble",
    "cost",
];
/// After the columns of a run of a job: the medians before and after, in the row of the first run after a change.
const OF_CHANGES: [&str; 4] = [
    "runtime_before_ms",
    "runtime_after_ms",
    "resource_used_before_gb_hours",
    "resource_used_after_gb_hours",
];

/// The last column of the worst applications: what to change against the first trouble. Runs of one job would repeat it.
const REMEDY: &str = "remedy";

pub(super) fn write(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    match &answer.view {
        View::Overview(fleet) => overview::write(answer, fleet, out),
        View::Groups(grouping, grouped) => {
            writeln!(out, "{},{LIMIT}", OF_GROUPS.join(","))?;
            let by = words::key(*grouping);
            grouped
                .groups
                .iter()
                .try_for_each(|group| writeln!(out, "{},{}", of_group(by, group).join(","), limit(group)))
        }
        View::Nodes(all) => nodes::csv(all, out),
        View::Worst(all) => {
            writeln!(out, "{},{REMEDY}", OF_RUNS.join(","))?;
            all.iter().try_for_each(|run| {
                let remedy = run.trouble.as_ref().and_then(|(_, remedy)| remedy.as_deref());
                writeln!(out, "{},{}", of_run(run).join(","), remedy.map(quoted).unwrap_or_default())
            })
        }
        View::Job(runs) => job(runs, out),
    }
}

fn of_group(by: &str, group: &Group) -> [String; OF_GROUPS.len()] {
    [
        by.to_owned(),
        group.key.as_deref().map(quoted).unwrap_or_default(),
        group.applications.to_string(),
        group.failed.to_string(),
        group.unjudged.to_string(),
        group.unmeasured.to_string(),
        group.severity.name().to_owned(),
        number(group.run_time.map(Millis::get)),
        number(group.used_gb_hours),
        number(group.wasted_gb_hours),
        number(group.saved_gb_hours),
        number(group.saved_time.map(Millis::get)),
        number(group.cost),
        number(group.saved_cost),
        number(group.judged_gb_hours),
        number(group.cost.map(|_| group.unpriced)),
    ]
}

fn limit(group: &Group) -> String {
    number(group.limit_time.map(Millis::get))
}

fn job(runs: &Runs, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{},{}", OF_RUNS.join(","), OF_CHANGES.join(","))?;
    runs.shown.iter().try_for_each(|run| {
        let changes: Vec<&Change> = words::changes_with(run, runs).collect();
        let medians = |measure| {
            let change = changes.iter().find(|change| change.measure == measure);
            [number(change.map(|change| change.before)), number(change.map(|change| change.after))]
        };
        let changed = [medians(Measure::RunTime), medians(Measure::Used)].concat();
        writeln!(out, "{},{}", of_run(run).join(","), changed.join(","))
    })
}

fn of_run(run: &Run) -> [String; OF_RUNS.len()] {
    let text = |text: Option<&str>| text.map(quoted).unwrap_or_default();
    [
        quoted(&run.id),
        text(run.attempt.as_deref()),
        quoted(&run.source),
        text(run.name.as_deref()),
        text(run.user.as_deref()),
        text(run.queue.as_deref()),
        run.status.clone(),
        run.submitted.and_then(Timestamp::to_rfc3339).unwrap_or_default(),
        run.run_time.map(Millis::get).map(|time| time.to_string()).unwrap_or_default(),
        number(run.used_gb_hours),
        number(run.wasted_gb_hours),
        number(run.saved_gb_hours),
        run.severity.name().to_owned(),
        text(run.trouble.as_ref().map(|(cause, _)| cause.as_str())),
        number(run.cost),
    ]
}
