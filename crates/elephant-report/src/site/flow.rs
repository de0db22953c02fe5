//! Flows of schedulers: their executions, the jobs in them, and two executions side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::{comparison_address, encoded, execution_address, flow_address, page};
use crate::document::{Block, Cell, Column, Figure, Row, Section, Table, Value};
use crate::history::document::Filler;
use crate::history::words;
use crate::words::plural;
use elephant_base::units::{Millis, Timestamp};
use elephant_store::{Answer, Execution, FlowHistory, Group, Grouping, Run, View};

/// The page of a flow.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn flow(history: &FlowHistory) -> io::Result<Vec<u8>> {
    let FlowHistory { flow, scheduler: (scheduler, link), jobs, .. } = history;
    let filler = Filler::on_site(jobs);
    let link = link.as_ref().map(|address| {
        let name = scheduler.as_deref().unwrap_or("the scheduler");
        Block::Links("About this flow", vec![(address.clone(), format!("Its last run in {name}"))])
    });
    let answer = Section::new("answer", "Answer", "")
        .with(Block::Headline(format!("Flow {flow}")))
        .with(Block::Lead(words::extent(jobs)))
        .with(Block::Lead(words::costs(jobs)))
        .with(link)
        .with(Block::Figures(filler.figures()));
    let mut sections = vec![answer, executions(history)];
    if let View::Groups(grouping, grouped) = &jobs.view {
        sections.push(filler.groups(("jobs", "Jobs"), *grouping, grouped, None));
    }
    page(flow, "", sections)
}

/// A row for each execution, the last one first, with a link to the comparison with the one before.
fn executions(history: &FlowHistory) -> Section<'_> {
    let FlowHistory { flow, executions, of, .. } = history;
    let columns = [
        Column::text("began", 0),
        Column::key("run", 0, 0),
        Column::number("took", 0),
        Column::number("applications", 0),
        Column::number("failed", 0),
        Column::number("killed", 0),
        Column::number("GB·h", 0),
        Column::number("not needed", 0),
        Column::number("remedies save", 0),
        Column::text("worst finding", 0),
        Column::text("", 0),
    ];
    let before = executions.iter().skip(1).map(Some).chain([None]);
    let rows = executions.iter().zip(before).map(|(execution, before)| {
        let severity = execution.severity;
        let worst = Cell::from(Value::Nothing).badge(severity, severity.name());
        let pair = before.and_then(|before| Some((before.run.as_deref()?, execution.run.as_deref()?)));
        let compared = pair.map_or_else(
            || Value::Nothing.into(),
            |(a, b)| {
                Cell::from(Value::Own("compare with the one before"))
                    .page(Some(comparison_address(flow, a, b)))
            },
        );
        Row::new([
            execution.begin.into(),
            Cell::from(named(execution)).page(address(flow, execution)),
            execution.run_time.into(),
            execution.applications.into(),
            execution.failed.into(),
            execution.killed.into(),
            words::hours(execution.used_gb_hours).into(),
            words::hours(execution.wasted_gb_hours).into(),
            words::hours(execution.saved_gb_hours).into(),
            worst,
            compared,
        ])
    });
    let note = "An execution took from its first submission to its last end. Where no application tells its run, those of one day are together.";
    Section::new("executions", "Executions", "Executions")
        .with(Block::Table(Table::new(columns, rows).in_order()))
        .hiding(words::hidden(*of, executions.len()), "earlier")
        .with(Block::Note(note.to_owned()))
}

fn named(execution: &Execution) -> Value<'_> {
    match (&execution.run, &execution.day) {
        (Some(run), _) => run.as_str().into(),
        (None, Some(day)) => Value::words(format!("of {day}")),
        (None, None) => Value::Own("unknown"),
    }
}

/// The page of an execution, or the applications of its day.
fn address(flow: &str, execution: &Execution) -> Option<String> {
    if let Some(run) = &execution.run {
        return Some(execution_address(flow, run));
    }
    let day = execution.day.as_deref()?;
    Some(format!("/search?flow={}&from={day}&to={}", encoded(flow), super::next_day(day)?))
}

/// The page of one execution: its applications in the order of submission.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn execution(flow: &str, run: &str, runs: &[Run]) -> io::Result<Vec<u8>> {
    let answer = Answer {
        total: Group::default(),
        from: None,
        until: None,
        currency: None,
        view: View::Worst(Vec::new()),
    };
    let filler = Filler::on_site(&answer);
    let count = |status: &str| runs.iter().filter(|run| run.status == status).count();
    let sum = |hours: fn(&Run) -> Option<f64>| {
        let known: Vec<f64> = runs.iter().filter_map(hours).collect();
        Value::known((!known.is_empty()).then(|| known.iter().sum()), |sum| Value::Amount(sum, "GB·h"))
    };
    let figure =
        |name, value, remark: Option<String>| Figure { name, value, remarks: remark.into_iter().collect() };
    let ended = format!("{} failed, {} killed", count("failed"), count("killed"));
    let figures = vec![
        figure("Applications", (runs.len() as u64).into(), Some(ended)),
        figure("Used", sum(|run| run.used_gb_hours), None),
        figure("Not needed", sum(|run| run.wasted_gb_hours), None),
        figure("Known remedies save", sum(|run| run.saved_gb_hours), None),
    ];
    let all = vec![(flow_address(flow), "All executions of the flow".to_owned())];
    let section = Section::new("answer", "", "")
        .with(Block::Headline(format!("{flow}, run {run}")))
        .with(Block::Links("About this flow", all))
        .with(Block::Figures(figures));
    let tasks = tasks(runs);
    page(
        &format!("{flow} {run}"),
        "",
        vec![section, tasks, filler.listed(("runs", "Applications", "Applications"), runs, true)],
    )
}

