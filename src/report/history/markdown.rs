//! Answers as Markdown: the sums first, then tables.

use std::io::{self, Write};

use super::nodes::{mean, share, summary as of_nodes};
use super::words::{self, amount};
use crate::report::markdown::text;
use crate::report::words::plural;
use crate::store::{Answer, Fleet, Group, Grouped, Grouping, Nodes, Run, View};
use crate::units::Millis;

pub(super) fn write(answer: &Answer, summary: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "## {}", escaped(&words::extent(answer)))?;
    if answer.total.applications == 0 {
        return Ok(());
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
        View::Worst(all) => runs(all, costs, out),
        View::Job(job) => {
            writeln!(out, "\n{}: {}", escaped(&job.job), plural(job.of, "run"))?;
            for change in &job.changes {
                writeln!(out, "\n{}", escaped(&words::change(change)))?;
            }
            runs(&job.shown, costs, out)
        }
    }
}

fn overview(fleet: &Fleet, costs: Costs<'_>, out: &mut dyn Write) -> io::Result<()> {
    groups(Grouping::Job, &fleet.jobs.grouped, costs, out)?;
    groups(Grouping::Trouble, &fleet.troubles, costs, out)?;
    groups(Grouping::User, &fleet.users.grouped, costs, out)?;
    groups(Grouping::Queue, &fleet.queues.grouped, costs, out)?;
    if !fleet.remedies.is_empty() {
        writeln!(out, "\n| setting | applications | jobs | most often |\n| --- | --: | --: | --- |")?;
    }
    for remedy in &fleet.remedies {
        let (setting, most) = (escaped(&remedy.setting), escaped(&words::remedy(remedy)));
        writeln!(out, "| {setting} | {} | {} | {most} |", remedy.applications, remedy.jobs)?;
    }
    if !fleet.realised.is_empty() {
        writeln!(out, "\nChanged configurations:\n")?;
    }
    for change in &fleet.realised {
        writeln!(out, "- {}", escaped(&words::realised(change)))?;
    }
    ranking(&fleet.nodes, out)?;
    if fleet.unread_of > 0 {
        writeln!(out, "\n{} could not be read.", plural(fleet.unread_of, "file"))?;
    }
    Ok(())
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
    let hidden = grouped.of.saturating_sub(grouped.groups.len() as u64);
    if hidden == 0 { Ok(()) } else { writeln!(out, "\n{hidden} more (`--top`)") }
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
    let hidden = nodes.of.saturating_sub(nodes.nodes.len() as u64);
    if hidden == 0 { Ok(()) } else { writeln!(out, "\n{hidden} more (`--top`)") }
}

fn runs(runs: &[Run], costs: Costs<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (title, rule) = (costs.title(), costs.rule());
    writeln!(out, "\n| started | application | status | took | GB·h | not needed | first trouble |{title}")?;
    writeln!(out, "| --- | --- | --- | --: | --: | --: | --- |{rule}")?;
    for run in runs {
        let trouble = run.trouble.as_ref().map(|(cause, _)| escaped(cause)).unwrap_or_default();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {trouble} |{}",
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
