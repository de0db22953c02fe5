//! What is stored of an application.

use std::io;
use std::path::Path;

use super::whole_report::{Identity, WholeReport};
use super::{minute, page};
use crate::document::{Block, Cell, Column, Figure, Finding, Row, Section, Table, Value};
use crate::history::words;
use crate::wrap::clean;
use elephant_base::units::Millis;
use elephant_store::{Grouping, StoredApplication, local_path};

/// The page of all applications with one id: attempts, or those of several clusters. `is_there` tells whether the file
/// of a history is still where it was read.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn application(
    id: &str,
    found: &[StoredApplication],
    is_there: impl Fn(&str) -> Option<bool>,
) -> io::Result<Vec<u8>> {
    let sections = found.iter().enumerate().flat_map(|(at, app)| {
        // Ids of sections are used by links, so that those of further attempts differ.
        let suffix = if at == 0 { String::new() } else { format!("-{}", at + 1) };
        let report = WholeReport::of(app.report.as_deref());
        [
            answer(app, &report, (&suffix, found.len() == 1), is_there(&app.run.source)),
            report.time(&suffix),
            troubles(app, &report, &suffix),
            configuration(app, &suffix),
            report.queries(&suffix),
            findings(app, &suffix),
            report.numbers(&suffix, super::ADDRESSES),
            report.not_evaluated(&suffix),
            origin(app, &suffix, is_there(&app.run.source)),
        ]
    });
    let several = format!("{} applications with the id {id}", found.len());
    let several = (found.len() > 1).then(|| Section::new("several", "", "").with(Block::Headline(several)));
    page(id, "", several.into_iter().chain(sections).collect())
}

/// The answer about one application, which is the title of the page if it is the only one.
fn answer<'a>(
    app: &'a StoredApplication,
    report: &WholeReport,
    (suffix, is_only): (&str, bool),
    is_there: Option<bool>,
) -> Section<'a> {
    let run = &app.run;
    let attempt = run.attempt.as_deref().map(|attempt| format!(", attempt {attempt}")).unwrap_or_default();
    let name = run.name.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
    let hours =
        |hours: Option<f64>| hours.map_or(Value::Own("unknown"), |hours| Value::Amount(hours, "GB·h"));
    let figure =
        |name, value, remark: Option<String>| Figure { name, value, remarks: remark.into_iter().collect() };
    let share = run.wasted_gb_hours.zip(run.used_gb_hours).filter(|(_, used)| *used > 0.0);
    let share = share.map(|(wasted, used)| format!("{:.0}\u{a0}%", 100.0 * wasted / used));
    let figures = vec![
        figure("Took", run.run_time.into(), app.saved_time.map(|time| format!("known remedies save {time}"))),
        figure(
            "Used",
            hours(run.used_gb_hours),
            app.core_hours.map(|cores| format!("{} core-hours", words::amount(cores))),
        ),
        figure("Not needed", hours(run.wasted_gb_hours), share),
        figure("Known remedies save", hours(run.saved_gb_hours), None),
    ];
    let unjudged = (!app.is_judged).then(|| Block::Warning("It could not be judged.".to_owned()));
    let incomplete = (!app.is_complete).then(|| {
        let why = app.incomplete.as_deref().map(clean);
        let why = why.as_deref().unwrap_or("it was in progress when it was read, or its end is missing");
        Block::Warning(format!("Its history is not complete: {why}."))
    });
    let gone = (is_there == Some(false)).then(|| {
        Block::Warning("Its history is gone, so this page has what was stored when it was read.".to_owned())
    });
    let title = format!("{name}{}{attempt}", run.id);
    let (own, headline) = if is_only { ("", Some(Block::Headline(title.clone()))) } else { (&*title, None) };
    Section::new(format!("answer{suffix}"), "", own)
        .with(headline)
        .with(Block::Facts(facts(app, report)))
        .with(Block::Links("About this application", pages_about(app)))
        .with(Block::Figures(figures))
        .with(unjudged)
        .with(incomplete)
        .with(gone)
}

/// The pages of its job, user and queue, and the comparison with the run before.
fn pages_about(app: &StoredApplication) -> Vec<(String, String)> {
    let run = &app.run;
    let job = (super::ADDRESSES.group)(Grouping::Job, &app.job)
        .map(|address| (address, "Other runs of the job".to_owned()));
    let user = run
        .user
        .as_deref()
        .and_then(|user| Some(((super::ADDRESSES.group)(Grouping::User, user)?, format!("User {user}"))));
    let queue = run.queue.as_deref().and_then(|queue| {
        Some(((super::ADDRESSES.group)(Grouping::Queue, queue)?, format!("Queue {queue}")))
    });
    let before = app.before.as_deref().map(|before| {
        let address = format!("/compare?a={}&b={}", super::encoded(before), super::encoded(&run.id));
        (address, "Compare with the run before".to_owned())
    });
    let flow = run.flow.as_deref().map(|flow| {
        let execution = run.flow_run.as_deref().map(|run| format!("?run={}", super::encoded(run)));
        (format!("{}{}", super::flow_address(flow), execution.unwrap_or_default()), format!("Flow {flow}"))
    });
    let scheduler = app.link.clone().map(|address| (address, "Its page in the scheduler".to_owned()));
    [job, before, flow, scheduler, user, queue].into_iter().flatten().collect()
}

