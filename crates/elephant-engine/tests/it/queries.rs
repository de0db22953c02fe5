//! Queries of real logs, compared with a second computation (`reference/sql/plans.py`), and their invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};

use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_engine::engine::{Options, Visited, analyze, visit};
use elephant_model::model::Application;
use elephant_model::model::spark::{StageAttempt, Stream};
use elephant_query::{
    Extent, Ground, OperatorKind, OperatorSummary, PlacedOperator, Queries, Query, dynamic_pruning,
    feeds_pruning, name_of_operator,
};
use elephant_rule::finding::TroubleKind;
use elephant_ruleset::RuleSet;
use elephant_testing::{is_ci, shared, skipped};

fn each<T: Send>(look: impl Fn(&Application) -> T + Sync) -> Option<Vec<(String, T)>> {
    let (corpus, runs) = (shared("corpus")?, shared("runs")?);
    let Visited { applications, .. } = visit(&[corpus, runs], |app, sources| (sources[0].clone(), look(app)));
    Some(applications.into_iter().map(|visited| visited.value).collect())
}

/// A log as one file: the script reads no logs in parts. `None` for a member of an archive.
fn whole(parts: &[String], folder: &Path) -> Option<PathBuf> {
    let [first, rest @ ..] = parts else { return None };
    let first = PathBuf::from(first);
    if rest.is_empty() {
        return first.is_file().then_some(first);
    }
    let bytes = parts.iter().map(|part| std::fs::read(part).ok()).collect::<Option<Vec<_>>>()?.concat();
    let path = folder.join(first.file_name()?);
    std::fs::write(&path, bytes).unwrap();
    Some(path)
}

/// What `plans.py` prints about an operator.
fn told(operator: &PlacedOperator<'_>, app: &Application) -> Value {
    let stages = &app.spark.as_deref().unwrap().stages;
    let mut names: Vec<String> = if operator.is_placed_by_value {
        operator.stages.iter().map(|&stage| stages[stage as usize].id.to_string()).collect()
    } else {
        Vec::new()
    };
    names.sort();
    let metrics: Map<String, Value> = operator
        .values
        .iter()
        .map(|value| (value.name.to_owned(), json!([value.kind, value.total])))
        .collect();
    json!({ "name": operator.name, "text": operator.text, "stages": names, "metrics": metrics })
}

/// What `plans.py` prints about the executions of an application.
fn executions(app: &Application) -> Vec<Value> {
    let Some(queries) = Queries::of(app) else { return Vec::new() };
    let told_of = |query: &Query<'_>, is_last: bool| -> Vec<Value> {
        let operators = query.operators.iter().filter(|operator| operator.is_last == is_last);
        operators.filter(|operator| !operator.name.is_empty()).map(|operator| told(operator, app)).collect()
    };
    queries
        .iter()
        .map(|query| {
            json!({
                "id": query.execution.id,
                "parents": query.operators.iter().filter(|operator| operator.is_last).map(|operator| operator.parent)
                    .collect::<Vec<_>>(),
                "nodes": told_of(&query, true),
                "replaced": sorted(told_of(&query, false)),
            })
        })
        .collect()
}

fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_key(ToString::to_string);
    values
}

/// The output of `plans.py` in the same form.
fn expected(printed: &Value) -> Vec<Value> {
    let plain = |node: &Value| {
        let kept = ["name", "text", "stages", "metrics"];
        let members = node.as_object().unwrap().iter().filter(|(key, _)| kept.contains(&key.as_str()));
        Value::Object(members.map(|(key, value)| (key.clone(), value.clone())).collect())
    };
    let list = |execution: &Value, key: &str| -> Vec<Value> {
        execution[key].as_array().unwrap().iter().map(plain).collect()
    };
    let mut executions: Vec<&Value> = printed["executions"].as_array().unwrap().iter().collect();
    executions.sort_by_key(|execution| execution["id"].as_u64());
    executions
        .into_iter()
        .map(|execution| {
            let parents = execution["nodes"].as_array().unwrap().iter().map(|node| node["parent"].clone());
            json!({
                "id": execution["id"],
                "parents": parents.collect::<Vec<_>>(),
                "nodes": list(execution, "nodes"),
                "replaced": sorted(list(execution, "replaced")),
            })
        })
        .collect()
}