/// The applications of each task of the flow, in the order of their first submission.
fn tasks(runs: &[Run]) -> Section<'_> {
    let section = Section::new("tasks", "Tasks", "Tasks");
    let mut tasks: Vec<(&str, Vec<&Run>)> = Vec::new();
    for run in runs {
        let Some(task) = run.task.as_deref() else { continue };
        match tasks.iter_mut().find(|(known, _)| *known == task) {
            Some((_, of_task)) => of_task.push(run),
            None => tasks.push((task, vec![run])),
        }
    }
    if tasks.is_empty() {
        return section;
    }
    let columns = [
        Column::text("began", 0),
        Column::key("task", 0, 0),
        Column::number("applications", 0),
        Column::number("took", 0),
        Column::number("GB·h", 0),
        Column::number("not needed", 0),
        Column::text("worst finding", 0),
    ];
    let rows = tasks.into_iter().map(|(task, of_task)| {
        let begin = of_task.iter().filter_map(|run| run.submitted).min();
        let end = of_task.iter().filter_map(|run| Some(run.submitted? + run.run_time?)).max();
        let took =
            begin.zip(end).and_then(|(begin, end): (Timestamp, Timestamp)| Millis::between(begin, end));
        let sum = |hours: fn(&Run) -> Option<f64>| {
            let known: Vec<f64> = of_task.iter().filter_map(|run| hours(run)).collect();
            words::hours((!known.is_empty()).then(|| known.iter().sum()))
        };
        let worst = of_task.iter().map(|run| run.severity).max().unwrap_or_default();
        Row::new([
            begin.into(),
            task.into(),
            (of_task.len() as u64).into(),
            took.into(),
            sum(|run| run.used_gb_hours).into(),
            sum(|run| run.wasted_gb_hours).into(),
            Cell::from(Value::Nothing).badge(worst, worst.name()),
        ])
    });
    section.with(Block::Table(Table::new(columns, rows).in_order()))
}

/// Two executions of a flow, with the sums over the jobs of each.
#[derive(Debug)]
pub struct TwoExecutions<'a> {
    /// The flow.
    pub flow: &'a str,
    /// The runs: the one that is compared with, and the other one.
    pub runs: [&'a str; 2],
    /// The jobs of each.
    pub jobs: [&'a [Group]; 2],
}

/// The page of two executions, job by job: those whose run time differs most first.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn executions_compared(two: &TwoExecutions<'_>) -> io::Result<Vec<u8>> {
    let TwoExecutions { flow, runs: [a, b], jobs } = two;
    let by_key = |groups: &'_ [Group]| -> BTreeMap<String, Group> {
        groups.iter().filter_map(|group| Some((group.key.clone()?, group.clone()))).collect()
    };
    let [before, after] = jobs.map(by_key);
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let time = |group: Option<&Group>| group.and_then(|group| group.run_time).map(Millis::get);
    let apart = |key: &String| {
        let [a, b] = [before.get(key), after.get(key)].map(|group| time(group).unwrap_or_default());
        a.abs_diff(b)
    };
    let mut keys: Vec<&String> = keys.into_iter().collect();
    keys.sort_by_key(|key| (std::cmp::Reverse(apart(key)), *key));
    let columns = [
        Column::key("job", 0, 0),
        Column::number("time in A", 0),
        Column::number("in B", 0),
        Column::number("GB·h in A", 0),
        Column::number("in B", 0),
        Column::text("worst finding in A", 0),
        Column::text("in B", 0),
    ];
    let rows = keys.iter().map(|key| {
        let sides = [before.get(*key), after.get(*key)];
        let [time_a, time_b] = sides.map(|group| Cell::from(group.and_then(|group| group.run_time)));
        let [used_a, used_b] =
            sides.map(|group| Cell::from(words::hours(group.and_then(|group| group.used_gb_hours))));
        let [worst_a, worst_b] = sides.map(|group| match group {
            Some(group) => Cell::from(Value::Nothing).badge(group.severity, group.severity.name()),
            None => Value::Own("did not run").into(),
        });
        let link = (super::ADDRESSES.group)(Grouping::Job, key);
        Row::new([Cell::from(key.as_str()).page(link), time_a, time_b, used_a, used_b, worst_a, worst_b])
    });
    let page_of = |run: &str| execution_address(flow, run);
    let links = vec![(page_of(a), format!("A: {a}")), (page_of(b), format!("B: {b}"))];
    let answer = Section::new("answer", "", "")
        .with(Block::Headline(format!("Two executions of {flow}")))
        .with(Block::Lead(format!(
            "{} in A, {} in B",
            plural(before.len() as u64, "job"),
            plural(after.len() as u64, "job")
        )))
        .with(Block::Links("The executions", links));
    let list = Section::new("jobs", "Jobs", "Job by job")
        .with(Block::Table(Table::new(columns, rows).in_order()))
        .with(Block::Note(
            "The times of a job's applications together. The jobs whose times differ most come first."
                .to_owned(),
        ));
    page(&format!("{flow}: {a} and {b}"), "", vec![answer, list])
}