/// Engine, status, times and sizes, as far as they are known.
fn facts(app: &StoredApplication, report: &WholeReport) -> Vec<String> {
    let run = &app.run;
    let count = |count: Option<u64>, what| count.map(|count| crate::words::plural(count, what));
    let known = [
        Some(app.engine.clone()),
        Some(run.status.clone()),
        run.submitted.and_then(minute).map(|at| format!("submitted {at}")),
        app.finished.and_then(minute).map(|at| format!("finished {at}")),
        count(app.tasks, "task"),
        count(app.failed_attempts.filter(|failed| *failed > 0), "failed attempt"),
        count(app.nodes, "node"),
        run.cluster.as_ref().map(|cluster| format!("cluster {}", clean(cluster))),
        report.job_type.as_deref().map(clean),
        report.identity.as_ref().and_then(Identity::words),
    ];
    known.into_iter().flatten().collect()
}

fn troubles<'a>(app: &'a StoredApplication, report: &WholeReport, suffix: &str) -> Section<'a> {
    let section = Section::new(format!("troubles{suffix}"), "Troubles", "Troubles");
    if app.troubles.is_empty() {
        let none = if app.is_judged {
            "No trouble was found."
        } else {
            "Nothing is known, because it could not be judged."
        };
        return section.with(Block::Note(none.to_owned()));
    }
    app.troubles.iter().fold(section, |section, trouble| {
        let (advice, confidence) = report.trouble(&trouble.cause).unwrap_or_default();
        let first = trouble.remedy.iter().filter(|_| advice.is_empty());
        let advice = first.chain(advice).map(|advice| format!("→ {advice}"));
        let sure = confidence.map(|confidence| format!("How sure: {confidence}."));
        let memory = trouble
            .saved_gb_hours
            .filter(|hours| *hours > 0.0)
            .map(|hours| format!("{} GB·h", words::amount(hours)));
        let time = trouble.saved_time.filter(|time| *time > Millis::ZERO).map(|time| time.to_string());
        let saved: Vec<String> = [memory, time].into_iter().flatten().collect();
        let saved = (!saved.is_empty()).then(|| format!("The remedy saves {}.", saved.join(" and ")));
        let finding = Finding {
            label: Some(trouble.severity.name()),
            more: advice.chain(saved).chain(sure).collect(),
            ..Finding::new(trouble.severity, &trouble.kind, format!(": {}", trouble.cause))
        };
        section.with(Block::Finding(finding))
    })
}

fn configuration<'a>(app: &'a StoredApplication, suffix: &str) -> Section<'a> {
    let section = Section::new(format!("configuration{suffix}"), "Configuration", "Configuration to change");
    if app.settings.is_empty() {
        return section;
    }
    let columns = [Column::key("setting", 0, 0), Column::text("now", 0), Column::text("better", 0)];
    let rows = app.settings.iter().map(|setting| {
        let now = setting.from.as_deref().map_or(Value::Own("not set"), |from| Value::Code(from.into()));
        Row::new([
            Value::Code(setting.name.as_str().into()).into(),
            now.into(),
            Value::Code(setting.to.as_str().into()).into(),
        ])
    });
    section.with(Block::Table(Table::new(columns, rows).in_order()))
}

fn findings<'a>(app: &'a StoredApplication, suffix: &str) -> Section<'a> {
    let section = Section::new(format!("findings{suffix}"), "Findings", "Findings of rules");
    if app.findings.is_empty() {
        return section;
    }
    let columns = [
        Column::text("severity", 0),
        Column::key("rule", 0, 0),
        Column::text("part", 0),
        Column::text("finding", 0),
    ];
    let rows = app.findings.iter().map(|finding| {
        Row::new([
            Cell::from(Value::Nothing).badge(finding.severity, finding.severity.name()),
            Cell::from(finding.rule.as_str()).page((super::ADDRESSES.group)(Grouping::Rule, &finding.rule)),
            finding.subject.as_str().into(),
            Value::words(finding.message.as_str()).into(),
        ])
    });
    section.with(Block::Table(Table::new(columns, rows).in_order()))
}

/// Where it came from, and how to see more of it.
fn origin<'a>(app: &'a StoredApplication, suffix: &str, is_there: Option<bool>) -> Section<'a> {
    let source = &app.run.source;
    let more = app.files.saturating_sub(1);
    let more =
        if more > 0 { format!(" and {}", crate::words::plural(more, "other file")) } else { String::new() };
    let read = minute(app.read).map(|at| format!(" on {at}")).unwrap_or_default();
    let advice = match is_there {
        Some(true) => Some("Its charts, stages and plans are in the report on its history:"),
        // What is not a file of this machine may be there or not.
        None => Some("If its history is still there, its charts, stages and plans are in the report on it:"),
        Some(false) => None,
    };
    let section = Section::new(format!("origin{suffix}"), "Origin", "Origin")
        .with(Block::Note(format!("Read{read} by elephant-rs {} from {source}{more}.", app.tool)));
    // A file of this machine is named by its path.
    let named = local_path(source).and_then(Path::to_str).unwrap_or(source);
    match advice {
        Some(advice) => section.with(Block::Note(advice.to_owned())).with(Block::Command(vec![format!(
            "elephant-rs analyze --format html -o report.html {}",
            quoted(named)
        )])),
        None => section,
    }
}

/// A path as one word of a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        assert_eq!(quoted("/logs/app-1.zst"), "/logs/app-1.zst");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("$(rm -r /)'; x"), "'$(rm -r /)'\\''; x'");
    }
}
