//! The verdict: which nodes are slow, by how much, how certain this is, and what to do.

use std::io::{self, Write};

use super::{Page, clean, counted};
use crate::nodes::words::{self, MAX_NAMED};
use elephant_engine::nodes::indicators::Node;

impl Page<'_> {
    pub(super) fn verdict(&self, out: &mut dyn Write) -> io::Result<()> {
        let report = self.report;
        self.maybe(words::suspected(report), out)?;
        let stragglers: Vec<&Node> = report.ranking.nodes.iter().filter(|node| node.is_straggler()).collect();
        for node in stragglers.iter().take(MAX_NAMED) {
            let evidence = words::slow(node, &report.settings);
            self.paragraph(&format!("{} is slower than the others{evidence}", clean(&node.name)), out)?;
        }
        let more = stragglers.len().saturating_sub(MAX_NAMED);
        if more > 0 {
            self.paragraph(&format!("Also slower: {}.", counted(more as u64, "more node")), out)?;
        }
        if stragglers.is_empty() {
            self.paragraph(&words::none_slow(report), out)?;
            self.maybe(words::slightly_slow(report), out)?;
        } else {
            self.maybe(words::by_chance(report), out)?;
            words::exclude(self.report).map_or(Ok(()), |advice| self.paragraph(advice, out))?;
            self.maybe(words::slightly_slow(report), out)?;
        }
        self.maybe(words::losses(report), out)
    }

    fn maybe(&self, text: Option<String>, out: &mut dyn Write) -> io::Result<()> {
        text.map_or(Ok(()), |text| self.paragraph(&text, out))
    }
}
