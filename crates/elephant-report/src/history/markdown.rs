//! Answers as Markdown: the sums first, then tables.

use std::io::{self, Write};

use super::nodes::{mean, share, summary as of_nodes};
use super::words::{self, amount};
use crate::markdown::text;
use elephant_base::units::Millis;
use elephant_store::{Answer, Fleet, Group, Grouped, Grouping, Nodes, Run, View};

pub(super) fn write(answer: &Answer, summary: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "## {}", escaped(&words::extent(answer)))?;
    if answer.total.applications == 0 {
        return match &answer.view {
            View::Overview(fleet) if !summary => unread(fleet, out),
            _ => Ok(()),
        };
    }
    writeln!(out, "\n{}", escaped(&words::costs(answer)))?;
    if summary {
        return Ok(());
    }
    let costs = Costs(answer.currency.as_deref());
    match &answer.view {
        View::Overview(fleet) => overview(fleet, costs, out),
        View::Groups(grouping, grouped) => groups(*grouping, grouped, costs, out),
        View::Nodes(all) => ranking(all, out),
        View::Worst(all) => {
            runs(all, costs, true, out)?;
            hidden(words::hidden(answer.total.applications, all.len()), out)
        }
        View::Job(job) => {
            for change in &job.changes {
                writeln!(out, "\n{}", escaped(&words::change(change)))?;
            }
            if job.changes.is_empty() {
                writeln!(out, "\nNeither run time nor memory changed its level.")?;
            }
            runs(&job.shown, costs, false, out)?;
            let earlier = words::hidden(job.of, job.shown.len());
            if earlier == 0 { Ok(()) } else { writeln!(out, "\n{earlier} earlier (`--top`)") }
        }
    }
}

fn overview(fleet: &Fleet, costs: Costs<'_>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(saved) = words::saved_so_far(fleet, costs.0) {
        writeln!(out, "\n{}", escaped(&saved))?;
    }
    over_time(fleet, out)?;
    groups(Grouping::Job, &fleet.jobs.grouped, costs, out)?;
    groups(Grouping::Trouble, &fleet.troubles, costs, out)?;
    groups(Grouping::User, &fleet.users.grouped, costs, out)?;
    groups(Grouping::Queue, &fleet.queues.grouped, costs, out)?;
    remedies(fleet, out)?;
    if !fleet.realised.is_empty() {
        writeln!(out, "\nChanged configurations:\n")?;
    }
    for change in &fleet.realised {
        writeln!(out, "- {}", escaped(&words::realised(change, costs.0)))?;
    }
    hidden(words::hidden(fleet.realised_of, fleet.realised.len()), out)?;
    ranking(&fleet.nodes, out)?;
    unread(fleet, out)
}

fn over_time(fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
    let Some((periods, latest, earlier)) = words::latest(fleet) else { return Ok(()) };
    writeln!(out, "\n| {} | GB·h | not needed |\n| --- | --: | --: |", words::period(periods))?;
    for period in latest {
        let (used, wasted) = (hours(period.used_gb_hours), hours(period.wasted_gb_hours));
        writeln!(out, "| {} | {used} | {wasted} |", period.from)?;
    }
    if earlier == 0 { Ok(()) } else { writeln!(out, "\n{earlier} earlier (`--format json`)") }
}

fn remedies(fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
    if fleet.remedies.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n| setting | applications | jobs | most often |\n| --- | --: | --: | --- |")?;
    for remedy in &fleet.remedies {
        let (setting, most) = (escaped(&remedy.setting), escaped(&words::remedy(remedy)));
        writeln!(out, "| {setting} | {} | {} | {most} |", remedy.applications, remedy.jobs)?;
    }
    hidden(words::hidden(fleet.remedies_of, fleet.remedies.len()), out)
}

fn unread(fleet: &Fleet, out: &mut dyn Write) -> io::Result<()> {
    let Some(sum) = words::unread(fleet) else { return Ok(()) };
    writeln!(out, "\n{sum}.")?;
    writeln!(out, "\n| files | problem | for example |\n| --: | --- | --- |")?;
    for kind in &fleet.unread {
        writeln!(out, "| {} | {} | {} |", kind.files, escaped(&kind.problem), escaped(&kind.example))?;
    }
    hidden(fleet.unread_hidden(), out)
}

