//! What a log holds.

use std::collections::BTreeMap;

use super::chain::{Cause, Chain, Raw, first_line};
use super::classifier::{Classifier, Match};
use super::form::Form;
use super::ids::Ids;
use super::limits::{self, Skipped};
use super::mask::masked;
use super::origin::Origin;
use super::owner::Owner;

/// The failures that a log tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// What it is.
    pub form: Form,
    /// Its parts, in order: one for each stream of a container; one in all for a plain log.
    pub sections: Vec<Section>,
    /// Its chains by their first lines. Equal ones of one section are one.
    pub chains: Vec<Chain>,
    /// Ids that its lines name, also those without a failure.
    pub ids: Ids,
    /// The process that wrote it, if its lines say.
    pub origin: Option<Origin>,
    /// Which executor or task attempt wrote it, if it is of one process.
    pub owner: Owner,
    /// Its number of lines.
    pub lines: u64,
    /// What limits left out.
    pub skipped: Skipped,
    /// Whether reading it ended with an error.
    pub is_damaged: bool,
}

/// A part of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Section {
    /// The container, if the log names it.
    pub container: Option<String>,
    /// The stream: `stderr`, `syslog`, `prelaunch.err`.
    pub log_type: Option<String>,
    /// Which executor or task attempt wrote it.
    pub owner: Owner,
    /// Its first line, from 1.
    pub line: u64,
    /// If only a part of it is shown: so many bytes of so many.
    pub cut: Option<(u64, u64)>,
}

impl Digest {
    /// The number of different chains with stack frames, wherever they are, and how many chains there are of each, the most
    /// frequent first.
    #[must_use]
    pub fn fingerprints(&self) -> Vec<(u64, u64)> {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for chain in self.chains.iter().filter(|chain| chain.has_frames) {
            *counts.entry(chain.fingerprint).or_default() += chain.count;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(fingerprint, count)| (std::cmp::Reverse(*count), *fingerprint));
        counts
    }
}

/// Collects chains.
pub(crate) struct Collector<'c> {
    classifier: &'c Classifier,
    messages: bool,
    chains: Vec<Chain>,
    /// The place of each chain by section and fingerprint.
    places: BTreeMap<(Option<usize>, u64), usize>,
    /// The masked first lines of exceptions, with the place of their chain: a log may repeat them.
    told: BTreeMap<String, usize>,
    text: usize,
    pub(crate) skipped: Skipped,
}

impl<'c> Collector<'c> {
    pub(crate) const fn new(classifier: &'c Classifier, messages: bool) -> Self {
        Self {
            classifier,
            messages,
            chains: Vec::new(),
            places: BTreeMap::new(),
            told: BTreeMap::new(),
            text: 0,
            skipped: Skipped { long_lines: 0, chain_lines: 0, causes: 0, chains: 0, sections: 0 },
        }
    }

    pub(crate) fn classifier(&self) -> &Classifier {
        self.classifier
    }

    /// Adds a chain.
    pub(crate) fn add(&mut self, raw: &Raw, section: Option<usize>, origin: Option<Origin>) {
        self.skipped.chain_lines += raw.more_lines;
        self.skipped.causes += raw.more_causes;
        let has_frames = raw.has_frames();
        if !has_frames && self.repeats(raw) {
            return;
        }
        let fingerprint = raw.fingerprint();
        let known = self.places.get(&(section, fingerprint)).and_then(|place| self.chains.get_mut(*place));
        if let Some(known) = known {
            known.count += 1;
            known.ids.merge(&raw.ids);
            return;
        }
        let size = raw.size();
        if self.chains.len() >= limits::FINGERPRINTS || self.text + size > limits::TEXT {
            self.skipped.chains += 1;
            return;
        }
        self.text += size;
        self.places.insert((section, fingerprint), self.chains.len());
        self.remember(raw, has_frames);
        let told = self.classifier.kind(raw, origin);
        self.chains.push(self.chain(raw, (section, fingerprint), told));
    }

    /// Whether a line without frames names an exception again that a chain has told: it is counted there.
    fn repeats(&mut self, raw: &Raw) -> bool {
        let Some(class) = raw.causes.last().and_then(|cause| cause.class.as_deref()) else { return false };
        let line = raw.causes.last().map(super::chain::RawCause::line).unwrap_or_default();
        let line = super::fingerprint::without_numbers(first_line(&line));
        let earlier = self.told.range(..=line.clone()).next_back();
        let known =
            earlier.filter(|(told, _)| line.starts_with(told.as_str()) && told.len() > class.len() + 2);
        let Some(chain) = known.and_then(|(_, place)| self.chains.get_mut(*place)) else { return false };
        chain.repeats += 1;
        true
    }

    fn remember(&mut self, raw: &Raw, has_frames: bool) {
        if !has_frames {
            return;
        }
        for cause in raw.causes.iter().filter(|cause| cause.class.is_some()) {
            let line = super::fingerprint::without_numbers(first_line(&cause.line()));
            self.told.entry(line).or_insert(self.chains.len());
        }
    }

    fn chain(&self, raw: &Raw, (section, fingerprint): (Option<usize>, u64), told: Option<Match>) -> Chain {
        let message = |text: &str| self.messages.then(|| masked(first_line(text)));
        let causes = raw.causes.iter().map(|cause| Cause {
            class: cause.class.clone(),
            frames: cause.frames.clone(),
            message: message(&cause.message).filter(|message| !message.is_empty()),
        });
        let (kind, facts, exit_code) = match told {
            Some(Match { kind, facts, exit_code, .. }) => (Some(kind), facts, exit_code),
            None => (None, Vec::new(), None),
        };
        Chain {
            kind,
            causes: causes.collect(),
            own: raw.own().cloned(),
            fingerprint,
            count: 1,
            repeats: 0,
            has_frames: raw.has_frames(),
            line: raw.line,
            section,
            ids: raw.ids.clone(),
            logger: raw.logger.clone(),
            facts,
            exit_code,
            message: raw.causes.first().and_then(|cause| message(&cause.line())),
        }
    }

    pub(crate) fn finish(self) -> (Vec<Chain>, Skipped) {
        let mut chains = self.chains;
        chains.sort_by_key(|chain| (chain.line, chain.fingerprint));
        (chains, self.skipped)
    }
}
