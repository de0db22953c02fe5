//! Chains of exceptions.

use super::classifier::Kind;
use super::frame::Frame;
use super::ids::Ids;
use super::{facts, fingerprint, limits};

/// A chain of exceptions that a log has at least once: from the outermost exception to the innermost cause. An event without
/// an exception, such as a killed container, is a chain with one cause without a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Its kind; `None` if neither a rule nor the text tells one.
    pub kind: Option<Kind>,
    /// The exceptions, the outermost first.
    pub causes: Vec<Cause>,
    /// The topmost frame of the user's own code, in the innermost exception that has one.
    pub own: Option<Frame>,
    /// Equal for chains of the same classes and top frames, or of the same words if it has no frames; numbers and ids do not
    /// count.
    pub fingerprint: u64,
    /// How often the log has it.
    pub count: u64,
    /// How often the log names one of its exceptions again, without frames.
    pub repeats: u64,
    /// Whether it has stack frames.
    pub has_frames: bool,
    /// The line of its first occurrence, from 1.
    pub line: u64,
    /// The place of the section that it is in, in [`Digest::sections`](super::Digest::sections).
    pub section: Option<usize>,
    /// The ids that its lines name.
    pub ids: Ids,
    /// The logger of its first line.
    pub logger: Option<String>,
    /// What named groups of a rule took from the message: numbers, sizes, durations and ids.
    pub facts: Vec<(String, String)>,
    /// The exit code of a process or container that it names, other than 0.
    pub exit_code: Option<i32>,
    /// The first line, masked, if messages are asked for.
    pub message: Option<String>,
}

/// An exception of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The class, `java.io.IOException`; `None` for an event, or if the log is cut before it.
    pub class: Option<String>,
    /// The topmost frames, the innermost call first.
    pub frames: Vec<Frame>,
    /// The message in one line, masked, if messages are asked for.
    pub message: Option<String>,
}

impl Chain {
    /// The class of the innermost exception.
    #[must_use]
    pub fn innermost(&self) -> Option<&str> {
        self.causes.iter().rev().find_map(|cause| cause.class.as_deref())
    }

    /// Whether it only says that something else failed.
    #[must_use]
    pub fn is_echo(&self) -> bool {
        self.kind.as_ref().is_some_and(Kind::is_echo)
    }

    /// The remedy of its kind, with the facts of the message. A fact that may not be shown is "…".
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        self.kind.as_ref()?.remedy.as_deref().map(|remedy| facts::filled(remedy, &self.facts))
    }
}

/// A chain while it is read, with its messages.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    pub(crate) causes: Vec<RawCause>,
    pub(crate) line: u64,
    pub(crate) logger: Option<String>,
    /// The message of the log line before it.
    pub(crate) context: String,
    pub(crate) ids: Ids,
    pub(crate) lines: usize,
    /// Lines and causes beyond the limits.
    pub(crate) more_lines: u64,
    pub(crate) more_causes: u64,
}

/// An exception while its chain is read.
#[derive(Debug, Default)]
pub(crate) struct RawCause {
    pub(crate) class: Option<String>,
    pub(crate) message: String,
    pub(crate) frames: Vec<Frame>,
    pub(crate) own: Option<Frame>,
    pub(crate) is_python: bool,
}

impl RawCause {
    pub(crate) fn new(class: Option<&str>, message: &str, is_python: bool) -> Self {
        let message = prefix(message, limits::MESSAGE).to_owned();
        Self { class: class.map(str::to_owned), message, is_python, ..Self::default() }
    }

    /// Adds a frame below the others. In Python, the innermost call comes last.
    pub(crate) fn add(&mut self, frame: Frame) {
        if self.is_python {
            if frame.is_own {
                self.own = Some(frame.clone());
            }
            self.frames.insert(0, frame);
            self.frames.truncate(limits::FRAMES);
            return;
        }
        if frame.is_own && self.own.is_none() {
            self.own = Some(frame.clone());
        }
        if self.frames.len() < limits::FRAMES {
            self.frames.push(frame);
        }
    }

    /// Adds a line to the message.
    pub(crate) fn extend(&mut self, text: &str) {
        let room = limits::MESSAGE.saturating_sub(self.message.len());
        if room > 0 {
            self.message.push('\n');
            self.message += prefix(text, room);
        }
    }

    /// The first line, as the JVM writes it.
    pub(crate) fn line(&self) -> String {
        match &self.class {
            Some(class) if self.message.is_empty() => class.clone(),
            Some(class) => format!("{class}: {}", self.message),
            None => self.message.clone(),
        }
    }
}

impl Raw {
    /// Leaves out causes that a later one repeats: drivers quote the exception of a task, which is also their cause.
    pub(crate) fn without_repetitions(&mut self) {
        let mut place = 0;
        while let Some(cause) = self.causes.get(place) {
            let later = self.causes.get(place + 1..).unwrap_or_default();
            let is_repeated = cause.class.is_some()
                && later.iter().any(|other| {
                    other.class == cause.class && first_line(&other.message) == first_line(&cause.message)
                });
            if is_repeated {
                self.causes.remove(place);
            } else {
                place += 1;
            }
        }
    }

    pub(crate) fn has_frames(&self) -> bool {
        self.causes.iter().any(|cause| !cause.frames.is_empty())
    }

    /// The topmost frame of the user's own code, in the innermost exception that has one.
    pub(crate) fn own(&self) -> Option<&Frame> {
        self.causes.iter().rev().find_map(|cause| cause.own.as_ref())
    }

    /// All exceptions without their frames, for classification.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for cause in &self.causes {
            if !text.is_empty() {
                text += "\nCaused by: ";
            }
            text += &cause.line();
        }
        text
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        fingerprint::of(self)
    }

    /// The bytes that are kept of it.
    pub(crate) fn size(&self) -> usize {
        let of_frames = |frames: &[Frame]| frames.iter().map(|frame| frame.method.len() + 64).sum::<usize>();
        let of_cause =
            |cause: &RawCause| cause.class.as_ref().map_or(0, String::len) + of_frames(&cause.frames) + 200;
        self.causes.iter().map(of_cause).sum::<usize>() + 500
    }
}

/// The first line of a text.
pub(crate) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The first bytes of a text, up to whole characters.
pub(crate) fn prefix(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}
