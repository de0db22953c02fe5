//! The ids in a text by which a log belongs to an application, a container, an attempt, a task, a stage or an executor.

use std::collections::BTreeSet;

use super::limits;

/// The ids that a text names, each sort bounded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ids {
    /// `application_T_N`, and `app-…` of Spark's own cluster manager.
    pub applications: BTreeSet<String>,
    /// `container_…`.
    pub containers: BTreeSet<String>,
    /// `attempt_T_N_m_…` of MapReduce.
    pub attempts: BTreeSet<String>,
    /// `task_T_N_m_…` of MapReduce.
    pub tasks: BTreeSet<String>,
    /// Ids of Spark's task attempts, `TID 7`.
    pub task_ids: BTreeSet<u64>,
    /// Stage attempts, `stage 3.0`.
    pub stages: BTreeSet<(u32, u32)>,
    /// Executors, `executor 7`.
    pub executors: BTreeSet<String>,
}

/// Which sort an id is of.
#[derive(Debug, Clone, Copy)]
enum Sort {
    Application,
    Container,
    Attempt,
    Task,
    MasterAttempt,
    Job,
}

/// How ids begin, and their numbers of parts after that.
const BEGINNINGS: [(&str, Sort, usize, usize); 6] = [
    ("application_", Sort::Application, 2, 2),
    ("container_", Sort::Container, 4, 5),
    ("appattempt_", Sort::MasterAttempt, 3, 3),
    ("attempt_", Sort::Attempt, 5, 5),
    ("task_", Sort::Task, 4, 4),
    ("job_", Sort::Job, 2, 2),
];

/// The ids in a text.
#[must_use]
pub fn ids_in(text: &str) -> Ids {
    let mut ids = Ids::default();
    ids.scan(text);
    ids
}

/// Whether a text is one id.
pub(crate) fn is_id(text: &str) -> bool {
    id_at(text).is_some_and(|(_, id)| id.len() == text.len())
        || standalone(text).is_some_and(|id| id.len() == text.len())
}

impl Ids {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the ids in a text.
    pub(crate) fn scan(&mut self, text: &str) {
        for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))) {
            if word.len() > 4 {
                self.word(word);
            }
        }
        for (at, _) in text.match_indices("TID ") {
            if let Some((id, _)) = text.get(at + 4..).and_then(number) {
                insert(&mut self.task_ids, id);
            }
        }
        for (at, _) in text.match_indices("stage ") {
            let stage = text.get(at + 6..).and_then(number).and_then(|(stage, rest)| {
                let (attempt, _) = rest.strip_prefix('.').and_then(number)?;
                Some((u32::try_from(stage).ok()?, u32::try_from(attempt).ok()?))
            });
            if let Some(stage) = stage {
                insert(&mut self.stages, stage);
            }
        }
        for mark in ["executor ", "Executor ", "executor-"] {
            for (at, _) in text.match_indices(mark) {
                if let Some((id, _)) = text.get(at + mark.len()..).and_then(number) {
                    insert(&mut self.executors, id.to_string());
                }
            }
        }
    }

    fn word(&mut self, word: &str) {
        // Names of files and folders have ids in them: `job_1_0001-ann.jhist`.
        let mut rest = word;
        while let Some(at) = rest.find(['a', 'c', 't', 'j']) {
            rest = rest.get(at..).unwrap_or_default();
            let found = id_at(rest);
            if let Some((sort, id)) = found {
                self.add(sort, id);
                rest = rest.get(id.len()..).unwrap_or_default();
            } else if let Some(id) = standalone(rest) {
                insert(&mut self.applications, id.to_owned());
                rest = rest.get(id.len()..).unwrap_or_default();
            } else {
                // Only whole words begin an id.
                let next = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                rest = rest.get(next.max(1)..).unwrap_or_default();
            }
        }
    }

    fn add(&mut self, sort: Sort, id: &str) {
        match sort {
            Sort::Application => insert(&mut self.applications, id.to_owned()),
            Sort::Container => {
                insert(&mut self.containers, id.to_owned());
                self.application_of(id.trim_start_matches("container_"));
            }
            Sort::Attempt => {
                insert(&mut self.attempts, id.to_owned());
                self.application_of(id.trim_start_matches("attempt_"));
            }
            Sort::Task => {
                insert(&mut self.tasks, id.to_owned());
                self.application_of(id.trim_start_matches("task_"));
            }
            Sort::MasterAttempt => self.application_of(id.trim_start_matches("appattempt_")),
            Sort::Job => self.application_of(id.trim_start_matches("job_")),
        }
    }

    /// All ids of YARN have the time of the cluster's start and the number of the application.
    fn application_of(&mut self, parts: &str) {
        let is_epoch = |part: &&str| part.starts_with('e');
        let mut parts = parts.split('_').skip_while(is_epoch);
        if let (Some(start), Some(number)) = (parts.next(), parts.next()) {
            insert(&mut self.applications, format!("application_{start}_{number}"));
        }
    }

    /// Adds those of another text.
    pub(crate) fn merge(&mut self, other: &Self) {
        other.applications.iter().for_each(|id| insert(&mut self.applications, id.clone()));
        other.containers.iter().for_each(|id| insert(&mut self.containers, id.clone()));
        other.attempts.iter().for_each(|id| insert(&mut self.attempts, id.clone()));
        other.tasks.iter().for_each(|id| insert(&mut self.tasks, id.clone()));
        other.task_ids.iter().for_each(|id| insert(&mut self.task_ids, *id));
        other.stages.iter().for_each(|id| insert(&mut self.stages, *id));
        other.executors.iter().for_each(|id| insert(&mut self.executors, id.clone()));
    }
}

