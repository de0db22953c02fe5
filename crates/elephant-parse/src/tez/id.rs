//! Ids of Tez: each contains those of everything above it.
//!
//! Source: `TezDAGID`, `TezVertexID`, `TezTaskID`, `TezTaskAttemptID` of `org.apache.tez.dag.records`:
//! `dag_T_A_d`, `vertex_T_A_d_v`, `task_T_A_d_v_t`, `attempt_T_A_d_v_t_n`, where `application_T_A` is the application.

use std::fmt;

/// A YARN application: when its resource manager started, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AppId {
    cluster: u64,
    number: u32,
}

impl AppId {
    /// The application in a text such as `application_T_A`, `tez_application_T_A` or `appattempt_T_A_000001`.
    pub(super) fn find(text: &str) -> Option<Self> {
        let text = text.strip_prefix("tez_").unwrap_or(text);
        let (prefix, numbers) = text.split_once('_')?;
        if !matches!(prefix, "application" | "appattempt") {
            return None;
        }
        let mut numbers = numbers.split('_');
        Some(Self { cluster: numbers.next()?.parse().ok()?, number: numbers.next()?.parse().ok()? })
    }
}

impl fmt::Display for AppId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "application_{}_{:04}", self.cluster, self.number)
    }
}

/// A DAG: its application, and its number within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DagId {
    pub(super) app: AppId,
    number: u32,
}

impl fmt::Display for DagId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dag_{}_{:04}_{}", self.app.cluster, self.app.number, self.number)
    }
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Id {
    App(AppId),
    Dag(DagId),
    Vertex(DagId, u32),
    Task(DagId, u32, u32),
    Attempt(DagId, u32, u32, u32),
}

impl Id {
    /// Parses an id; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(app) = AppId::find(text) {
            return Some(Self::App(app));
        }
        let (prefix, numbers) = text.split_once('_')?;
        let mut numbers = numbers.split('_');
        let cluster = numbers.next()?.parse().ok()?;
        let mut next = || numbers.next()?.parse::<u32>().ok();
        let dag = DagId { app: AppId { cluster, number: next()? }, number: next()? };
        let id = match prefix {
            "dag" => Self::Dag(dag),
            "vertex" => Self::Vertex(dag, next()?),
            "task" => Self::Task(dag, next()?, next()?),
            "attempt" => Self::Attempt(dag, next()?, next()?, next()?),
            _ => return None,
        };
        numbers.next().is_none().then_some(id)
    }

    /// The DAG that it belongs to.
    pub(super) const fn dag(self) -> Option<DagId> {
        match self {
            Self::App(_) => None,
            Self::Dag(dag) | Self::Vertex(dag, _) | Self::Task(dag, ..) | Self::Attempt(dag, ..) => Some(dag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_names_its_dag() {
        let dag =
            |text: &str| Id::parse(text).and_then(Id::dag).map(|dag| (dag.to_string(), dag.app.to_string()));
        let expected =
            Some(("dag_1394502141829_0425_1".to_owned(), "application_1394502141829_0425".to_owned()));
        for id in ["dag_#_1", "vertex_#_1_04", "task_#_1_01_000000", "attempt_#_1_01_000000_3"] {
            let id = id.replace('#', "1394502141829_0425");
            assert_eq!(dag(id.as_str()), expected, "{id}");
        }
        let attempt = Id::parse("attempt_7_0001_2_03_000004_5");
        assert!(matches!(attempt, Some(Id::Attempt(_, 3, 4, 5))), "{attempt:?}");
    }

    #[test]
    fn applications_have_several_spellings() {
        for text in ["application_7_0012", "tez_application_7_0012", "tez_appattempt_7_0012_000001"] {
            assert_eq!(
                AppId::find(text).map(|id| id.to_string()).as_deref(),
                Some("application_7_0012"),
                "{text}"
            );
        }
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in [
            "",
            "dag",
            "dag_1_2",
            "dag_1_2_3_4",
            "vertex_1_2_3",
            "task_1_2_3_m_000001",
            "hive_1_2_3",
            "dag_-1_2_3",
        ] {
            assert_eq!(Id::parse(text), None, "{text}");
        }
    }
}