#[test]
fn operators_stages_and_totals_equal_the_second_computation() {
    let Some(script) = shared("reference/sql/plans.py") else { return };
    let (Some(corpus), Some(runs)) = (shared("corpus"), shared("runs")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let Visited { applications, .. } =
        visit(&[corpus, runs], |app, sources| (whole(sources, folder.path()), executions(app)));
    let ours: BTreeMap<PathBuf, Vec<Value>> = applications
        .into_iter()
        .filter_map(|visited| Some((visited.value.0?, visited.value.1)))
        .filter(|(_, executions)| !executions.is_empty())
        .collect();
    let Ok(output) = Command::new("python3").arg(script).args(ours.keys()).output() else {
        assert!(!is_ci(), "python3 is missing");
        return skipped::note("python3 is not installed");
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let (mut compared, mut operators) = (0, 0);
    for ((source, ours), line) in ours.iter().zip(printed.lines()) {
        let theirs = expected(&serde_json::from_str(line).unwrap());
        // The script reads fewer codecs.
        if theirs.is_empty() {
            continue;
        }
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "{}", source.display());
            operators += theirs["nodes"].as_array().unwrap().len();
        }
        assert_eq!(ours.len(), theirs.len(), "{}", source.display());
        compared += 1;
    }
    assert!(compared > 100 && operators > 4_500, "{compared} logs, {operators} operators");
}

#[test]
fn the_parts_of_a_stage_add_up_to_the_time_of_its_tasks() {
    let work = each(|app| {
        let Some(queries) = Queries::of(app) else { return (0, Millis::ZERO, Millis::ZERO) };
        let (mut total, mut explained) = (Millis::ZERO, Millis::ZERO);
        let all: Vec<_> = queries.iter().collect();
        let work = queries.work(&all);
        for stage in work.values() {
            let parts: u64 = stage.parts.iter().map(|part| part.time.get()).sum();
            assert!(stage.parts.iter().all(|part| part.time <= stage.total));
            assert_eq!(parts + stage.rest.get(), stage.total.get());
            total = total + stage.total;
            explained = explained + Millis::new(parts);
        }
        (work.len(), total, explained)
    });
    let Some(work) = work else { return };
    let stages: usize = work.iter().map(|(_, (stages, ..))| stages).sum();
    assert!(stages > 500, "{stages}");
}

#[test]
fn the_parts_of_a_query_add_up_to_its_wall_time() {
    let walls = each(|app| {
        let Some(queries) = Queries::of(app) else { return 0 };
        let walls = queries.iter().filter_map(|query| queries.wall(query.execution));
        walls
            .inspect(|wall| {
                let parts = [wall.planning, wall.jobs, wall.gaps, wall.after].map(Millis::get);
                assert_eq!(parts.iter().sum::<u64>(), wall.total.get());
            })
            .count()
    });
    let Some(walls) = walls else { return };
    assert!(walls.iter().map(|(_, count)| count).sum::<usize>() > 300);
}

/// The rules on queries, in the order of the catalogue.
fn on_queries() -> impl Iterator<Item = &'static str> {
    let others = [TroubleKind::DriverTime, TroubleKind::Stream, TroubleKind::StreamState];
    elephant_heuristics::BUILT_IN
        .rules()
        .filter(move |rule| rule.facts.tells.is_of_queries() || others.contains(&rule.facts.tells))
        .map(|rule| rule.id)
}

/// The rules on queries that find something in a recording, and the first trouble.
fn told_of(recording: &str) -> Option<(Vec<String>, Option<String>)> {
    let path = shared("runs")?.join(recording);
    let report = analyze(&[path], &RuleSet::new(elephant_heuristics::BUILT_IN).unwrap(), Options::default());
    let app = &report.applications[0];
    let found = app.findings.iter().filter(|finding| finding.severity > Severity::None);
    let rules: BTreeSet<&str> = found.map(|finding| finding.rule.as_ref()).collect();
    let told = on_queries().filter(|rule| rules.contains(rule)).map(str::to_owned).collect();
    Some((told, app.troubles.first().map(|trouble| trouble.kind.name().to_owned())))
}

#[test]
fn planted_causes_are_told_first() {
    for (recording, rule, trouble) in [
        ("sql-spark-4.0.1/python-udf.zst", "spark-python-functions", "python"),
        ("sql-spark-4.0.1/small-write.zst", "spark-small-files-written", "small-files"),
        ("sql-spark-4.0.1/would-broadcast.zst", "spark-would-broadcast", "join"),
        ("spark-3.5.7-pairs/recompute-with", "spark-repeated-work", "repeated-work"),
        ("spark-3.5.7-pairs/collect-with", "spark-driver-time", "driver-time"),
        ("spark-3.5.7-pairs/gap-with", "spark-driver-time", "driver-time"),
    ] {
        let Some((told, first)) = told_of(recording) else { return };
        assert_eq!(
            (told.as_slice(), first.as_deref()),
            ([rule.to_owned()].as_slice(), Some(trouble)),
            "{recording}"
        );
    }
}

