//! Puts the lines of a log together to chains of exceptions.

use super::chain::{Raw, RawCause};
use super::head::{self, Head, Role};
use super::layout::Stripped;
use super::{frame, limits, python};

/// What the next line of an open chain may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// More of the message, or the first frame.
    Message,
    /// A frame, or the next cause.
    Frames,
    /// A frame of Python, a line of its code, or what was raised.
    Traceback,
    /// More of what Python raised, or what follows it.
    Raised,
}

/// Blank lines within a chain.
const BLANKS: usize = 2;

/// A chain that is being read.
#[derive(Debug)]
struct Open {
    raw: Raw,
    expect: Expect,
    /// The cause that frames belong to; `None` while suppressed exceptions are told.
    current: Option<usize>,
    blanks: usize,
    message_lines: usize,
    /// Whether the next traceback is the effect of the last.
    next_is_effect: bool,
    /// The beginning of a frame that goes on in the next line.
    wrapped: Option<String>,
}

/// Builds chains.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    open: Option<Open>,
}

/// What became of a line.
pub(crate) struct Taken {
    /// The chain that ended before it.
    pub(crate) ended: Option<Raw>,
    /// Whether the line is a part of a chain.
    pub(crate) is_part: bool,
    /// Whether a chain begins with it.
    pub(crate) begins: bool,
}

impl Builder {
    /// Takes a line.
    pub(crate) fn line(&mut self, number: u64, line: &Stripped<'_>) -> Taken {
        let mut ended = None;
        if let Some(open) = &mut self.open {
            if open.goes_on(line) {
                return Taken { ended: None, is_part: true, begins: false };
            }
            ended = self.end();
        }
        self.open = Open::begin(number, line);
        let begins = self.open.is_some();
        Taken { ended, is_part: begins, begins }
    }

    /// The log line before the chain that has just begun: what was done when it was thrown.
    pub(crate) fn context(&mut self, text: &str) {
        if let Some(open) = &mut self.open {
            super::chain::prefix(text, limits::MESSAGE).clone_into(&mut open.raw.context);
            open.raw.ids.scan(text);
        }
    }

    /// Ends the open chain.
    pub(crate) fn end(&mut self) -> Option<Raw> {
        let open = self.open.take()?;
        let mut raw = open.raw;
        raw.without_repetitions();
        if !raw.has_frames() {
            // Without frames, the lines below a head are none of its.
            for cause in &mut raw.causes {
                cause.message = super::chain::first_line(&cause.message).to_owned();
            }
        }
        Some(raw).filter(|raw| !raw.causes.is_empty())
    }
}

impl Open {
    /// The chain that a line begins.
    fn begin(number: u64, line: &Stripped<'_>) -> Option<Self> {
        let text = line.message;
        let mut open = Self {
            raw: Raw { line: number, logger: line.logger.map(str::to_owned), lines: 1, ..Raw::default() },
            expect: Expect::Message,
            current: None,
            blanks: 0,
            message_lines: 0,
            next_is_effect: false,
            wrapped: None,
        };
        open.raw.ids.scan(text);
        if let Some(head) = head::head(text) {
            open.push_head(head);
        } else if let Some(head) = line.has_layout.then(|| head::quoted(text)).flatten() {
            open.push_head(head);
        } else if python::starts_traceback(text) {
            open.push_traceback();
        } else if let Some(found) = frame::python(text) {
            // The log is cut before the traceback began.
            open.push_traceback();
            open.add_frame(found);
        } else if let Some(found) = frame::java(text) {
            open.push(RawCause::new(None, "", false));
            open.expect = Expect::Frames;
            open.add_frame(found);
        } else {
            return None;
        }
        Some(open)
    }

    /// Takes a line, unless the chain has ended before it.
    fn goes_on(&mut self, line: &Stripped<'_>) -> bool {
        let joined = self.wrapped.take().map(|beginning| beginning + line.message);
        let text = joined.as_deref().unwrap_or(line.message);
        if !self.takes(text, line.has_layout) {
            return false;
        }
        self.raw.lines += 1;
        if self.raw.lines > limits::CHAIN_LINES {
            self.raw.more_lines += 1;
        } else {
            self.raw.ids.scan(text);
        }
        true
    }

    fn takes(&mut self, text: &str, has_layout: bool) -> bool {
        if text.trim().is_empty() {
            self.blanks += 1;
            return self.blanks <= BLANKS && !has_layout;
        }
        let after_blank = std::mem::take(&mut self.blanks) > 0;
        let taken = match self.expect {
            Expect::Message => self.message(text, has_layout),
            Expect::Frames => self.frames(text),
            Expect::Traceback => self.traceback(text),
            Expect::Raised => self.raised(text, has_layout, after_blank),
        };
        taken || self.cause(text)
    }

    /// A line before the frames.
    fn message(&mut self, text: &str, has_layout: bool) -> bool {
        if self.frames(text) {
            return true;
        }
        let is_next = has_layout || head::head(text).is_some() || python::starts_traceback(text);
        self.message_lines += 1;
        if is_next || self.message_lines > limits::MESSAGE_LINES {
            return false;
        }
        if let Some(cause) = self.current.and_then(|place| self.raw.causes.get_mut(place)) {
            cause.extend(text);
        }
        true
    }