fn insert<T: Ord>(set: &mut BTreeSet<T>, id: T) {
    if set.len() < limits::IDS {
        set.insert(id);
    }
}

/// The id that a text begins with.
fn id_at(text: &str) -> Option<(Sort, &str)> {
    let (beginning, sort, least, most) =
        BEGINNINGS.iter().find(|(beginning, ..)| text.starts_with(beginning))?;
    let mut end = beginning.len();
    let mut parts = 0;
    while parts < *most {
        let part = text.get(end..)?;
        let len = part.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (part, _) = part.split_at_checked(len)?;
        let is_kind = ["m", "r", "s", "c", "j"].contains(&part);
        let is_epoch = parts == 0 && part.strip_prefix('e').is_some_and(is_number);
        if !(is_number(part) || is_kind && parts >= 2 || is_epoch) {
            break;
        }
        parts += 1;
        end += len;
        if parts == *most || !text.get(end..).is_some_and(|rest| rest.starts_with('_')) {
            break;
        }
        end += 1;
    }
    let id = text.get(..end)?.trim_end_matches('_');
    (parts >= *least).then_some((*sort, id))
}

/// The id of an application of Spark's own cluster manager that a text begins with: `app-20260101000000-0001`.
fn standalone(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("app-")?;
    let (date, rest) = rest.split_once('-')?;
    let len = rest.bytes().take_while(u8::is_ascii_digit).count();
    (date.len() == 14 && is_number(date) && len >= 4).then(|| text.get(..4 + date.len() + 1 + len))?
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The number that a text begins with, and what follows it.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().take(20).take_while(u8::is_ascii_digit).count();
    Some((text.get(..end)?.parse().ok()?, text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_leads_to_its_application() {
        let set = |ids: &BTreeSet<String>| ids.iter().cloned().collect::<Vec<_>>().join(" ");
        let ids = ids_in(
            "/grid/appcache/application_1576097000949_30598/container_e42_1576097000949_30598_01_000013/x",
        );
        assert_eq!(set(&ids.applications), "application_1576097000949_30598");
        assert_eq!(set(&ids.containers), "container_e42_1576097000949_30598_01_000013");
        let ids =
            ids_in("Task failed task_1616255590960_0001_r_000001, attempt_1616255590960_0001_r_000001_0.");
        assert_eq!(set(&ids.applications), "application_1616255590960_0001");
        assert_eq!(
            (set(&ids.tasks).as_str(), set(&ids.attempts).as_str()),
            ("task_1616255590960_0001_r_000001", "attempt_1616255590960_0001_r_000001_0")
        );
        assert_eq!(
            set(&ids_in("work/app-20261130025234-0000/1/stderr").applications),
            "app-20261130025234-0000"
        );
        assert_eq!(set(&ids_in("job_1_0001-ann.jhist").applications), "application_1_0001");
        let ids = ids_in("Lost task 0.3 in stage 12.1 (TID 345) (host executor 7)");
        assert_eq!(
            (ids.task_ids.len(), ids.stages.first(), ids.executors.first().map(String::as_str)),
            (1, Some(&(12, 1)), Some("7"))
        );
        for text in [
            "",
            "application_",
            "application_1",
            "container_1_2_3",
            "application_x_y",
            "app-1-2",
            "stage 3",
            "TID x",
        ] {
            assert!(ids_in(text).is_empty(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_fail(text in "(application_|container_|app-|_|[0-9e]|stage |TID |é){0,20}") {
            let ids = ids_in(&text);
            proptest::prop_assert!(ids.applications.len() <= limits::IDS);
        }
    }
}
