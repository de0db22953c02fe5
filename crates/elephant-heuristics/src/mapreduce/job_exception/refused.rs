//! Jobs whose application master kills them at the start, because no container of the cluster can be as large as those that
//! their tasks request.

use crate::mapreduce::support::java_opts::JvmOptions;
use crate::mapreduce::support::role::Role;
use elephant_base::units::Bytes;
use elephant_model::engine_facts::hadoop::HEAP_SHARE;
use elephant_model::model::{Application, Status};
use elephant_rule::finding::{Advice, SettingChange};
use elephant_rule::wording::change;

/// In all versions of the message: "REDUCE capability required is more …", "The required MAP capability is more …".
const MESSAGE: &str = "than the supported max container capability";

/// A request that the cluster refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    role: Role,
    /// The memory that was requested, and the most that a container may have, in MiB.
    memory: Option<(u64, u64)>,
}

impl Refused {
    /// `None` if the job was not killed for that reason.
    pub(super) fn of(app: &Application) -> Option<Self> {
        let text = app.diagnostics.as_deref().filter(|_| app.status == Status::Killed)?;
        Self::read(text)
    }

    fn read(text: &str) -> Option<Self> {
        let (before, after) = text.split_once(MESSAGE)?;
        // Both kinds may be refused, one message after the other; the first is about the kind named last before it.
        let named = |kind: &str| before.rfind(kind);
        let role = if named("REDUCE") > named("MAP") { Role::Reduce } else { Role::Map };
        let memory = |mark: &str| -> Option<u64> {
            let rest = after.split_once(mark)?.1.split_once("<memory:")?.1;
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest.get(..end)?.parse().ok()
        };
        Some(Self { role, memory: memory("ResourceRequest:").zip(memory("maxContainerCapability:")) })
    }

    /// The most memory that the cluster allows, and a heap that fits. `None` if the request was not too large in memory, but
    /// in something else.
    pub(super) fn remedy(self, app: &Application) -> Option<Advice> {
        let (wanted, most) = self.memory?;
        if wanted <= most || most == 0 {
            return None;
        }
        let text = format!(
            "request at most {most} MB, the most that a container of the cluster may have, or let the operators raise \
             yarn.scheduler.maximum-allocation-mb"
        );
        let memory = change(app, self.role.memory(), most);
        Some(Advice::new(text).set(std::iter::once(memory).chain(self.heap(app, most))))
    }

    fn heap(self, app: &Application, most: u64) -> Option<SettingChange> {
        let fitting = Bytes::from_f64(Bytes::from_mib(most).as_f64() * HEAP_SHARE)?;
        let now = app.conf.heap_limit(self.role.java_opts())?;
        (now > fitting).then(|| JvmOptions::of(app, self.role).with_heap(fitting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::severity::Severity;
    use elephant_rule::finding::TroubleKind;

    const OLD: &str = "REDUCE capability required is more than the supported max container capability in the cluster. Killing \
                       the Job. reduceResourceRequest: <memory:12288, vCores:1> maxContainerCapability:<memory:8192, vCores:4>";

    fn job(text: &str, settings: &[(&str, &str)]) -> Application {
        let mut app = elephant_sample::job(Vec::new(), settings);
        app.status = Status::Killed;
        app.diagnostics = Some(text.to_owned());
        app
    }

    #[test]
    fn messages_of_all_versions_are_read() {
        let read = |text| Refused::read(text).map(|refused| (refused.role, refused.memory));
        assert_eq!(read(OLD), Some((Role::Reduce, Some((12_288, 8192)))));
        let new = "The required MAP capability is more than the supported max container capability in the cluster. Killing \
                   the Job. mapResourceRequest: <memory:9000, vCores:1> maxContainerCapability:<memory:8192, vCores:4>";
        assert_eq!(read(new), Some((Role::Map, Some((9000, 8192)))));
        assert_eq!(
            read("MAP capability required is more than the supported max container capability"),
            Some((Role::Map, None))
        );
        assert_eq!((read(""), read("Job received Kill while in RUNNING state.")), (None, None));
    }

    #[test]
    fn a_job_that_the_cluster_refuses_has_failed() {
        let settings = [("mapreduce.reduce.memory.mb", "12288"), ("mapreduce.reduce.java.opts", "-Xmx9g")];
        let found =
            elephant_sample::evaluate(&job(OLD, &settings), "job-exception", false).findings.remove(0);
        assert_eq!((found.severity, found.tells), (Severity::Severe, TroubleKind::Failures));
        let changes: Vec<String> = found.advice[0].settings.iter().map(ToString::to_string).collect();
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert!(changes[0].contains("mapreduce.reduce.memory.mb 12288 → 8192"), "{changes:?}");
        assert!(changes[1].contains("-Xmx6553m"), "{changes:?}");
        // Dr. Elephant never sees killed jobs.
        let own = elephant_sample::evaluate(&job(OLD, &settings), "job-exception", true);
        assert!(own.findings.iter().all(|found| found.severity == Severity::None), "{:?}", own.findings);
    }

    #[test]
    fn requests_that_fit_in_memory_name_no_size() {
        let cores = OLD.replace("12288", "1024");
        assert_eq!(Refused::read(&cores).unwrap().remedy(&job(&cores, &[])), None);
        let user = elephant_sample::evaluate(
            &job("Job received Kill while in RUNNING state.", &[]),
            "job-exception",
            false,
        );
        assert_eq!(user.findings[0].tells, TroubleKind::Cancelled);
    }
}
