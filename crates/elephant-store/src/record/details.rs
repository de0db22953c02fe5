//! What belongs to an application: findings, troubles, advised settings, its queries, and its work on each node.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{bounded, whole};
use crate::StoreError;
use crate::database::{Database, values};
use crate::saved::{Saved, saved_by};
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_engine::baseline::measure;
use elephant_engine::results::{ApplicationReport, NodeWork, QueryWork};
use elephant_verdict::troubles::Trouble;

/// Nodes that one query looks up.
const NODES_AT_ONCE: usize = 200;

/// Writes the findings, troubles, advised settings, queries and nodes of an application.
pub(super) fn write(database: &Database, place: i64, app: &ApplicationReport) -> Result<(), StoreError> {
    findings(database, place, app)?;
    queries(database, place, &app.query_work)?;
    nodes(database, place, &app.nodes)
}

fn findings(database: &Database, place: i64, app: &ApplicationReport) -> Result<(), StoreError> {
    let findings: Vec<_> = (0_i64..)
        .zip(&app.findings)
        .map(|(n, finding)| {
            let (subject, severity) = (app.subject_key(&finding.subject), whole(finding.severity.value()));
            let key = finding.rule_facts.key_measure.map(|measure| measure.key);
            let (message, value) = (&finding.message, measure::value(finding));
            let larger = whole(finding.severity_in_larger_run().value());
            values![place, n, &*finding.rule, severity, subject, message, key, value, larger]
        })
        .collect();
    database.insert_all(
        "finding (application, n, rule, severity, subject, message, measure, value, in_larger_run)",
        &findings,
    )?;
    let troubles: Vec<_> = (0_i64..)
        .zip(&app.troubles)
        .map(|(n, trouble)| {
            let saved = Saved::by(trouble);
            let (kind, severity) = (trouble.kind.name(), whole(trouble.severity.value()));
            let failure = trouble.failure.as_ref().map(|failure| failure.kind.name());
            values![
                place,
                n,
                kind,
                severity,
                &trouble.cause,
                remedy(trouble),
                saved.time,
                saved.memory,
                saved.limit,
                failure
            ]
        })
        .collect();
    database.insert_all(
        "trouble (application, n, kind, severity, cause, remedy, saved_time, saved_memory, limit_time, failure)",
        &troubles,
    )?;
    let settings: Vec<_> = (0_i64..)
        .zip(&app.recommended)
        .map(|(n, recommended)| {
            let (change, saved) = (&recommended.change, saved_by(recommended, app));
            values![place, n, &change.setting, change.from.as_deref(), &change.to, saved.memory, saved.time]
        })
        .collect();
    database.insert_all("setting (application, n, name, old, new, saved_memory, saved_time)", &settings)
}

/// Writes the queries that took longest.
fn queries(database: &Database, place: i64, queries: &[QueryWork]) -> Result<(), StoreError> {
    let time = |time: Option<Millis>| time.map(Millis::get).map(whole);
    let size = |size: Option<Bytes>| size.map(Bytes::get).map(whole);
    let rows: Vec<_> = (0_i64..)
        .zip(queries)
        .map(|(n, QueryWork { query, computes })| {
            let wall = query.wall;
            values![
                place,
                n,
                whole(query.id),
                query.root.map(whole),
                &query.name,
                computes.as_deref(),
                query.started_at.map(Timestamp::as_millis),
                time(wall.map(|it| it.total)),
                time(wall.map(|it| it.planning)),
                time(wall.map(|it| it.jobs)),
                time(wall.map(|it| it.gaps)),
                time(wall.map(|it| it.after)),
                time(query.task_time),
                size(query.input),
                size(query.shuffled),
                size(query.spilled),
                size(query.output),
                whole(query.stages.len() as u64),
                query.error.as_deref().map(bounded),
            ]
        })
        .collect();
    database.insert_all(
        "query (application, n, id, root, name, computes, started, wall, planning, jobs, between_jobs, after_jobs, \
         task_time, input, shuffled, spilled, output, stages, error)",
        &rows,
    )
}

/// Writes what the application did on each node.
fn nodes(database: &Database, place: i64, nodes: &[NodeWork]) -> Result<(), StoreError> {
    let known = places_of(database, nodes)?;
    let mut rows = Vec::with_capacity(nodes.len());
    for work in nodes {
        let node = match known.get(&work.node) {
            Some(&known) => known,
            None => {
                database.insert("INSERT INTO node (name) VALUES (?1) RETURNING node", &values![&work.node])?
            }
        };
        rows.push(values![
            place,
            node,
            whole(work.attempts),
            whole(work.failed),
            work.task_time.map(Millis::get).map(whole),
            whole(work.lost_executors),
            whole(work.node_failures),
            whole(work.compared),
            whole(work.stragglers),
            work.score,
            work.squares,
        ]);
    }
    database.insert_all(
        "node_work (application, node, attempts, failed, task_time, lost_executors, node_failures, compared, stragglers, \
         score, squares)",
        &rows,
    )
}

/// The places of those nodes that the store already has.
fn places_of(database: &Database, nodes: &[NodeWork]) -> Result<BTreeMap<String, i64>, StoreError> {
    let mut known = BTreeMap::new();
    for nodes in nodes.chunks(NODES_AT_ONCE) {
        let names = nodes.iter().map(|work| Cow::Borrowed(work.node.as_str())).collect();
        let (these, names) = database.backend().among_texts(names);
        let query = format!("SELECT name, node FROM node WHERE name {these}");
        known.extend(database.rows(&query, &names, |row| Ok((row.get::<String>(0)?, row.get::<i64>(1)?)))?);
    }
    Ok(known)
}

/// The first advice.
fn remedy(trouble: &Trouble) -> Option<&str> {
    trouble.advice.first().map(|advice| advice.text.as_str())
}
