//! The root cause of a failure.

use super::Measure;
use elephant_base::state::State;
use elephant_model::diagnosis::{Diagnosis, FailureKind, exit_code};

/// Why something failed: its root cause.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The class of the exception, as logged.
    pub exception: Option<String>,
    /// The exit code of the process or container.
    pub exit_code: Option<i32>,
    /// The message that says so, in one line.
    pub message: Option<String>,
}

impl Failure {
    /// A failure of a kind, with nothing else known.
    #[must_use]
    pub const fn new(kind: FailureKind) -> Self {
        Self { kind, exception: None, exit_code: None, message: None }
    }

    /// The failure that a message describes; `message` is that message in one line.
    #[must_use]
    pub fn told(known: Diagnosis, message: String) -> Self {
        let message = Some(message).filter(|message| !message.is_empty());
        Self { kind: known.kind, exception: known.exception, exit_code: known.exit_code, message }
    }

    /// The same failure, attributed to the node: it occurred in one place only.
    #[must_use]
    pub fn of_node(self) -> Self {
        Self { kind: FailureKind::BadNode, ..self }
    }

    /// "exit code 137 (SIGKILL: killed from outside, …)"; `None` without an exit code.
    #[must_use]
    pub fn exit_in_words(&self) -> Option<String> {
        let code = self.exit_code?;
        Some(match exit_code(code) {
            Some(known) => format!("exit code {code} ({})", known.words()),
            None => format!("exit code {code}"),
        })
    }

    /// The facts for the evidence of a finding.
    pub(super) fn evidence(&self) -> impl Iterator<Item = (&'static str, Measure)> {
        let exception = self.exception.clone().map(|class| ("exception_text", Measure::Text(class)));
        let code = self
            .exit_code
            .map(|code| ("exit_code_number", Measure::Number(Some(f64::from(code)), "_number".into())));
        std::iter::once(("failure_kind_text", Measure::Text(self.kind.name().to_owned())))
            .chain(exception)
            .chain(code)
    }
}
