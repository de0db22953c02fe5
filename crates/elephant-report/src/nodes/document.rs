//! The ranking as a document: which nodes are slow, how certain this is, and all nodes.

use super::boxes;
use super::days::Days;
use super::shown;
use super::tables::{all_nodes, families, groups, intervals, levels};
use super::words::{self, MAX_NAMED};
use crate::document::{Block, Document, Figure, Finding, Media, Section, from_files};
use crate::words::{conditions, files_read, plural};
use elephant_base::severity::Severity;
use elephant_engine::nodes::NodesReport;
use elephant_engine::nodes::indicators::Node;

const Z: &str = "The z-score of a task is the number of standard deviations by which it took longer than the average of its group (the map tasks or the reduce tasks of a job, or a stage).";

/// The first `top` nodes; only the verdict if a summary is wanted.
pub(super) fn of(report: &NodesReport, top: Option<usize>, summary: bool) -> Document<'_> {
    let nodes = shown(report, top);
    let mut sections = vec![answer(report)];
    if !summary && !report.ranking.nodes.is_empty() {
        let days = Days::of(nodes).map(|days| Block::Table(days.table()));
        sections.extend([
            intervals(nodes, &report.settings),
            Section::new("days", "Days", "Day by day").only(Media::HTML, days),
            spread(report),
            all_nodes(report, nodes),
        ]);
    }
    let conditions = conditions(&report.conditions);
    let files = Block::Lead(files_read(&report.files));
    let files = Section::new("files", "", "").only(Media::TEXT, files);
    sections.push(files.only(Media::TEXT, conditions.map(Block::Lead)));
    Document { title: "Slow nodes", foot: from_files(&report.files), problems: &report.problems, sections }
}

fn answer(report: &NodesReport) -> Section<'_> {
    let section = Section::new("answer", "Answer", "")
        .only(Media::HTML, Block::Headline(headline(report)))
        .only(Media::HTML, Block::Figures(figures(report)));
    if report.ranking.nodes.is_empty() {
        return section.with(Block::Lead(words::no_nodes(&report.settings)));
    }
    let slow: Vec<&Node> = report.ranking.nodes.iter().filter(|node| node.is_straggler()).collect();
    let finding = |node: &&Node| {
        Block::Finding(Finding {
            place: node.rack.as_ref().map(|rack| format!("in {rack}")),
            ..Finding::new(
                Severity::Severe,
                &node.name,
                format!(" is slower than the others{}", words::slow(node, &report.settings)),
            )
        })
    };
    let failed: Vec<&Node> = report.ranking.nodes.iter().filter(|node| node.failed).collect();
    let of_failed =
        |node: &&Node| Block::Finding(Finding::new(Severity::Critical, &node.name, words::failed(node)));
    let section = failed.iter().take(MAX_NAMED).map(of_failed).fold(section, Section::with);
    let more = failed.len().saturating_sub(MAX_NAMED);
    let more = (more > 0).then(|| format!("Also failed: {}.", plural(more as u64, "more node")));
    let section = section.with(more.map(Block::Lead));
    let section = section.with(words::suspected(report).map(Block::Lead));
    let section = slow.iter().take(MAX_NAMED).map(finding).fold(section, Section::with);
    let more = slow.len().saturating_sub(MAX_NAMED);
    let more = (more > 0).then(|| format!("Also slower: {}.", plural(more as u64, "more node")));
    let (verdict, advice) = match slow.as_slice() {
        [] if failed.is_empty() => (Some(words::none_slow(report)), None),
        [] => (Some(words::none_slow(report)), words::exclude(report)),
        _ => (words::by_chance(report), words::exclude(report)),
    };
    section
        .with(more.map(Block::Lead))
        .with(verdict.map(Block::Lead))
        .with(advice.map(|advice| Block::Advice(advice.to_owned())))
        .with(words::slightly_slow(report).map(Block::Lead))
        .with(words::losses(report).map(Block::Lead))
        .only(Media::HTML, Block::Note(format!("{}. {Z}", words::basis(report))))
}

/// The answer in one line.
fn headline(report: &NodesReport) -> String {
    let summary = &report.ranking.summary;
    let ranked = plural(summary.ranked, "ranked node");
    let slow = match (summary.nodes, summary.ranked, summary.stragglers) {
        (0, ..) => "No node can be judged".to_owned(),
        (_, 0, _) => "No node is ranked".to_owned(),
        (_, 1, 0) => "Only one node is ranked".to_owned(),
        (_, _, 0) => format!("None of {ranked} is clearly slower than the others"),
        (_, _, 1) => format!("1 of {ranked} is slower than the others"),
        (_, _, slow) => format!("{slow} of {ranked} are slower than the others"),
    };
    let slow = match summary.failed {
        0 => slow,
        failed => format!("{} failed; {}", plural(failed, "node"), uncapitalised(&slow)),
    };
    match summary.suspected {
        0 => slow,
        1 => format!("{slow}, 1 more is suspected"),
        suspected => format!("{slow}, {suspected} more are suspected"),
    }
}

/// `text` with its first letter in lower case.
fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_lowercase(), letters.as_str()))
}

fn figures(report: &NodesReport) -> Vec<Figure<'_>> {
    let summary = &report.ranking.summary;
    let inside = format!("in {}", plural(report.files.applications, "application"));
    let figure = |name, count: u64, remark: Option<String>| Figure {
        name,
        value: count.into(),
        remarks: remark.into_iter().collect(),
    };
    vec![
        figure("Nodes", summary.nodes, Some(format!("{} ranked", summary.ranked))),
        figure("Failed", summary.failed, None),
        figure("Slow", summary.stragglers, None),
        figure("Suspected", summary.suspected, None),
        figure("Slow only on some days", summary.transient, None),
        figure("Tasks compared", summary.groups.tasks, Some(inside)),
    ]
}

/// Levels, distributions, racks and types.
fn spread(report: &NodesReport) -> Section<'_> {
    let summary = &report.ranking.summary;
    let racks = (summary.racks.len() > 1).then(|| groups("rack", &summary.racks));
    let types = (!summary.types.is_empty()).then(|| groups("type", &summary.types));
    let tables =
        [levels(summary), families(summary), racks, types].into_iter().flatten().map(Block::Table).collect();
    let sentences = [
        words::levels(summary),
        words::best_fits(summary),
        (summary.racks.len() > 1).then(|| format!("Mean z by rack: {}", words::groups(&summary.racks))),
        words::types(summary),
    ];
    let section = Section::new("spread", "Levels and distributions", "Levels and distributions")
        .only(Media::HTML, Block::Beside(tables));
    let sentences = sentences.into_iter().flatten().map(|sentence| (Media::TEXT, Block::Lead(sentence)));
    let racks = Some(&summary.racks).filter(|racks| racks.len() > 1);
    let of_racks = racks.map(|racks| boxes::blocks("rack", racks, &report.settings));
    let boxes = of_racks.into_iter().flatten().chain(boxes::blocks("type", &summary.types, &report.settings));
    sentences.chain(boxes).fold(section, |section, (media, block)| section.only(media, block))
}
