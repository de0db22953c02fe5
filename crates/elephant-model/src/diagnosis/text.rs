//! The parts of a text about a failure: causes without their stack frames, class names, exit codes.

use memchr::memmem::{self, Finder};

use super::signatures::Finders;

/// How much is read of the start and of the end of a text. Stack traces in histories are shorter, and the root cause
/// of a longer one is near its end.
pub(super) const WINDOW: usize = 32 << 10;

/// The number of parts: a chain of causes is rarely longer than five.
const MAX_PARTS: usize = 64;

/// Starts a part.
const CAUSED_BY: &str = "Caused by: ";

/// Class names end like this.
const CLASS_ENDINGS: [&str; 3] = ["Exception", "Error", "Throwable"];

/// A message that begins like this, after the class that reports it, repeats another's failure.
const WRAPPERS: [&str; 4] = [
    ": Job aborted",
    ": Exception thrown in awaitResult",
    ": Task failed while writing",
    ": [TASK_WRITE_FAILED]",
];

/// Texts before the exit code of a process or container.
pub(super) const CODE_MARKS: [&str; 11] = [
    "exitCode=",
    "exitCode: ",
    "xit code is ",
    "xit code: ",
    "xit code ",
    "xit status: ",
    "xit status ",
    "exited with code ",
    "nonzero status of ",
    "exit value ",
    "failed with code ",
];

/// One cause: a message and what follows it, up to the next cause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    text: &'a str,
}

/// An exception in a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// An exception of the JVM.
    Java(&'a str),
    /// An exception of Python.
    Python(&'a str),
}

/// The parts of a text, the outermost cause first.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for window in windows(text) {
        let causes = window.split(CAUSED_BY).take(MAX_PARTS);
        parts.extend(causes.filter(|text| !text.trim().is_empty()).map(|text| Part { text }));
    }
    parts
}

/// The start and the end of a text.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    let (start, rest) = split_near(text, WINDOW);
    let (_, end) = split_near(rest, rest.len().saturating_sub(WINDOW));
    [start, end].into_iter()
}

/// Splits at a place, or up to three bytes later if that is inside a character.
fn split_near(text: &str, place: usize) -> (&str, &str) {
    (place..place.saturating_add(4)).find_map(|place| text.split_at_checked(place)).unwrap_or((text, ""))
}

/// What Spark on Kubernetes writes if a pod left no exit code.
const NO_CODE: i32 = -1;

/// The last exit code other than 0 in the parts. YARN's codes, which are negative, come before that of the process:
/// YARN knows why it killed the process.
pub(super) fn exit_code(parts: &[Part<'_>]) -> Option<i32> {
    let codes =
        || parts.iter().flat_map(|part| codes(part.text)).filter(|code| !matches!(*code, 0 | NO_CODE));
    codes().filter(|code| *code < 0).last().or_else(|| codes().last())
}

/// The exit codes in a text, by mark.
fn codes(text: &str) -> impl Iterator<Item = i32> {
    let after = |mark: &'static str| memmem::find_iter(text.as_bytes(), mark).map(move |at| at + mark.len());
    let mut places: Vec<usize> = CODE_MARKS.into_iter().flat_map(after).collect();
    places.sort_unstable();
    places.into_iter().filter_map(|at| leading_number(text.get(at..)?))
}

fn leading_number(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let end = digits.bytes().take(20).take_while(u8::is_ascii_digit).count();
    digits.get(..end)?.parse::<i32>().ok().map(|number| sign * number)
}

impl<'a> Part<'a> {
    /// Where the first string of a signature ends, if the part contains all of them outside its stack frames.
    pub(super) fn end_of(&self, signature: &Finders) -> Option<usize> {
        let (first, rest) = signature.split_first()?;
        let at = self.find(first)?;
        rest.iter().all(|string| self.find(string).is_some()).then_some(at + first.needle().len())
    }

    /// The first place of a string outside stack frames.
    fn find(&self, string: &Finder<'_>) -> Option<usize> {
        string.find_iter(self.text.as_bytes()).find(|at| !self.is_in_frame(*at))
    }

    /// Whether a place is in a stack frame: its line starts with "at " and a method. Frames name classes that have
    /// nothing to do with the failure. Lines are looked at for 512 bytes, so the time stays linear.
    fn is_in_frame(&self, at: usize) -> bool {
        let before = self.text.as_bytes().get(at.saturating_sub(512)..at).unwrap_or_default();
        let line = memchr::memrchr(b'\n', before).and_then(|end| before.get(end + 1..));
        line.unwrap_or(before).trim_ascii_start().starts_with(b"at ")
    }

    /// The last class name that starts before a place, unless it only reports another's failure.
    pub(super) fn class_before(&self, place: usize) -> Option<&'a str> {
        let starts_before = |class: &&str| self.offset_of(class) < place;
        self.classes().take_while(starts_before).filter(|class| !self.is_wrapper(class)).last()
    }

    /// The exception that the part reports.
    pub(super) fn thrown(&self) -> Option<Found<'a>> {
        if memmem::find(self.text.as_bytes(), b"Traceback (most recent call last)").is_some() {
            return self.raised();
        }
        // The wrapper of "Job aborted …: Lost task …: my.Exception: …" is left out, so the first is the cause.
        let mut classes = self.classes().filter(|class| !self.is_wrapper(class));
        let first = classes.next()?;
        if first.ends_with("PythonException") {
            return Some(Found::Python(classes.next().unwrap_or(first)));
        }
        // Exceptions of Python are named like "ValueError", those of the JVM mostly with their package.
        let is_java = first.contains('.') || !first.ends_with("Error");
        Some(if is_java { Found::Java(first) } else { Found::Python(first) })
    }

    /// The exception below a traceback. The first of several was raised first.
    fn raised(&self) -> Option<Found<'a>> {
        let traceback = |line: &&str| line.contains("Traceback (most recent call last)");
        let mut below = self.text.lines().skip_while(|line| !traceback(line)).skip(1);
        below.find_map(leading_class).map(Found::Python)
    }

    /// Whether the message after a class only says that something else failed.
    fn is_wrapper(&self, class: &str) -> bool {
        let after = self.text.get(self.offset_of(class) + class.len()..).unwrap_or_default();
        WRAPPERS.iter().any(|wrapper| after.starts_with(wrapper))
            || class.ends_with("Shell$ExitCodeException")
    }

    /// Where a slice of this part's text starts.
    fn offset_of(&self, slice: &str) -> usize {
        slice.as_ptr().addr().saturating_sub(self.text.as_ptr().addr())
    }

    /// The names of exceptions outside stack frames, in order.
    fn classes(&self) -> impl Iterator<Item = &'a str> {
        let lines = self.text.lines().filter(|line| !line.trim_start().starts_with("at "));
        lines.flat_map(|line| line.split(|c: char| !is_of_class(c))).filter(|word| is_class(word))
    }
}

const fn is_of_class(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$')
}

/// The class that a line starts with, followed by its message or nothing.
fn leading_class(line: &str) -> Option<&str> {
    let end = line.find(|c: char| !is_of_class(c)).unwrap_or(line.len());
    let (class, rest) = line.split_at_checked(end)?;
    (is_class(class) && (rest.is_empty() || rest.starts_with(':'))).then_some(class)
}

/// Whether a word is the name of an exception: `java.io.IOException`, `ValueError`.
fn is_class(word: &str) -> bool {
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic());
    let ends = CLASS_ENDINGS.iter().any(|ending| word.ends_with(ending) && word.len() > ending.len());
    starts && ends && !word.contains("..")
}
