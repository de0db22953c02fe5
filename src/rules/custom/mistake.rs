//! Something wrong with an expression.

/// Something wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Where it starts in the expression, in bytes.
    pub(super) at: usize,
    /// How many bytes it takes.
    pub(super) len: usize,
    /// What is wrong.
    pub(super) message: String,
    /// What to write instead.
    pub(super) help: Option<String>,
}

impl Mistake {
    /// A mistake at a place.
    pub(super) fn new(at: usize, len: usize, message: impl Into<String>) -> Self {
        Self { at, len, message: message.into(), help: None }
    }

    /// The same with what to write instead.
    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
