//! Sentences: which nodes are slow, by how much, how certain this is, and what to do.

use crate::words::{plural, two_decimals};
use crate::wrap::clean;
use elephant_base::units::three_digits;
use elephant_engine::nodes::NodesReport;
use elephant_engine::nodes::indicators::Node;
use elephant_engine::nodes::levels::Interval;
use elephant_engine::nodes::settings::Settings;
use elephant_engine::nodes::summary::Summary;
use elephant_engine::nodes::{Family, NodeGroup};

/// Maximum number of nodes named in a list.
pub(super) const MAX_NAMED: usize = 5;

/// What to do with slow nodes.
const EXCLUDE: &str = "To exclude them from YARN, write their names with --exclude-list FILE, set yarn.resourcemanager.nodes.exclude-path to that file, and run yarn rmadmin -refreshNodes. Look at the nodes first, because they may be slow only on some days.";

/// The advice on slow nodes; `None` if no node is to be excluded, or if all applications are from traces, whose nodes users
/// cannot exclude.
pub(super) fn exclude(report: &NodesReport) -> Option<&'static str> {
    let is_any = report.ranking.nodes.iter().any(|node| node.to_exclude);
    (is_any && !report.only_traces).then_some(EXCLUDE)
}

/// Why no node can be judged.
pub(super) fn no_nodes(settings: &Settings) -> String {
    let min = settings.min_group;
    format!("No node can be judged: no group has {min} or more tasks with different times and known nodes.")
}

/// Why no node is called a straggler.
pub(super) fn none_slow(report: &NodesReport) -> String {
    let summary = &report.ranking.summary;
    match summary.ranked {
        0 => format!(
            "No node is ranked, because none has at least {} tasks (--min-node-tasks). The results below may be due to chance.",
            report.settings.min_node_tasks
        ),
        1 => "Only one node is ranked. There is no other node to compare it with, so it is not called a straggler.".to_owned(),
        _ => {
            let ranked = if summary.suspected > 0 { "ranked " } else { "" };
            let longer = if summary.slightly_slow > 0 { "much" } else { "significantly" };
            format!(
                "No {ranked}node is called a straggler: tasks do not take {longer} longer than average on any {ranked}node."
            )
        }
    }
}

/// How many nodes seem slow by chance; `None` if it is less than one.
pub(super) fn by_chance(report: &NodesReport) -> Option<String> {
    let by_chance = report.slow_by_chance();
    let ranked = report.ranking.summary.ranked;
    (by_chance >= 1.0).then(|| {
        format!(
            "About {by_chance:.0} of {ranked} ranked nodes have such an interval by chance. Trust intervals far from 0, and nodes that stay slow."
        )
    })
}

/// ", 24 overtaken by their copies": these would have taken even longer.
fn by_copies(node: &Node) -> String {
    match node.overtaken {
        0 => String::new(),
        1 => ", 1 overtaken by its copy".to_owned(),
        overtaken => format!(", {overtaken} overtaken by their copies"),
    }
}

/// Nodes with few tasks, most of them slow.
pub(super) fn suspected(report: &NodesReport) -> Option<String> {
    let suspected: Vec<&Node> = report.ranking.nodes.iter().filter(|node| node.suspected).collect();
    let named: Vec<String> = suspected
        .iter()
        .take(MAX_NAMED)
        .map(|node| {
            format!(
                "{} ({} of {}{})",
                clean(&node.name),
                node.stragglers,
                plural(node.tasks, "task"),
                by_copies(node)
            )
        })
        .collect();
    (!suspected.is_empty()).then(|| {
        format!(
            "Suspected: {}{}. Too few tasks to be ranked, but so many of them took {} times the median of their group or more, significantly more than on other nodes. Slow nodes run few tasks; look at them first.",
            named.join(", "),
            more(suspected.len()),
            three_digits(report.settings.straggler)
        )
    })
}

/// What a failed node lost, after its name: " lost 47 of its 47 executors, …".
pub(super) fn failed(node: &Node) -> String {
    let others = node.executors.shares().map(|(_, others)| {
        let others = 100.0 * others;
        format!(", on other nodes of the same applications {} %", three_digits(others))
    });
    format!(
        " lost {} of its {}{}. Drain it, and read the end of an executor's log there.",
        node.executors.hits,
        plural(node.executors.members, "executor"),
        others.unwrap_or_default()
    )
}

