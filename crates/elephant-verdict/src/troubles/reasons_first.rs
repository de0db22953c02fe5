//! Puts troubles that are the reason of others before them.

use super::Trouble;
use elephant_base::severity::Severity;
use elephant_model::model::Subject;
use elephant_rule::finding::TroubleKind;

/// Much garbage collection comes before memory that is too large: it says why the heap must not shrink. Garbage collection
/// and spill come before too few tasks of the same kind that are less severe: they say why these tasks are long.
pub(super) fn order(troubles: &mut [Trouble]) {
    use TroubleKind as Kind;
    let explains = |reason: &Trouble, other: &Trouble| match (reason.kind, other.kind) {
        (Kind::GarbageCollection, Kind::MuchMemory) => reason.severity >= Severity::Moderate,
        (Kind::GarbageCollection | Kind::Spill, Kind::FewTasks) => {
            let of_tasks = |subject: &&Subject| matches!(subject, Subject::Tasks(_));
            let mut tasks = reason.subjects.iter().filter(of_tasks);
            reason.severity > other.severity && tasks.any(|tasks| other.subjects.contains(tasks))
        }
        _ => false,
    };
    for at in 1..troubles.len() {
        let (before, rest) = troubles.split_at(at);
        let Some(reason) = rest.first() else { return };
        if let Some(first) = before.iter().position(|other| explains(reason, other))
            && let Some(between) = troubles.get_mut(first..=at)
        {
            between.rotate_right(1);
        }
    }
}
