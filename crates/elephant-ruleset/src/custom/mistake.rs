//! A mistake in an expression.

/// A mistake in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Its start in the expression, in bytes.
    pub(super) at: usize,
    /// Its length in bytes.
    pub(super) len: usize,
    /// The problem.
    pub(super) message: String,
    /// What to write instead.
    pub(super) help: Option<String>,
}

impl Mistake {
    /// A mistake at a position.
    pub(super) fn new(at: usize, len: usize, message: impl Into<String>) -> Self {
        Self { at, len, message: message.into(), help: None }
    }

    /// The same, with what to write instead.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