/// Nodes that are significantly slow, but by too little to act on.
pub(super) fn slightly_slow(report: &NodesReport) -> Option<String> {
    let settings = &report.settings;
    let slightly = report.ranking.summary.slightly_slow;
    let verb = if slightly == 1 { "is" } else { "are" };
    let nodes = if report.ranking.nodes.iter().any(Node::is_straggler) { "more node" } else { "node" };
    (slightly > 0).then(|| {
        format!(
            "{} {verb} significantly slower than the others, but by too little to act on: less than {} standard deviations and less than {} times the others' share of stragglers.",
            plural(slightly, nodes),
            three_digits(settings.slow_mean),
            three_digits(settings.slow_straggler_ratio)
        )
    })
}

/// The nodes on which most was lost.
pub(super) fn losses(report: &NodesReport) -> Option<String> {
    let mut nodes: Vec<&Node> = report.ranking.nodes.iter().filter(|node| !node.losses.is_none()).collect();
    let key = |node: &Node| (node.losses.executors, node.losses.failures);
    nodes.sort_by(|a, b| key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name)));
    let named = nodes.iter().take(MAX_NAMED).map(|node| format!("{} ({})", clean(&node.name), lost(node)));
    let named: Vec<String> = named.collect();
    (!nodes.is_empty()).then(|| format!("Lost or failed on: {}{}.", named.join(", "), more(nodes.len())))
}

/// "2 of 5 executors, 1 other failure".
pub(super) fn lost(node: &Node) -> String {
    let lost = (node.losses.executors > 0).then(|| match node.executors.members {
        all if all >= node.losses.executors => {
            format!("{} of {}", node.losses.executors, plural(all, "executor"))
        }
        _ => plural(node.losses.executors, "executor"),
    });
    let failed = (node.losses.failures > 0).then(|| plural(node.losses.failures, "other failure"));
    let what: Vec<String> = lost.into_iter().chain(failed).collect();
    what.join(", ")
}

/// " and 3 more nodes".
fn more(all: usize) -> String {
    let more = all.checked_sub(MAX_NAMED).filter(|&more| more > 0);
    more.map(|more| format!(" and {}", plural(more as u64, "more node"))).unwrap_or_default()
}

/// By how much a node is slower, after its name: ": its 64 tasks take 0.61 standard deviations longer …".
pub(super) fn slow(node: &Node, settings: &Settings) -> String {
    let mut parts = Vec::new();
    parts.extend(node.mean.zip(node.interval()).map(|(mean, Interval { low, high })| {
        format!(
            ": its {} take {mean:.2} standard deviations longer than the average of their group ({:.0} % interval {low:.2} to {high:.2})",
            plural(node.tasks, "task"),
            100.0 * settings.confidence
        )
    }));
    let share = node.straggler_share.zip(node.straggler_interval);
    let others = node.others_straggler_share;
    let others = others.map(|share| format!(", {:.0} % of the same groups on other nodes", 100.0 * share));
    parts.extend(share.map(|(share, Interval { low, high })| {
        format!(
            "{}; {:.0} % of them ({:.0} to {:.0} %) take {} times the median or more{}",
            by_copies(node),
            100.0 * share,
            100.0 * low,
            100.0 * high,
            three_digits(settings.straggler),
            others.as_deref().unwrap_or_default()
        )
    }));
    let is_seen_once = node.is_straggler() && !node.to_exclude;
    parts.extend(is_seen_once.then(|| {
        format!("; {} ran tasks there, too few for --exclude-list", plural(node.applications, "application"))
    }));
    parts.extend(node.trend.transient.then(|| "; on some days it was faster than average".to_owned()));
    parts.concat() + "."
}

