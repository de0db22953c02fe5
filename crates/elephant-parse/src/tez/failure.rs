//! Why a DAG failed, as its diagnostics tell.
//!
//! `DAGImpl`, `VertexImpl` and `TaskImpl` of Tez nest them: `Vertex failed, vertexName=…, vertexId=…, diagnostics=[Task
//! failed, taskId=…, diagnostics=[TaskAttempt 0 failed, info=[…], TaskAttempt 1 failed, info=[…]]…`. Versions before 0.5
//! write `AttemptID:attempt_… Info:…` for an attempt. Each attempt repeats the same stack trace. Vertices that were killed
//! because another failed are named, too, and are no cause.

use memchr::memmem;

use super::id::Id;
use crate::reading::{MAX_TEXT_LEN, truncate};

/// A vertex that failed, with what its first failed attempt says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure<'a> {
    pub(super) vertex: u32,
    pub(super) name: Option<&'a str>,
    pub(super) tasks: u64,
    pub(super) attempts: u64,
    pub(super) text: Option<&'a str>,
}

/// Precedes each vertex that failed.
const VERTEX: &str = "Vertex failed, vertexName=";
/// Precedes each task that failed.
const TASK: &str = "Task failed, taskId=";
/// What precedes each failed attempt.
const ATTEMPTS: [(&str, &str); 2] = [("TaskAttempt ", " failed, info=["), ("AttemptID:", " Info:")];
/// Precedes a vertex that was killed, and the summary of the DAG.
const OTHERS: [&str; 3] = ["Vertex killed, vertexName=", "DAG did not succeed due to", "DAG failed due to"];
/// More vertices do not fail: the first one ends the DAG.
const MOST: usize = 16;

/// The vertices that failed, in the order in which the text names them.
pub(super) fn failures(diagnostics: &str) -> Vec<Failure<'_>> {
    let starts = memmem::find_iter(diagnostics.as_bytes(), VERTEX).take(MOST);
    let starts: Vec<usize> = starts.map(|at| at + VERTEX.len()).collect();
    let ends = starts.iter().skip(1).map(|next| next - VERTEX.len()).chain([diagnostics.len()]);
    let parts = starts.iter().zip(ends).filter_map(|(start, end)| diagnostics.get(*start..end));
    parts.filter_map(failure).collect()
}

fn failure(text: &str) -> Option<Failure<'_>> {
    let end = OTHERS.iter().filter_map(|other| text.find(other)).min().unwrap_or(text.len());
    let text = text.get(..end)?;
    let (name, rest) = text.split_once(", vertexId=")?;
    let id_len = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let Some(Id::Vertex(_, vertex)) = rest.get(..id_len).and_then(Id::parse) else { return None };
    let texts = attempts(rest);
    Some(Failure {
        vertex,
        name: Some(name).filter(|name| !name.is_empty()),
        tasks: memmem::find_iter(rest.as_bytes(), TASK).count() as u64,
        attempts: texts.len() as u64,
        text: texts.first().copied(),
    })
}

/// What each failed attempt says.
fn attempts(text: &str) -> Vec<&str> {
    let marks = ATTEMPTS.iter().find(|(start, middle)| text.contains(start) && text.contains(middle));
    let Some((start, middle)) = marks else { return Vec::new() };
    let mut texts: Vec<&str> = Vec::new();
    let mut parts = text.split(middle);
    parts.next();
    for part in parts {
        // The next attempt begins before its own mark.
        let end = part.rfind(start).unwrap_or(part.len());
        let said = part.get(..end).unwrap_or(part);
        let said = said.split("\n]").next().unwrap_or(said).trim_end_matches([',', ' ', '\n', ']', '[']);
        texts.push(truncate(said.trim(), MAX_TEXT_LEN));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_vertex_that_failed_is_a_cause() {
        let text = "Vertex re-running, vertexName=Map 7, vertexId=vertex_1_0425_1_02\n\
            Vertex failed, vertexName=Map 5, vertexId=vertex_1_0425_1_01, diagnostics=[Task failed, \
            taskId=task_1_0425_1_01_000000, diagnostics=[AttemptID:attempt_1_0425_1_01_000000_0 Info:Error: \
            java.lang.RuntimeException: x\n\tat a.b(C.java:1)\nCaused by: java.lang.ClassCastException: y, \
            AttemptID:attempt_1_0425_1_01_000000_1 Info:Error: java.lang.RuntimeException: x\n]], Vertex failed as one \
            or more tasks failed. failedTasks:1]\n\
            Vertex killed, vertexName=Reducer 6, vertexId=vertex_1_0425_1_00, diagnostics=[Vertex received Kill]\n\
            DAG failed due to vertex failure. failedVertices:1 killedVertices:1";
        let found = failures(text);
        let [failure] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((failure.vertex, failure.name, failure.tasks, failure.attempts), (1, Some("Map 5"), 1, 2));
        let said = failure.text.unwrap();
        assert!(said.starts_with("Error: java.lang.RuntimeException: x"), "{said}");
        assert!(said.ends_with("java.lang.ClassCastException: y"), "{said}");
    }

    #[test]
    fn newer_versions_number_attempts() {
        let text = "Vertex failed, vertexName=Reducer 2, vertexId=vertex_1_0001_3_01, diagnostics=[Task failed, \
            taskId=task_1_0001_3_01_000004, diagnostics=[TaskAttempt 0 failed, info=[Error: Failure while running \
            task:java.lang.OutOfMemoryError: Java heap space\n\tat x.y(Z.java:2)\n], TaskAttempt 1 failed, info=[Error: \
            again]], Vertex did not succeed due to OWN_TASK_FAILURE, failedTasks:1 killedTasks:0]";
        let found = failures(text);
        let [failure] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((failure.vertex, failure.tasks, failure.attempts), (1, 1, 2));
        assert!(failure.text.unwrap().contains("OutOfMemoryError"), "{failure:?}");
    }

    #[test]
    fn other_texts_name_no_vertex() {
        for text in [
            "",
            "DAG killed by user",
            "Vertex failed, vertexName=",
            "Vertex failed, vertexName=a, vertexId=b",
        ] {
            assert!(failures(text).is_empty(), "{text}");
        }
    }
}
