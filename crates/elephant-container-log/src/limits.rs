//! Bounds on what one log may cost, and what they left out.

/// A longer line is cut here.
pub(crate) const LINE: usize = 64 << 10;
/// A chain has at most so many lines.
pub(crate) const CHAIN_LINES: usize = 200;
/// A chain has at most so many causes.
pub(crate) const CAUSES: usize = 16;
/// At most so many different chains are told apart.
pub(crate) const FINGERPRINTS: usize = 10_000;
/// The text of all chains that are kept, in bytes.
pub(crate) const TEXT: usize = 16 << 20;
/// Bytes of a message that are kept while its chain is read.
pub(crate) const MESSAGE: usize = 4 << 10;
/// Frames at the top of each cause that are kept: those that the fingerprint consists of.
pub(crate) const FRAMES: usize = 5;
/// Bytes of the name of a frame.
pub(crate) const FRAME: usize = 300;
/// Lines of a message before its frames.
pub(crate) const MESSAGE_LINES: usize = 20;
/// Sections of a log that are told apart.
pub(crate) const SECTIONS: usize = 10_000;
/// Ids of one sort that a chain or a log holds.
pub(crate) const IDS: usize = 16;

/// What the limits left out of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Lines that were cut.
    pub long_lines: u64,
    /// Lines beyond the limit of a chain.
    pub chain_lines: u64,
    /// Causes beyond the limit of a chain.
    pub causes: u64,
    /// Chains that are of no fingerprint told apart.
    pub chains: u64,
    /// Sections whose container is not told apart.
    pub sections: u64,
}

impl Skipped {
    /// Whether a limit was reached.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self != Self::default()
    }

    /// Adds what was left out of another log.
    pub fn add(&mut self, other: Self) {
        self.long_lines += other.long_lines;
        self.chain_lines += other.chain_lines;
        self.causes += other.causes;
        self.chains += other.chains;
        self.sections += other.sections;
    }

    /// What was left out, in words, for each limit that was reached.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let parts = [
            (self.long_lines, "lines longer than 64 KiB were cut"),
            (self.chain_lines, "lines of stack traces beyond 200 per trace were left out"),
            (self.causes, "causes beyond 16 per stack trace were left out"),
            (self.chains, "stack traces beyond 10,000 different ones were left out"),
            (self.sections, "containers beyond 10,000 were not told apart"),
        ];
        parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {words}"))
            .collect()
    }
}