#[test]
fn healthy_runs_hear_nothing_of_their_queries() {
    for recording in [
        "sql-spark-4.0.1/aqe-skew.zst",
        "spark-3.5.7-pairs/recompute-without",
        "spark-3.5.7-pairs/collect-without",
        "spark-3.5.7-pairs/gap-without",
        "spark-3.5.9/healthy",
        "spark-3.1.3/sqlaqe",
        "spark-2.4.8/local",
        "spark-4.3.0/healthy",
        "spark-3.5.9/sqlaqe",
        "spark-3.5.9/cached",
    ] {
        let Some((told, _)) = told_of(recording) else { return };
        assert_eq!(told, [""; 0], "{recording}");
    }
}

/// The batches of each stream of a log of the corpus, and the rows of its last state.
fn streams_of(log: &str) -> Option<Vec<(u64, Option<u64>)>> {
    let path = shared("corpus")?.join(log);
    let Visited { applications, .. } = visit(&[path], |app, _| {
        let streams = app.spark.iter().flat_map(|spark| &spark.streams);
        let rows = |stream: &Stream| stream.batches.back().and_then(|batch| batch.states.first()?.rows);
        streams.map(|stream| (stream.batch_count(), rows(stream))).collect::<Vec<_>>()
    });
    applications.into_iter().next().map(|visited| visited.value)
}

#[test]
fn streams_of_real_logs_are_read_and_keep_up() {
    let (log, rapids) = (
        "spark-plain/apache__spark/local-1596020211915",
        "spark-compressed/NVIDIA__spark-rapids-tools/e2e/streaming_eventlog.zstd",
    );
    let Some(streams) = streams_of(log) else { return };
    assert_eq!(streams, [(8, Some(1))]);
    assert_eq!(streams_of(rapids).map(|streams| streams.len()), Some(1));
    for log in [log, rapids] {
        let path = shared("corpus").unwrap().join(log);
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let report = analyze(&[path], &rules, Options::default());
        let told = report.applications[0].findings.iter().filter(|it| it.severity > Severity::None);
        let mut of_streams = told.filter(|finding| finding.rule.starts_with("spark-stream-"));
        assert!(of_streams.next().is_none(), "{log}");
    }
}

#[test]
fn reports_name_the_share_of_a_native_engine() {
    let Some(corpus) = shared("corpus") else { return };
    for (log, expected) in [
        // Its only operators are a scan of the JVM and a write.
        ("spark-plain/NVIDIA__spark-rapids-tools/e2e/test_id_0005_photon", Some(0.0)),
        // No native engine.
        ("spark-plain/apache__spark/local-1596020211915", None),
    ] {
        let path = corpus.join(log);
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let report = analyze(&[path], &rules, Options::default());
        assert_eq!(report.applications[0].native_share, expected, "{log}");
    }
}

/// A query of TPC-DS whose scan of sales a join prunes, with the broadcast of days told twice.
#[test]
fn joins_that_choose_partitions_are_known() {
    let Some(corpus) = shared("corpus") else { return };
    let look = |app: &Application, _: &[String]| {
        let queries = Queries::of(app).unwrap();
        let query = queries.iter().last().unwrap();
        let named = |place: usize| name_of_operator(&query.operators[place]);
        let prunings = |scan: usize| dynamic_pruning(&query, scan).into_iter().map(move |it| (scan, it));
        let [(scan, pruning)]: [_; 1] =
            (0..query.operators.len()).flat_map(prunings).collect::<Vec<_>>().try_into().unwrap();
        let broadcast =
            query.operators.iter().position(|it| it.kind == OperatorKind::Broadcast && it.repeats.is_none());
        assert_eq!(broadcast.and_then(|broadcast| feeds_pruning(&query, broadcast)), Some(scan));
        // The other broadcast only feeds its join.
        let last = query.operators.iter().rposition(|it| it.kind == OperatorKind::Broadcast);
        assert_eq!(last.and_then(|broadcast| feeds_pruning(&query, broadcast)), None);
        (pruning.columns, pruning.join.map(named), pruning.subquery.map(named))
    };
    let log = "spark-compressed/NVIDIA__spark-rapids/nds_q86_fail_test.zstd";
    let Visited { applications, .. } = visit(&[corpus.join(log)], look);
    let found: Vec<_> = applications.into_iter().map(|visited| visited.value).collect();
    let join = Some("BroadcastHashJoin on ws_sold_date_sk".to_owned());
    assert_eq!(found, [(vec!["ws_sold_date_sk".to_owned()], join, Some("SubqueryBroadcast".to_owned()))]);
}