/// The number of lines that a list leaves out.
fn hidden(hidden: u64, out: &mut dyn Write) -> io::Result<()> {
    if hidden == 0 { Ok(()) } else { writeln!(out, "\n{hidden} more (`--top`)") }
}

fn groups(grouping: Grouping, grouped: &Grouped, costs: Costs<'_>, out: &mut dyn Write) -> io::Result<()> {
    if grouped.groups.is_empty() {
        return Ok(());
    }
    let key = words::key(grouping);
    let (title, rule) = (costs.title(), costs.rule());
    writeln!(out, "\n| {key} | runs | failed | GB·h | not needed | share | remedies save |{title}")?;
    writeln!(out, "| --- | --: | --: | --: | --: | --: | --: |{rule}")?;
    for group in &grouped.groups {
        let name = group.key.as_deref().map_or_else(|| "(unknown)".to_owned(), escaped);
        let share = words::share(group).map(|share| format!("{share:.0} %")).unwrap_or_default();
        let saves = hours(group.saved_gb_hours);
        let Group { applications, failed, used_gb_hours, wasted_gb_hours, .. } = group;
        let (used, wasted) = (hours(*used_gb_hours), hours(*wasted_gb_hours));
        let cost = costs.cell(group.cost);
        writeln!(
            out,
            "| {name} | {applications} | {failed} | {used} | {wasted} | {share} | {saves} |{cost}"
        )?;
    }
    hidden(words::hidden(grouped.of, grouped.groups.len()), out)
}

fn ranking(nodes: &Nodes, out: &mut dyn Write) -> io::Result<()> {
    if let Some(summary) = of_nodes(nodes) {
        writeln!(out, "\n{}.", escaped(&summary))?;
    }
    if nodes.nodes.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n| node | runs | attempts | failed | task time | lost executors | stragglers | mean z |"
    )?;
    writeln!(out, "| --- | --: | --: | --: | --: | --: | --: | --: |")?;
    for node in &nodes.nodes {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            escaped(&node.name),
            node.applications,
            node.attempts,
            node.failed,
            node.task_time.as_ref().map(Millis::to_string).unwrap_or_default(),
            node.lost_executors,
            share(node).map(|share| format!("{share} %")).unwrap_or_default(),
            mean(node).unwrap_or_default(),
        )?;
    }
    hidden(words::hidden(nodes.of, nodes.nodes.len()), out)
}

/// `remedies` adds what to change against the first trouble of each run.
fn runs(runs: &[Run], costs: Costs<'_>, remedies: bool, out: &mut dyn Write) -> io::Result<()> {
    let title = format!("{}{}", if remedies { " what to change |" } else { "" }, costs.title());
    let rule = format!("{}{}", if remedies { " --- |" } else { "" }, costs.rule());
    writeln!(out, "\n| started | application | status | took | GB·h | not needed | first trouble |{title}")?;
    writeln!(out, "| --- | --- | --- | --: | --: | --: | --- |{rule}")?;
    for run in runs {
        let trouble = run.trouble.as_ref().map(|(cause, _)| escaped(cause)).unwrap_or_default();
        let remedy = run.trouble.as_ref().and_then(|(_, remedy)| remedy.as_deref());
        let remedy = remedy.map(escaped).unwrap_or_default();
        let remedy = if remedies { format!(" {remedy} |") } else { String::new() };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {trouble} |{remedy}{}",
            words::day(run.submitted).unwrap_or_default(),
            escaped(&run.id),
            escaped(&run.status),
            run.run_time.as_ref().map(Millis::to_string).unwrap_or_default(),
            hours(run.used_gb_hours),
            hours(run.wasted_gb_hours),
            costs.cell(run.cost),
        )?;
    }
    Ok(())
}

/// The last column of tables, if there are prices.
#[derive(Clone, Copy)]
struct Costs<'a>(Option<&'a str>);

impl Costs<'_> {
    fn title(self) -> String {
        self.0.map(|currency| format!(" {} |", escaped(currency))).unwrap_or_default()
    }

    const fn rule(self) -> &'static str {
        if self.0.is_some() { " --: |" } else { "" }
    }

    fn cell(self, cost: Option<f64>) -> String {
        self.0.map(|_| format!(" {} |", hours(cost))).unwrap_or_default()
    }
}

/// Longer names are cut.
const LONGEST: usize = 400;

fn escaped(name: &str) -> String {
    text(name, LONGEST)
}

fn hours(value: Option<f64>) -> String {
    value.map(amount).unwrap_or_default()
}