    /// A frame of the JVM, or a line among them.
    fn frames(&mut self, text: &str) -> bool {
        if frame::is_wrapped(text) {
            self.wrapped = Some(text.to_owned());
            self.expect = Expect::Frames;
            return true;
        }
        if let Some(found) = frame::java(text) {
            self.add_frame(found);
            self.expect = Expect::Frames;
            return true;
        }
        if text.trim() == "Driver stacktrace:" {
            self.current = self.raw.causes.iter().position(|cause| !cause.is_python);
            self.expect = Expect::Frames;
            return true;
        }
        frame::is_more(text)
    }

    fn traceback(&mut self, text: &str) -> bool {
        if let Some(found) = frame::python(text) {
            self.add_frame(found);
            return true;
        }
        if python::joins(text) {
            self.next_is_effect = true;
            self.expect = Expect::Raised;
            return true;
        }
        // The code of the frame above.
        if text.starts_with([' ', '\t']) && !frame::begins(text) {
            return true;
        }
        let raised = python::raised(text).or_else(|| is_word(text).then_some((text, "")));
        let Some((class, message)) = raised else { return false };
        if let Some(cause) = self.current.and_then(|place| self.raw.causes.get_mut(place)) {
            cause.class = Some(class.to_owned());
            cause.extend_first(message);
        }
        self.expect = Expect::Raised;
        self.message_lines = 0;
        true
    }

    /// A line after what Python raised.
    fn raised(&mut self, text: &str, has_layout: bool, after_blank: bool) -> bool {
        if python::joins(text) {
            self.next_is_effect = true;
            return true;
        }
        if python::starts_traceback(text)
            && (self.next_is_effect || !after_blank)
            && head::head(text).is_none()
        {
            self.push_traceback();
            return true;
        }
        if frame::begins(text) {
            // Frames of the JVM that called Python.
            let parent = self.raw.causes.iter().rposition(|cause| !cause.is_python);
            self.current = parent;
            return parent.is_some() && self.frames(text);
        }
        if text.trim() == "Driver stacktrace:" {
            return self.frames(text);
        }
        // Py4J tells the exception of the JVM below its own.
        if text.starts_with(": ")
            && let Some(head) = head::head(text)
        {
            self.push_head(Head { role: Role::Cause, ..head });
            return true;
        }
        self.message_lines += 1;
        let is_next = has_layout || after_blank || self.message_lines > limits::MESSAGE_LINES;
        if is_next || head::head(text).is_some() {
            return false;
        }
        if let Some(cause) = self.current.and_then(|place| self.raw.causes.get_mut(place)) {
            cause.extend(text);
        }
        true
    }

    /// `Caused by: …`.
    fn cause(&mut self, text: &str) -> bool {
        match head::head(text) {
            Some(head) if head.role == Role::Cause => {
                // Causes of suppressed exceptions are indented.
                let is_suppressed = self.current.is_none() && text.starts_with([' ', '\t']);
                if !is_suppressed {
                    self.push_head(head);
                }
                true
            }
            Some(head) if head.role == Role::Suppressed => {
                self.current = None;
                self.expect = Expect::Frames;
                true
            }
            _ => false,
        }
    }

    fn push_head(&mut self, head: Head<'_>) {
        self.push(RawCause::new(Some(head.class), head.message, false));
        self.expect = Expect::Message;
        self.message_lines = 0;
        if let Some(quoted) = head::quoted(head.message) {
            self.push(RawCause::new(Some(quoted.class), quoted.message, false));
        }
        if python::starts_traceback(head.message) {
            self.push_traceback();
        }
    }

    /// A traceback, whose exception is named at its end.
    fn push_traceback(&mut self) {
        let cause = RawCause::new(None, "", true);
        if std::mem::take(&mut self.next_is_effect) && self.raw.causes.len() < limits::CAUSES {
            // The tracebacks of causes come first.
            let place = self.raw.causes.iter().position(|cause| cause.is_python).unwrap_or_default();
            self.raw.causes.insert(place, cause);
            self.current = Some(place);
        } else {
            self.push(cause);
        }
        self.expect = Expect::Traceback;
    }

    fn push(&mut self, cause: RawCause) {
        // The innermost cause is the one to keep.
        if self.raw.causes.len() >= limits::CAUSES {
            self.raw.causes.pop();
            self.raw.more_causes += 1;
        }
        self.raw.causes.push(cause);
        self.current = Some(self.raw.causes.len() - 1);
    }

    fn add_frame(&mut self, found: frame::Frame) {
        if self.raw.lines <= limits::CHAIN_LINES
            && let Some(cause) = self.current.and_then(|place| self.raw.causes.get_mut(place))
        {
            cause.add(found);
        }
    }
}

impl RawCause {
    /// Sets the message of an exception that is named below its frames.
    fn extend_first(&mut self, message: &str) {
        super::chain::prefix(message, limits::MESSAGE).clone_into(&mut self.message);
    }
}

/// Whether a line is only the name of a class.
fn is_word(text: &str) -> bool {
    let is_part = |part: &str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    text.split('.').all(is_part) && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'))
}

#[cfg(test)]
mod tests;
