//! Detects histories of Tez, and Hive's account of the queries that Tez ran for it.

use memchr::memmem;

use crate::tez;
use elephant_input::kind::SourceKind;

/// Keys with which documents of the timeline server begin, in any order and in the spellings of all versions.
const FIRST_KEYS: [&[u8]; 15] = [
    b"entities",
    b"entity",
    b"entityId",
    b"entitytype",
    b"entityType",
    b"events",
    b"starttime",
    b"otherinfo",
    b"otherInfo",
    b"relatedentities",
    b"relatedEntities",
    b"primaryfilters",
    b"primaryFilters",
    b"domain",
    b"queries",
];
/// Types of entities, events and fields that only Tez and Hive write.
const SIGNS: [&[u8]; 9] = [
    b"\"TEZ_",
    b"\"HIVE_QUERY_ID\"",
    b"\"DAG_SUBMITTED\"",
    b"\"DAG_FINISHED\"",
    b"\"VERTEX_FINISHED\"",
    b"\"TASK_ATTEMPT_FINISHED\"",
    b"\"processorClassName\"",
    b"\"dagPlan\"",
    b"\"dagInfo\"",
];
/// Both are in an answer about queries of Hive, of which none may have run a DAG.
const QUERIES: [&[u8]; 2] = [b"\"queryId\"", b"\"dags\""];

/// The kind of a history of Tez that starts with `head`. `body` is the text without byte order mark and white space.
pub(super) fn kind(head: &[u8], body: &[u8]) -> Option<SourceKind> {
    if tez::is_proto(head) {
        return Some(SourceKind::TezProto);
    }
    let has = |sign: &&[u8]| memmem::find(body, sign).is_some();
    let is_of_tez = may_follow(body) && (SIGNS.iter().any(&has) || QUERIES.iter().all(has));
    is_of_tez.then_some(SourceKind::TezJson)
}

/// Whether a document of the timeline server begins here, whatever it is about.
pub(super) fn may_follow(body: &[u8]) -> bool {
    let object = body.strip_prefix(b"[").unwrap_or(body).trim_ascii_start();
    let Some(key) = object.strip_prefix(b"{").and_then(|rest| rest.trim_ascii_start().strip_prefix(b"\""))
    else {
        return false;
    };
    FIRST_KEYS.iter().any(|first| key.strip_prefix(*first).is_some_and(|rest| rest.starts_with(b"\"")))
}
