//! The verdict: which nodes are slow, by how much, how certain this is, and what to do.

use std::io::{self, Write};

use super::{MAX_NAMED, Page, clean, counted};
use crate::nodes::indicators::Node;
use crate::nodes::levels::Interval;
use crate::units::three_digits;

impl Page<'_> {
    pub(super) fn verdict(&self, out: &mut dyn Write) -> io::Result<()> {
        let summary = &self.report.ranking.summary;
        self.suspected(out)?;
        let stragglers: Vec<&Node> =
            self.report.ranking.nodes.iter().filter(|node| node.is_straggler()).collect();
        for node in stragglers.iter().take(MAX_NAMED) {
            self.paragraph(&self.slow(node), out)?;
        }
        let more = stragglers.len().saturating_sub(MAX_NAMED);
        if more > 0 {
            self.paragraph(&format!("Also slower: {}.", counted(more as u64, "more node")), out)?;
        }
        if stragglers.is_empty() {
            let text = match summary.ranked {
                0 => format!(
                    "No node is ranked, because none has at least {} tasks (--min-node-tasks). The results below may be due to chance.",
                    self.report.settings.min_node_tasks
                ),
                1 => "Only one node is ranked. There is no other node to compare it with, so it is not called a straggler.".to_owned(),
                _ if summary.slightly_slow > 0 => {
                    "No node is called a straggler: on no node do tasks take much longer than average.".to_owned()
                }
                _ => "No node is called a straggler: on no node do tasks take significantly longer than average.".to_owned(),
            };
            self.paragraph(&text, out)?;
            self.slightly_slow(out)?;
        } else {
            self.slightly_slow(out)?;
            let by_chance = self.report.slow_by_chance();
            if by_chance >= 1.0 {
                let text = format!(
                    "Of {} ranked nodes, about {by_chance:.0} have such an interval by chance. Trust intervals far from 0, and nodes that stay slow.",
                    summary.ranked
                );
                self.paragraph(&text, out)?;
            }
            self.paragraph(
                "To exclude them from YARN, write their names with --exclude-list FILE, set yarn.resourcemanager.nodes.exclude-path to that file, and run yarn rmadmin -refreshNodes. Look at the nodes first, because they may be slow only on some days.",
                out,
            )?;
        }
        self.losses(out)
    }

    /// Nodes with few tasks, all of them slow.
    fn suspected(&self, out: &mut dyn Write) -> io::Result<()> {
        let suspected: Vec<&Node> = self.report.ranking.nodes.iter().filter(|node| node.suspected).collect();
        if suspected.is_empty() {
            return Ok(());
        }
        let named: Vec<String> = suspected
            .iter()
            .take(MAX_NAMED)
            .map(|node| format!("{} ({})", clean(&node.name), counted(node.tasks, "task")))
            .collect();
        let more = suspected.len().checked_sub(MAX_NAMED).filter(|&more| more > 0);
        let more = more.map(|more| format!(" and {}", counted(more as u64, "more node"))).unwrap_or_default();
        let text = format!(
            "Suspected: {}{more}. Too few tasks to be ranked, but each of them took {} times the median of its group or more. Slow nodes run few tasks; look at them first.",
            named.join(", "),
            three_digits(self.report.settings.straggler)
        );
        self.paragraph(&text, out)
    }

    /// Nodes that are significantly slow by so little that nothing follows from it.
    fn slightly_slow(&self, out: &mut dyn Write) -> io::Result<()> {
        let settings = &self.report.settings;
        let slightly = self.report.ranking.summary.slightly_slow;
        if slightly == 0 {
            return Ok(());
        }
        let verb = if slightly == 1 { "is" } else { "are" };
        let text = format!(
            "{} {verb} significantly slower than the others, but by too little to act on: less than {} standard deviations and less than {} times the others' share of stragglers.",
            counted(slightly, "node"),
            three_digits(settings.slow_mean),
            three_digits(settings.slow_straggler_ratio)
        );
        self.paragraph(&text, out)
    }

    /// The nodes on which most was lost.
    fn losses(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut nodes: Vec<&Node> =
            self.report.ranking.nodes.iter().filter(|node| !node.losses.is_none()).collect();
        if nodes.is_empty() {
            return Ok(());
        }
        let key = |node: &Node| (node.losses.executors, node.losses.failures);
        nodes.sort_by(|a, b| key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name)));
        let named = nodes.iter().take(MAX_NAMED).map(|node| {
            let lost = (node.losses.executors > 0).then(|| counted(node.losses.executors, "executor"));
            let failed = (node.losses.failures > 0).then(|| counted(node.losses.failures, "other failure"));
            let what: Vec<String> = lost.into_iter().chain(failed).collect();
            format!("{} ({})", clean(&node.name), what.join(", "))
        });
        let named: Vec<String> = named.collect();
        let more = nodes.len().checked_sub(MAX_NAMED).filter(|&more| more > 0);
        let more = more.map(|more| format!(" and {}", counted(more as u64, "more node"))).unwrap_or_default();
        self.paragraph(&format!("Lost or failed on: {}{more}.", named.join(", ")), out)
    }

    fn slow(&self, node: &Node) -> String {
        let settings = &self.report.settings;
        let mut parts = vec![format!("{} is slower than the others", clean(&node.name))];
        parts.extend(node.mean.zip(node.interval()).map(|(mean, Interval { low, high })| {
            format!(
                ": its {} take {mean:.2} standard deviations longer than the average of their group ({:.0} % interval {low:.2} to {high:.2})",
                counted(node.tasks, "task"),
                100.0 * settings.confidence
            )
        }));
        let share = node.straggler_share.zip(node.straggler_interval);
        let others = node.others_straggler_share;
        let others =
            others.map(|share| format!(", {:.0} % of the same groups on other nodes", 100.0 * share));
        parts.extend(share.map(|(share, Interval { low, high })| {
            format!(
                "; {:.0} % of them ({:.0} to {:.0} %) take {} times the median or more{}",
                100.0 * share,
                100.0 * low,
                100.0 * high,
                three_digits(settings.straggler),
                others.as_deref().unwrap_or_default()
            )
        }));
        parts.extend(node.trend.transient.then(|| "; on some days it was faster than average".to_owned()));
        parts.concat() + "."
    }
}
