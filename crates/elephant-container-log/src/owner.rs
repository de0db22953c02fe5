//! Which executor or task attempt a log is of, by its own lines.

use super::ids::ids_in;
use super::origin::Origin;

/// The process that wrote a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Owner {
    /// The executor of Spark.
    pub executor: Option<String>,
    /// The task attempt of MapReduce.
    pub attempt: Option<String>,
}

/// Texts before the id of the executor that writes the log: `Executor.scala`, and the command that a worker logs.
const EXECUTOR: [&str; 2] = ["Starting executor ID ", "--executor-id"];

impl Owner {
    /// Learns from a line. Other processes name many executors and attempts: only what a process says of itself counts.
    pub(crate) fn learn(&mut self, line: &str, origin: Option<Origin>) {
        if self.executor.is_none() {
            self.executor = EXECUTOR.iter().find_map(|mark| number_after(line, mark));
        }
        if self.attempt.is_none() && origin == Some(Origin::Container) && line.contains("attempt_") {
            self.attempt = ids_in(line).attempts.into_iter().next();
        }
    }
}

/// The number after a mark, apart from quotes and blanks.
fn number_after(line: &str, mark: &str) -> Option<String> {
    let (_, rest) = line.split_once(mark)?;
    let digits = rest.trim_start_matches(['"', ' ']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end).filter(|id| (1..=9).contains(&id.len())).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_says_who_it_is() {
        let learnt = |line: &str, origin| {
            let mut owner = Owner::default();
            owner.learn(line, origin);
            (owner.executor, owner.attempt)
        };
        assert_eq!(learnt("Starting executor ID 12 on host h", None).0.as_deref(), Some("12"));
        assert_eq!(learnt("\"--executor-id\" \"0\" \"--hostname\"", None).0.as_deref(), Some("0"));
        let attempt = "Task 'attempt_1_0001_m_000002_1' is failing";
        assert_eq!(learnt(attempt, Some(Origin::Container)).1.as_deref(), Some("attempt_1_0001_m_000002_1"));
        assert_eq!(learnt(attempt, Some(Origin::ApplicationMaster)), (None, None));
        assert_eq!(learnt("Lost executor 3", None), (None, None));
    }
}
