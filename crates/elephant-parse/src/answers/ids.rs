//! Ids in answers. Examples in Hadoop's documents, and old servers, write numbers without leading zeros, and the number of
//! the job twice (`job_1326232085508_4_4`): both forms name the same job.

use crate::ids::{AttemptId, TaskId};

/// A job: the start of its cluster, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct JobId {
    cluster: u64,
    number: u64,
}

impl JobId {
    /// The job of an id of a job, an application, a task, an attempt or a container.
    pub(super) fn of(id: &str) -> Option<Self> {
        let (_, rest) = id.split_once('_')?;
        // The ids of containers may begin with the epoch of the resource manager.
        let without_epoch = rest.strip_prefix('e').and_then(|rest| Some(rest.split_once('_')?.1));
        let rest = without_epoch.unwrap_or(rest);
        let mut parts = rest.split('_');
        Some(Self { cluster: parts.next()?.parse().ok()?, number: parts.next()?.parse().ok()? })
    }

    /// The job whose id is somewhere in a path.
    pub(super) fn in_path(path: &str) -> Option<Self> {
        path.split('/').filter(|part| part.starts_with("job_")).find_map(Self::of)
    }

    /// The id as histories write it.
    pub(super) fn job(self) -> String {
        format!("job_{}_{:04}", self.cluster, self.number)
    }

    /// The id of its application of YARN.
    pub(super) fn application(self) -> String {
        format!("application_{}_{:04}", self.cluster, self.number)
    }

    /// The id of a task of the job, as histories write it.
    pub(super) fn task(self, task: TaskId) -> String {
        format!("task_{}_{:04}_{}_{:06}", self.cluster, self.number, task.space.letter(), task.number)
    }

    /// The id of an attempt of the job, as histories write it.
    pub(super) fn attempt(self, AttemptId { task, number }: AttemptId) -> String {
        let Self { cluster, number: job } = self;
        format!("attempt_{cluster}_{job:04}_{}_{:06}_{number}", task.space.letter(), task.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_name_the_same_job() {
        let job = JobId::of("job_1326232085508_0004").unwrap();
        for id in [
            "job_1326232085508_4_4",
            "application_1326232085508_0004",
            "task_1326232085508_4_4_m_0",
            "attempt_1326232085508_0004_r_000000_0",
            "container_1326232085508_0004_01_000002",
            "container_e17_1326232085508_0004_01_000002",
        ] {
            assert_eq!(JobId::of(id), Some(job), "{id}");
        }
        let path = "hdfs://nn:8020/user/alice/.staging/job_1326232085508_0004/job.xml";
        assert_eq!(JobId::in_path(path), Some(job));
        assert_eq!(job.job(), "job_1326232085508_0004");
        let attempt = AttemptId::parse("attempt_1326232085508_4_4_m_7_1").unwrap();
        assert_eq!(job.attempt(attempt), "attempt_1326232085508_0004_m_000007_1");
        assert_eq!(job.task(attempt.task), "task_1326232085508_0004_m_000007");
        assert_eq!(JobId::of("job_x_1"), None);
    }
}
