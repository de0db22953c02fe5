//! Flows of schedulers: their executions, the jobs in them, and two executions side by side.

use std::io;

use super::{comparison_address, encoded, execution_address, flow_address, page};
use crate::document::{Block, Cell, Column, Row, Section, Table, Value};
use crate::history::document::Filler;
use crate::history::words;
use crate::words::plural;
use elephant_store::{Answer, Execution, FlowHistory, Grouping, JobInTwo, OneExecution, Task, View};

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
        Column::text("compared", 0),
    ];
    let before = executions.iter().skip(1).map(Some).chain([None]);
    let rows = executions.iter().zip(before).map(|(execution, before)| {
        let severity = execution.severity;
        let worst = Cell::from(Value::Nothing).badge(severity, severity.name());
        let pair = before.and_then(|before| Some((before.run.as_deref()?, execution.run.as_deref()?)));
        let compared = pair.map_or_else(
            || Value::Nothing.into(),
            |(a, b)| Cell::from(Value::Own("with the one before")).page(Some(comparison_address(flow, a, b))),
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

/// The page of one execution: its tasks, and its applications in the order of submission.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn execution(flow: &str, run: &str, execution: &OneExecution) -> io::Result<Vec<u8>> {
    let answer = Answer {
        total: execution.total.clone(),
        from: None,
        until: None,
        currency: None,
        view: View::Worst(Vec::new()),
    };
    let filler = Filler::on_site(&answer);
    let all = vec![(flow_address(flow), "All executions of the flow".to_owned())];
    let section = Section::new("answer", "", "")
        .with(Block::Headline(format!("{flow}, run {run}")))
        .with(Block::Links("About this flow", all))
        .with(Block::Figures(filler.figures()));
    let applications = filler.listed(("runs", "Applications", "Applications"), &execution.runs, true);
    page(&format!("{flow} {run}"), "", vec![section, tasks(&execution.tasks), applications])
}

/// The tasks of an execution, in the order of their first submission.
fn tasks(tasks: &[Task]) -> Section<'_> {
    let section = Section::new("tasks", "Tasks", "Tasks");
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
    let rows = tasks.iter().map(|task| {
        Row::new([
            task.begin.into(),
            task.name.as_str().into(),
            task.applications.into(),
            task.run_time.into(),
            words::hours(task.used_gb_hours).into(),
            words::hours(task.wasted_gb_hours).into(),
            Cell::from(Value::Nothing).badge(task.severity, task.severity.name()),
        ])
    });
    section.with(Block::Table(Table::new(columns, rows).in_order()))
}

/// The page of two executions, job by job: those whose run time differs most first. `runs` are the one that is compared
/// with, and the other one.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn executions_compared(flow: &str, runs: [&str; 2], jobs: &[JobInTwo]) -> io::Result<Vec<u8>> {
    let [a, b] = runs;
    let columns = [
        Column::key("job", 0, 0),
        Column::number("time in A", 0),
        Column::number("in B", 0),
        Column::number("GB·h in A", 0),
        Column::number("in B", 0),
        Column::text("worst finding in A", 0),
        Column::text("in B", 0),
    ];
    let rows = jobs.iter().map(|JobInTwo { job, sides }| {
        let sides = sides.each_ref().map(Option::as_ref);
        let [time_a, time_b] = sides.map(|group| Cell::from(group.and_then(|group| group.run_time)));
        let [used_a, used_b] =
            sides.map(|group| Cell::from(words::hours(group.and_then(|group| group.used_gb_hours))));
        let [worst_a, worst_b] = sides.map(|group| match group {
            Some(group) => Cell::from(Value::Nothing).badge(group.severity, group.severity.name()),
            None => Value::Own("did not run").into(),
        });
        let link = (super::ADDRESSES.group)(Grouping::Job, job);
        Row::new([Cell::from(job.as_str()).page(link), time_a, time_b, used_a, used_b, worst_a, worst_b])
    });
    let page_of = |run: &str| execution_address(flow, run);
    let links = vec![(page_of(a), format!("A: {a}")), (page_of(b), format!("B: {b}"))];
    let answer = Section::new("answer", "", "")
        .with(Block::Headline(format!("Two executions of {flow}")))
        .with(Block::Lead(plural(jobs.len() as u64, "job")))
        .with(Block::Links("The executions", links));
    let note = "The times of a job's applications together. The jobs whose times differ most come first.";
    let list = Section::new("jobs", "Jobs", "Job by job")
        .with(Block::Table(Table::new(columns, rows).in_order()))
        .with(Block::Note(note.to_owned()));
    page(&format!("{flow}: {a} and {b}"), "", vec![answer, list])
}