/// The time of an aggregation of a stage that reads no exchange, by what `plans.py` prints: what it measured without the
/// timings below it, in milliseconds; and whether an operator below it in its pipeline has no timing.
fn by_the_script(nodes: &[Value], place: usize) -> Option<(f64, bool)> {
    let timing = |node: &Value, start: &str| -> Option<f64> {
        let metrics = node["metrics"].as_object().unwrap().iter();
        let mut found = metrics.filter(|(name, _)| name.starts_with(start)).map(|(_, value)| {
            let total = value[1].as_f64().unwrap();
            if value[0] == "nsTiming" { total / 1e6 } else { total }
        });
        found.next()
    };
    let [build, scan, sort] = ["time in aggregation build", "scan time", "sort time"];
    let measured = timing(&nodes[place], build)?;
    let stages = &nodes[place]["stages"];
    let (mut below, mut fed, mut has_untimed) = (vec![place], 0.0, false);
    for (at, node) in nodes.iter().enumerate().skip(place + 1) {
        let name = node["name"].as_str().unwrap();
        if !node["parent"].as_u64().is_some_and(|parent| below.contains(&usize::try_from(parent).unwrap())) {
            continue;
        }
        let is_simple = !name.contains("Python") && !name.starts_with("Gpu") && timing(node, build).is_none();
        if name.contains("Broadcast") && !name.contains("Join") {
            continue;
        }
        let elsewhere = !node["stages"].as_array().unwrap().is_empty() && node["stages"] != *stages;
        if name.contains("Exchange") || elsewhere || !is_simple {
            return None;
        }
        below.push(at);
        let timed = [scan, sort].into_iter().filter_map(|start| timing(node, start)).reduce(|a, b| a + b);
        fed += timed.unwrap_or_default();
        has_untimed |= timed.is_none() && !OperatorKind::of(name).only_refers();
    }
    Some(((measured - fed).max(0.0), has_untimed))
}

#[test]
fn times_of_aggregations_equal_the_second_computation_and_tell_what_they_contain() {
    let Some(script) = shared("reference/sql/plans.py") else { return };
    let (Some(corpus), Some(runs)) = (shared("corpus"), shared("runs")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let look = |app: &Application, sources: &[String]| {
        let ground = Ground::of(app)?;
        let is_whole = |operator: &OperatorSummary| {
            let place = |id: &StageAttempt| ground.spark.stages.iter().position(|stage| stage.id == *id);
            let rest = |place: usize| ground.work.get(&u32::try_from(place).unwrap()).map(|work| work.rest);
            // Timings that exceed the time of the tasks are scaled, so that no rest is left.
            let mut rests = operator.stages.iter().map(|id| place(id).and_then(rest));
            rests.all(|rest| rest.is_some_and(|rest| rest > Millis::ZERO))
        };
        let all = ground.summaries(Extent { queries: usize::MAX, operators: true });
        let times = all.into_iter().flat_map(|query| {
            let id = query.id;
            let timed =
                query.operators.into_iter().filter(|it| it.is_last && it.repeats.is_none() && is_whole(it));
            let time =
                |it: &OperatorSummary| (it.time.map_or(0.0, Millis::as_f64), !it.time_includes.is_empty());
            timed.map(move |it| ((id, it.place as usize), time(&it))).collect::<Vec<_>>()
        });
        Some((whole(sources, folder.path())?, times.collect::<BTreeMap<_, _>>()))
    };
    let Visited { applications, .. } = visit(&[corpus, runs], look);
    let ours: BTreeMap<PathBuf, _> = applications.into_iter().filter_map(|visited| visited.value).collect();
    let Ok(output) = Command::new("python3").arg(script).args(ours.keys()).output() else {
        assert!(!is_ci(), "python3 is missing");
        return skipped::note("python3 is not installed");
    };
    let (mut compared, mut with_others) = (0, 0);
    for ((source, ours), line) in ours.iter().zip(String::from_utf8(output.stdout).unwrap().lines()) {
        let printed: Value = serde_json::from_str(line).unwrap();
        // The executions of a batch of a stream share their operators, whose time counts once.
        let mut told_before = BTreeSet::new();
        for execution in printed["executions"].as_array().unwrap() {
            let nodes = execution["nodes"].as_array().unwrap();
            for place in 0..nodes.len() {
                let key = (execution["id"].as_u64().unwrap(), place);
                if !told_before.insert(nodes[place].to_string()) {
                    continue;
                }
                let (Some((time, has_others)), Some((own, includes))) =
                    (by_the_script(nodes, place), ours.get(&key))
                else {
                    continue;
                };
                let told = format!("{}, {key:?}: {time} {own}", source.display());
                assert!((time - own).abs() <= 1.0, "{told}");
                assert_eq!(*includes, has_others && *own > 0.0, "{told}");
                compared += 1;
                with_others += usize::from(*includes);
            }
        }
    }
    assert!(compared > 50 && with_others > 20, "{compared} aggregations, {with_others} with others");
}
