//! Ids of tasks and attempts: `task_<cluster>_<job>_<m|r>_<task>`, `attempt_…_<task>_<attempt>`.
//!
//! Source: `org.apache.hadoop.mapreduce.TaskID`, `TaskAttemptID`; `tip_…` is the Hadoop 0.17 spelling.

/// Which of a job's two id spaces a task belongs to. Setup and cleanup tasks of Hadoop 1 use both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum IdSpace {
    /// `_m_`
    Map,
    /// `_r_`
    Reduce,
}

impl IdSpace {
    /// As ids write it.
    pub(crate) const fn letter(self) -> char {
        match self {
            Self::Map => 'm',
            Self::Reduce => 'r',
        }
    }
}

/// A task within its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskId {
    /// Map or reduce.
    pub space: IdSpace,
    /// The task's number.
    pub number: u32,
}

/// An attempt within its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AttemptId {
    /// Its task.
    pub task: TaskId,
    /// The attempt's number.
    pub number: u32,
}

impl TaskId {
    /// Parses the id of a task; `None` for anything else.
    #[must_use]
    pub(crate) fn parse(id: &str) -> Option<Self> {
        let rest = id.strip_prefix("task_").or_else(|| id.strip_prefix("tip_"))?;
        Self::from_parts(rest)
    }

    fn from_parts(parts: &str) -> Option<Self> {
        let (rest, number) = split_last(parts);
        let number = number.parse().ok()?;
        let space = match split_last(rest).1 {
            "m" => IdSpace::Map,
            "r" => IdSpace::Reduce,
            _ => return None,
        };
        Some(Self { space, number })
    }
}

impl AttemptId {
    /// Parses the id of an attempt; `None` for anything else.
    #[must_use]
    pub(crate) fn parse(id: &str) -> Option<Self> {
        // Hadoop 0.17 wrote attempts as `task_…_m_000000_0`.
        let rest = id.strip_prefix("attempt_").or_else(|| id.strip_prefix("task_"))?;
        let (task, number) = split_last(rest);
        Some(Self { number: number.parse().ok()?, task: TaskId::from_parts(task)? })
    }
}

/// The last part of an id, and the parts before it. Parts are short, so a plain loop is fastest.
fn split_last(parts: &str) -> (&str, &str) {
    let at = parts.bytes().rposition(|byte| byte == b'_');
    let split = |at: usize| Some((parts.get(..at)?, parts.get(at + 1..)?));
    at.and_then(split).unwrap_or(("", parts))
}

/// The job id of an application or task id: `application_1_0002` and `job_1_0002` name the same job.
#[must_use]
pub(crate) fn job_id_of_task(id: &str) -> Option<String> {
    let mut parts = id.split('_').skip(1);
    let (cluster, job) = (parts.next()?, parts.next()?);
    Some(format!("job_{cluster}_{job}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_every_generation() {
        let task = TaskId { space: IdSpace::Reduce, number: 7 };
        assert_eq!(TaskId::parse("task_1526555215992_0001_r_000007"), Some(task));
        assert_eq!(TaskId::parse("tip_200709211159_0007_r_000007"), Some(task));
        let attempt = AttemptId { task, number: 1001 };
        assert_eq!(AttemptId::parse("attempt_1526555215992_0001_r_000007_1001"), Some(attempt));
        assert_eq!(AttemptId::parse("attempt_local1_0001_r_000007_1001"), Some(attempt));
        for bad in ["", "task_", "task_1_2_x_3", "task_1_2_m_-3", "task_1_2_m_99999999999", "job_1_2"] {
            assert_eq!(TaskId::parse(bad), None, "{bad}");
        }
        assert_eq!(
            job_id_of_task("task_1526555215992_0001_r_000007").as_deref(),
            Some("job_1526555215992_0001")
        );
    }
}
