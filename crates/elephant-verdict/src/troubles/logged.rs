//! What the log of a process tells of a failure: more than the history does.

use super::Trouble;
use elephant_base::state::State;
use elephant_rule::finding::{Cap, Finding};

/// The cause of a failure in the log of a container, a driver or an executor.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Logged {
    /// Its kind: that of a failure, or of a rule of exceptions.
    pub kind: String,
    /// Whose fault it is: `user`, `platform` or `resource`.
    pub fault: String,
    /// The class of the innermost exception; `None` if the log tells an event without one.
    pub exception: Option<String>,
    /// The topmost frame of the user's own code, `com.example.Job.run (Job.scala:12)`.
    pub frame: Option<String>,
    /// How often the log has it.
    pub count: u64,
    /// The file, with its folders or archive as the user named them.
    pub file: String,
    /// Its line, from 1.
    pub line: u64,
    /// How the log belongs to the failure: "task attempt 2", "executor 1"; `None` if only to the application.
    pub of: Option<String>,
    /// The message of the innermost exception, masked, if messages are asked for.
    pub message: Option<String>,
}

impl Logged {
    /// `the log of executor 1 has java.lang.OutOfMemoryError (heap-space) at com.example.Job.run (Job.scala:12), 3 times
    /// (work/app-1/1/stderr:61)`, and the message if there is one: `: Java heap space`.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { kind, exception, frame, count, file, line, of, message, .. } = self;
        let of = of.as_ref().map(|of| format!(" of {of}")).unwrap_or_default();
        let told = match exception {
            Some(class) => format!("{class} ({kind})"),
            None => kind.clone(),
        };
        let at = frame.as_ref().map(|frame| format!(" at {frame}")).unwrap_or_default();
        let times = if *count > 1 { format!(", {count} times") } else { String::new() };
        let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
        format!("the log{of} has {told}{at}{times} ({file}:{line}){message}")
    }
}

impl Trouble {
    /// Adds what a log tells to the cause of a failure, which is no worse than the rule of its kind allows.
    pub fn tell_log(&mut self, logged: Logged, findings: &mut [Finding], at_most: Option<Cap>) {
        if let Some(cap) = at_most {
            self.cap_further(findings, &cap);
        }
        let words = format!("; {}", logged.words());
        self.cause += &words;
        self.statement += &words;
        self.logged = Some(logged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headline_of_a_failure_has_what_the_log_tells() {
        let logged = Logged {
            kind: "heap-space".to_owned(),
            fault: "resource".to_owned(),
            exception: Some("java.lang.OutOfMemoryError".to_owned()),
            frame: Some("com.acme.Job.run (Job.scala:12)".to_owned()),
            count: 3,
            file: "work/app-1/1/stderr".to_owned(),
            line: 61,
            of: Some("executor 1".to_owned()),
            message: None,
        };
        let mut trouble = Trouble::named("2 executors were lost");
        trouble.tell_log(logged.clone(), &mut [], None);
        let expected = "2 executors were lost; the log of executor 1 has java.lang.OutOfMemoryError (heap-space) at \
            com.acme.Job.run (Job.scala:12), 3 times (work/app-1/1/stderr:61)";
        assert_eq!((trouble.cause.as_str(), trouble.statement.as_str()), (expected, expected));
        let event = Logged {
            kind: "container-memory".to_owned(),
            exception: None,
            frame: None,
            count: 1,
            of: None,
            ..logged
        };
        assert_eq!(event.words(), "the log has container-memory (work/app-1/1/stderr:61)");
        let asked_for = Logged { message: Some("killed".to_owned()), ..event };
        assert!(asked_for.words().ends_with("(work/app-1/1/stderr:61): killed"));
    }
}
