//! Troubles of an application that failed: the root cause comes first, and alone counts for the configuration.
//!
//! A run that failed does not show how fast the application is, or how many executors it needs: executors are idle
//! while tasks are tried again, and stages end early. Advice on that waits until the application succeeds.

use super::Trouble;
use elephant_base::severity::Severity;
use elephant_model::diagnosis::FailureKind;
use elephant_model::model::{Application, Status};
use elephant_rule::finding::{Advice, Cap, CapReason, Finding, TroubleKind as Kind, When};

/// Advice instead of fewer tasks, after a failure for lack of memory.
const KEEP_TASKS: &str = "keep the number of tasks: with more data each, they would need more memory";

/// Troubles whose measurements hold for a failed run, too: they keep their severity.
const MEASURED: [Kind; 4] = [Kind::Skew, Kind::GarbageCollection, Kind::Spill, Kind::LittleMemory];

/// Whether a lack of memory or disk may have caused this kind of failure, so that troubles of memory may be its cause.
const fn may_lack_room(kind: FailureKind) -> bool {
    use FailureKind as Of;
    matches!(
        kind,
        Of::HeapSpace
            | Of::GcOverhead
            | Of::ExecutionMemory
            | Of::ContainerMemory
            | Of::DirectMemory
            | Of::NativeMemory
            | Of::PythonMemory
            | Of::ArraySize
            | Of::DiskFull
            | Of::LocalDisks
            | Of::FetchFailure
            | Of::HeartbeatTimeout
            | Of::ExecutorLost
    )
}

/// Whether the trouble is the failure of the application.
pub(super) fn is_failure(app: &Application, trouble: &Trouble) -> bool {
    app.status == Status::Failed && trouble.kind == Kind::Failures
}

/// Makes advice of troubles that are not about the failure conditional, and their severity at most low.
pub(super) fn hold_back(app: &Application, troubles: &mut [Trouble], findings: &mut [Finding]) {
    let Some(failure) = troubles.iter().find(|trouble| is_failure(app, trouble)) else { return };
    let lacks_room = failure.failure.as_ref().is_none_or(|failure| may_lack_room(failure.kind));
    let waits = |kind: Kind| match kind {
        Kind::Failures | Kind::Cancelled | Kind::Driver | Kind::Cluster | Kind::Other => false,
        kind => !(lacks_room && MEASURED.contains(&kind)),
    };
    for trouble in troubles.iter_mut().filter(|trouble| waits(trouble.kind)) {
        let is_measured = MEASURED.contains(&trouble.kind);
        let hold = |advice: &mut Vec<Advice>| match trouble.kind {
            Kind::ManyTasks if lacks_room => *advice = vec![KEEP_TASKS.into()],
            _ => advice.iter_mut().for_each(|advice| advice.only(When::RunSucceeds)),
        };
        for finding in findings.iter_mut().filter(|finding| trouble.tells(finding).is_some()) {
            hold(&mut finding.advice);
        }
        hold(&mut trouble.advice);
        if !is_measured {
            trouble.cap(findings, &Cap { at_most: Severity::Low, why: CapReason::FailedRun });
        }
        trouble.change.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::troubles::{Trouble, tests::finding};
    use elephant_model::model::Subject;
    use elephant_rule::finding::{Failure, SettingChange};

    fn held(kind: Kind, failure: FailureKind, status: Status) -> (Finding, Trouble) {
        let mut app = elephant_sample::app(&[]);
        app.status = status;
        let change = SettingChange { setting: "a".to_owned(), from: None, to: "b".to_owned() };
        let mut found = finding("r", kind, Subject::Application, Severity::Severe);
        found.advice = vec![Advice::new("change").set([change])];
        let cause =
            Trouble { kind: Kind::Failures, failure: Some(Failure::new(failure)), ..Trouble::named("f") };
        let findings = &mut [found];
        let mut troubles = crate::troubles::groups::of(findings, &crate::troubles::tests::built_in());
        troubles.push(cause);
        hold_back(&app, &mut troubles, findings);
        let [found] = findings;
        (found.clone(), troubles.remove(0))
    }

    #[test]
    fn advice_on_idle_executors_waits_for_a_run_that_succeeds() {
        let (found, trouble) = held(Kind::IdleExecutors, FailureKind::HeapSpace, Status::Failed);
        assert!(trouble.change.is_empty() && trouble.advice[0].conditional);
        assert_eq!(
            (trouble.advice[0].text.as_str(), &*trouble.advice[0].when),
            ("change: a → b", &[When::RunSucceeds][..])
        );
        assert_eq!(found.advice, trouble.advice);
        assert_eq!((found.severity, trouble.severity), (Severity::Low, Severity::Low));
        let (found, trouble) = held(Kind::IdleExecutors, FailureKind::HeapSpace, Status::Succeeded);
        assert!(found.severity == Severity::Severe && !trouble.change.is_empty());
    }

    #[test]
    fn troubles_of_memory_count_only_if_they_may_be_the_cause() {
        let (found, trouble) = held(Kind::Spill, FailureKind::DiskFull, Status::Failed);
        assert!(found.severity == Severity::Severe && !trouble.change.is_empty());
        let (found, trouble) = held(Kind::Spill, FailureKind::Permission, Status::Failed);
        assert!(found.severity == Severity::Severe && trouble.change.is_empty());
    }

    #[test]
    fn after_a_lack_of_memory_no_larger_splits_are_advised() {
        let advice = |failure| held(Kind::ManyTasks, failure, Status::Failed).1.advice;
        assert_eq!(advice(FailureKind::HeapSpace), [KEEP_TASKS]);
        assert_eq!(advice(FailureKind::Permission)[0].when, [When::RunSucceeds]);
    }
}
