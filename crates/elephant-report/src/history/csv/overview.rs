//! The overview as CSV: one table with lines of several kinds, which the column `by` tells apart.

use std::io::{self, Write};

use super::super::super::cells::{number, quoted};
use super::super::{nodes, words};
use super::{LIMIT, OF_GROUPS, limit, of_group};
use elephant_base::units::Millis;
use elephant_store::{
    Answer, Fleet, Group, Grouped, Grouping, InPeriod, NodeSums, OverTime, Periods, Ranked, Realised, Remedy,
    Unread,
};

/// Columns of periods and of what belongs to a day.
const DAYS: [&str; 2] = ["from", "until"];
const SAVED: [&str; 2] = ["changes", "saved_gb_hours"];
const REMEDY: [&str; 4] = ["jobs", "value", "recommended_value", "alike"];
const CHANGE: [&str; 8] = [
    "changed",
    "first",
    "runs_before",
    "runs_after",
    "resource_used_before_gb_hours",
    "resource_used_after_gb_hours",
    "runtime_before_ms",
    "runtime_after_ms",
];
const FILES: [&str; 2] = ["files", "example"];
/// Of changes of configurations, and of all of them; after all others, because it was added later.
const MONEY: [&str; 4] = ["cost_before", "cost_after", "saved_cost", "changes_cost_unknown"];

/// A line. Columns of other kinds of lines are empty.
#[derive(Default)]
struct Line {
    group: [String; OF_GROUPS.len()],
    days: [String; DAYS.len()],
    saved: [String; SAVED.len()],
    remedy: [String; REMEDY.len()],
    change: [String; CHANGE.len()],
    files: [String; FILES.len()],
    node: [String; nodes::WORK.len()],
    money: [String; MONEY.len()],
    /// The time that remedies of a group save at most in addition.
    limit: String,
}

impl Line {
    /// A line with sums of a group.
    fn of(by: &str, group: &Group) -> Self {
        Self { group: of_group(by, group), limit: limit(group), ..Self::default() }
    }

    /// A line without sums of a group.
    fn named(by: &str, key: &str, applications: Option<u64>) -> Self {
        Self::with((by, key), applications, [None, None])
    }

    /// A line with the memory that was used and wasted.
    fn with((by, key): (&str, &str), applications: Option<u64>, [used, wasted]: [Option<f64>; 2]) -> Self {
        let no = String::new;
        let (by, key, applications) = (by.to_owned(), quoted(key), number(applications));
        let (used, wasted) = (number(used), number(wasted));
        let group = [
            by,
            key,
            applications,
            no(),
            no(),
            no(),
            no(),
            no(),
            used,
            wasted,
            no(),
            no(),
            no(),
            no(),
            no(),
            no(),
        ];
        Self { group, ..Self::default() }
    }

    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let Self { group, days, saved, remedy, change, files, node, money, limit } = self;
        let cells = group.into_iter().chain(days).chain(saved).chain(remedy).chain(change).chain(files);
        writeln!(out, "{}", cells.chain(node).chain(money).chain([limit]).collect::<Vec<_>>().join(","))
    }
}

pub(super) fn write(answer: &Answer, fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
    // As in the table of nodes, but `failed` is a column of applications.
    let work = nodes::WORK.map(|title| if title == "failed" { "failed_attempts" } else { title });
    let titles = [&OF_GROUPS[..], &DAYS, &SAVED, &REMEDY, &CHANGE, &FILES, &work, &MONEY, &[LIMIT]];
    writeln!(out, "{}", titles.concat().join(","))?;
    let end = |moment| words::day(moment).unwrap_or_default();
    Line {
        days: [end(answer.from), end(answer.until)],
        saved: [fleet.realised_of.to_string(), fleet.realised_gb_hours.to_string()],
        files: [fleet.unread_of.to_string(), String::new()],
        money: [
            String::new(),
            String::new(),
            number(fleet.realised_cost),
            number(answer.currency.as_ref().map(|_| fleet.realised_unpriced)),
        ],
        ..Line::of("all", &answer.total)
    }
    .write(out)?;
    groups(Grouping::Job, &fleet.jobs.grouped, out)?;
    groups(Grouping::Trouble, &fleet.troubles, out)?;
    groups(Grouping::User, &fleet.users.grouped, out)?;
    groups(Grouping::Queue, &fleet.queues.grouped, out)?;
    if let Some(periods) = &fleet.periods {
        over_time("all_over_time", None, (&fleet.over_time, periods), out)?;
        all_over_time("job_over_time", &fleet.jobs, periods, out)?;
        all_over_time("user_over_time", &fleet.users, periods, out)?;
        all_over_time("queue_over_time", &fleet.queues, periods, out)?;
    }
    fleet.remedies.iter().try_for_each(|one| remedy(one).write(out))?;
    fleet.realised.iter().try_for_each(|one| change(one).write(out))?;
    fleet.nodes.nodes.iter().try_for_each(|one| node(one).write(out))?;
    fleet.unread.iter().try_for_each(|one| unread(one).write(out))
}

fn groups(grouping: Grouping, grouped: &Grouped, out: &mut dyn Write) -> io::Result<()> {
    grouped.groups.iter().try_for_each(|group| Line::of(words::key(grouping), group).write(out))
}

fn all_over_time(by: &str, ranked: &Ranked, periods: &Periods, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = ranked.grouped.groups.iter().zip(&ranked.over_time);
    rows.try_for_each(|(group, values)| over_time(by, group.key.as_deref(), (values, periods), out))
}

fn over_time(
    by: &str,
    key: Option<&str>,
    (values, periods): (&OverTime, &Periods),
    out: &mut dyn Write,
) -> io::Result<()> {
    values.known(periods).try_for_each(|period| {
        let InPeriod { from, used_gb_hours, wasted_gb_hours } = period;
        let until = periods.last_day(from).unwrap_or_else(|| from.to_owned());
        Line {
            days: [from.to_owned(), until],
            ..Line::with((by, key.unwrap_or_default()), None, [used_gb_hours, wasted_gb_hours])
        }
        .write(out)
    })
}

fn remedy(remedy: &Remedy) -> Line {
    Line {
        remedy: [
            remedy.jobs.to_string(),
            remedy.from.as_deref().map(quoted).unwrap_or_default(),
            quoted(&remedy.to),
            remedy.alike.to_string(),
        ],
        ..Line::named("remedy", &remedy.setting, Some(remedy.applications))
    }
}

fn change(change: &Realised) -> Line {
    let (time_before, time_after) = change.run_time.unzip();
    let (cost_before, cost_after) = change.cost.unzip();
    Line {
        days: [words::first_day(change), words::day(change.undone).unwrap_or_default()],
        saved: [String::new(), change.saved_gb_hours.to_string()],
        change: [
            quoted(&words::settings(change)),
            quoted(&change.first),
            change.runs.0.to_string(),
            change.runs.1.to_string(),
            change.used_gb_hours.0.to_string(),
            change.used_gb_hours.1.to_string(),
            number(time_before.map(Millis::get)),
            number(time_after.map(Millis::get)),
        ],
        money: [number(cost_before), number(cost_after), number(change.saved_cost), String::new()],
        ..Line::named("change", &change.job, None)
    }
}

fn node(node: &NodeSums) -> Line {
    let [_, _, cells @ ..] = nodes::row(node);
    Line { node: cells, ..Line::named("node", &node.name, Some(node.applications)) }
}

fn unread(kind: &Unread) -> Line {
    Line {
        files: [kind.files.to_string(), quoted(&kind.example)],
        ..Line::named("unread", &kind.problem, None)
    }
}