/// "3120 tasks in 12 groups, 24 originals overtaken by copies, 4 groups with fewer than 3 tasks skipped".
pub(super) fn basis(report: &NodesReport) -> String {
    let groups = report.ranking.summary.groups;
    let mut parts = vec![format!("{} in {}", plural(groups.tasks, "task"), plural(groups.used, "group"))];
    let min = report.settings.min_group;
    let mut add = |count: u64, what: &str, rest: &str| {
        parts.extend((count > 0).then(|| format!("{}{rest}", plural(count, what))));
    };
    add(groups.overtaken, "original", " overtaken by copies");
    add(groups.too_small, "group", &format!(" with fewer than {min} tasks skipped"));
    add(groups.without_spread, "group", " with equal times skipped");
    add(groups.tasks_without_node, "task", " without a node");
    parts.join(", ")
}

/// "+0.02 per day", or that the node was slow only on some days.
pub(super) fn trend(node: &Node) -> Option<String> {
    if node.trend.transient {
        return Some("comes and goes".to_owned());
    }
    node.trend.slope.map(|slope| format!("{slope:+.2} per day").replace("-0.00", "+0.00"))
}

/// "2 nodes with fewer than 30 tasks are not ranked: n1 (mean z 0.12, 4 tasks), …".
pub(super) fn unranked(nodes: &[&Node], settings: &Settings, most: usize) -> Option<String> {
    let named = nodes.iter().take(most).map(|node| {
        let mean = node.mean.map_or_else(|| "-".to_owned(), two_decimals);
        format!("{} (mean z {mean}, {})", node.name, plural(node.tasks, "task"))
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if nodes.len() > most { " …" } else { "" };
    let (count, verb) = (plural(nodes.len() as u64, "node"), if nodes.len() == 1 { "is" } else { "are" });
    let min = settings.min_node_tasks;
    (!nodes.is_empty())
        .then(|| format!("{count} with fewer than {min} tasks {verb} not ranked: {named}{more}"))
}

/// "Nodes by level (0 is the slowest): 0: 1, 1: 5".
pub(super) fn levels(summary: &Summary) -> Option<String> {
    let levels = summary.levels.iter().enumerate();
    let levels = levels.map(|(level, count)| format!("{level}: {count}")).collect();
    (summary.levels.len() > 1).then(|| format!("Nodes by level (0 is the slowest): {}", shortened(levels)))
}

/// The families of distributions, the one that fits best most often first.
pub(super) fn by_frequency(summary: &Summary) -> Vec<(Family, u64)> {
    let mut fits = summary.best_fits.clone();
    fits.sort_by_key(|&(family, count)| (std::cmp::Reverse(count), family));
    fits
}

/// "Best fit of z by Anderson-Darling: loglogistic3 2 (67 %), …".
pub(super) fn best_fits(summary: &Summary) -> Option<String> {
    let percent = |count: u64| 100.0 * count as f64 / summary.fitted.max(1) as f64;
    let fit = |(family, count): (Family, u64)| format!("{} {count} ({:.0} %)", family.name(), percent(count));
    let fits: Vec<String> = by_frequency(summary).into_iter().map(fit).collect();
    let top = summary.loglogistic_in_top_three;
    (summary.fitted > 0).then(|| {
        format!(
            "Best fit of z by Anderson-Darling: {}; loglogistic3 is among the best three of {} ({:.0} %)",
            fits.join(", "),
            plural(top, "node"),
            percent(top)
        )
    })
}

/// "Mean z by type: r5 0.12 (3 nodes); 2 nodes without a type".
pub(super) fn types(summary: &Summary) -> Option<String> {
    let untyped = match summary.untyped {
        0 => String::new(),
        count => format!("; {} without a type", plural(count, "node")),
    };
    (!summary.types.is_empty()).then(|| format!("Mean z by type: {}{untyped}", groups(&summary.types)))
}

/// "r5 0.12 (3 nodes), r6 -0.04 (5 nodes)".
pub(super) fn groups(groups: &[NodeGroup]) -> String {
    let group = |group: &NodeGroup| {
        let mean = group.mean.map_or_else(|| "-".to_owned(), two_decimals);
        format!("{} {mean} ({})", group.name, plural(group.nodes, "node"))
    };
    shortened(groups.iter().map(group).collect())
}

/// The first few of a long list.
fn shortened(mut list: Vec<String>) -> String {
    const SHOWN: usize = 12;
    if list.len() > SHOWN {
        list.truncate(SHOWN);
        list.push("…".to_owned());
    }
    list.join(", ")
}
