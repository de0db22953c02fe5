//! Plans of queries: deep, damaged, cut, out of order, and many.

use std::fmt::Write;
use std::io::Cursor;

use elephant_base::limits::Limits;
use elephant_input::budget::Budget;
use elephant_model::model::Application;
use elephant_model::model::spark::SqlExecution;
use elephant_parse::spark::{Completeness, Feed, Log, Names, Part, parse_within};

const START: &str = "{\"Event\":\"SparkListenerApplicationStart\",\"App ID\":\"a\",\"Timestamp\":1}\n";
const EVENT: &str = "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQL";

fn read_within(text: &str, limits: &Limits) -> (Application, Vec<String>) {
    let bytes = text.as_bytes().to_vec();
    let open = move || Ok(Feed::Stream(Box::new(Cursor::new(bytes.clone()))));
    let part = Part { name: "log".to_owned(), open: Box::new(open) };
    let log = Log { parts: vec![part], names: Names::default(), completeness: Completeness::default() };
    let mut parsed = parse_within(&log, limits, &Budget::unlimited());
    let problems = parsed.problems.into_vec().into_iter().map(|problem| problem.message).collect();
    (parsed.applications.remove(0), problems)
}

fn read(text: &str) -> Application {
    read_within(text, &Limits::default()).0
}

fn queries(app: &Application) -> &[SqlExecution] {
    &app.spark.as_deref().unwrap().sql
}

fn operator(name: &str, accumulator: u64, children: &str) -> String {
    format!(
        "{{\"nodeName\":\"{name}\",\"simpleString\":\"{name} x\",\"children\":[{children}],\"metadata\":{{}},\"metrics\":\
         [{{\"name\":\"duration\",\"accumulatorId\":{accumulator},\"metricType\":\"timing\"}}]}}"
    )
}

fn start(id: u64, plan: &str) -> String {
    format!(
        "{EVENT}ExecutionStart\",\"executionId\":{id},\"description\":\"d\",\"sparkPlanInfo\":{plan},\"time\":{id}}}\n"
    )
}

fn update(id: u64, plan: &str) -> String {
    format!("{EVENT}AdaptiveExecutionUpdate\",\"executionId\":{id},\"sparkPlanInfo\":{plan}}}\n")
}

/// The end of a stage that changed these accumulators.
fn stage(id: u64, accumulators: &[u64]) -> String {
    let values: Vec<String> = accumulators
        .iter()
        .map(|it| format!("{{\"ID\":{it},\"Value\":\"5\",\"Metadata\":\"sql\"}}"))
        .collect();
    format!(
        "{{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{{\"Stage ID\":{id},\"Stage Attempt ID\":0,\
         \"Completion Time\":{id},\"Accumulables\":[{}]}}}}\n",
        values.join(",")
    )
}

fn names(app: &Application, of: &elephant_model::model::spark::Plan) -> Vec<String> {
    of.operators.iter().map(|operator| app.strings.get(operator.name).unwrap().to_owned()).collect()
}

#[test]
fn deep_and_wide_plans_are_read_whole() {
    let deep = (0..10_000).fold(String::new(), |below, id| operator("Project", id, &below));
    let wide: Vec<String> = (0..10_000).map(|id| operator("Range", 20_000 + id, "")).collect();
    let app =
        read(&(START.to_owned() + &start(1, &deep) + &start(2, &operator("Union", 1, &wide.join(",")))));
    let [one, two] = queries(&app) else { panic!("two queries") };
    assert_eq!((one.plan.operators.len(), one.plan.metrics.len()), (10_000, 10_000));
    assert!((1_u32..).zip(&one.plan.operators[1..]).all(|(place, it)| it.parent == Some(place - 1)));
    assert_eq!(two.plan.operators.len(), 10_001);
    assert!(two.plan.operators[1..].iter().all(|it| it.parent == Some(0)));
}

#[test]
fn many_queries_are_read() {
    let mut text = START.to_owned();
    for id in 0..100_000 {
        text.push_str(&start(id, &operator("Range", id, "")));
    }
    assert_eq!(queries(&read(&text)).len(), 100_000);
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let long = "é".repeat(5000);
    let plan = format!(
        "{{\"nodeName\":\"Scan\",\"simpleString\":\"{long}\",\"children\":[],\"metadata\":{{\"ReadSchema\":\"{long}\"}}}}"
    );
    let app = read(&(START.to_owned() + &start(1, &plan)));
    let plan = &queries(&app)[0].plan;
    for text in [plan.text(plan.operators[0].text), plan.text(plan.facts_of(0)[0].value)] {
        assert!(text.ends_with('…') && text.len() < 5000, "{}", text.len());
    }
}

#[test]
fn operators_that_a_later_plan_lacks_are_kept_if_they_ran() {
    let first = operator("SortMergeJoin", 1, &(operator("Sort", 2, "") + "," + &operator("Never", 3, "")));
    let second = operator("BroadcastHashJoin", 4, "");
    let text = START.to_owned() + &start(7, &first) + &update(7, &second) + &stage(0, &[2, 4]);
    let app = read(&text);
    let query = &queries(&app)[0];
    assert_eq!(names(&app, &query.plan), ["BroadcastHashJoin"]);
    assert_eq!(names(&app, &query.replaced), ["Sort"]);
    assert_eq!(query.replaced.text(query.replaced.operators[0].text), "Sort x");
    // A plan that comes back is not replaced.
    let back = read(&(text + &update(7, &first)));
    let query = &queries(&back)[0];
    assert_eq!(
        (names(&back, &query.plan).len(), names(&back, &query.replaced)),
        (3, vec!["BroadcastHashJoin".to_owned()])
    );
}

#[test]
fn a_later_plan_before_the_first_one_stays_the_last() {
    let (first, second) = (operator("SortMergeJoin", 1, ""), operator("BroadcastHashJoin", 4, ""));
    let app = read(&(START.to_owned() + &update(7, &second) + &start(7, &first) + &stage(0, &[1, 4])));
    let query = &queries(&app)[0];
    assert_eq!(names(&app, &query.plan), ["BroadcastHashJoin"]);
    assert_eq!(names(&app, &query.replaced), ["SortMergeJoin"]);
    assert!(query.started_at.is_some());
}

#[test]
fn odd_plans_are_read_as_far_as_they_go() {
    for (plan, operators) in [
        ("null", 0),
        ("\"text\"", 0),
        ("{}", 1),
        ("{\"children\":null,\"nodeName\":7}", 1),
        ("{\"children\":[null,{},[],{\"nodeName\":\"Sort\"}],\"nodeName\":\"Union\"}", 3),
        ("{\"metrics\":[{\"name\":\"x\"}],\"metadata\":[1],\"simpleString\":null}", 1),
    ] {
        let app = read(&(START.to_owned() + &start(1, plan)));
        assert_eq!(queries(&app)[0].plan.operators.len(), operators, "{plan}");
    }
}

#[test]
fn too_many_operators_are_told() {
    let wide: Vec<String> = (0..50).map(|id| operator("Range", id, "")).collect();
    let limits = Limits { tasks: Some(20), ..Limits::default() };
    let (app, problems) =
        read_within(&(START.to_owned() + &start(1, &operator("Union", 99, &wide.join(",")))), &limits);
    assert!(queries(&app)[0].plan.operators.is_empty());
    assert!(
        problems.iter().any(|told| told.contains("operators in the plans of its queries")),
        "{problems:?}"
    );
}

#[test]
fn a_plan_cut_anywhere_gives_one_problem_and_no_query_with_wrong_parts() {
    let plan = operator("Sort", 1, &operator("Range", 2, ""));
    let whole = start(1, &plan);
    for cut in EVENT.len()..whole.len() - 2 {
        let mut text = START.to_owned();
        writeln!(text, "{}", &whole[..cut]).unwrap();
        text.push_str(&start(2, &plan));
        let (app, problems) = read_within(&text, &Limits::default());
        let ids: Vec<u64> = queries(&app).iter().map(|query| query.id).collect();
        assert_eq!((ids, problems.is_empty()), (vec![2], false), "{cut}");
    }
}

/// The start and the end of a stage with these tasks and RDDs: their ids, partitions, and whether they are persisted.
fn stage_of_rdds(id: u64, tasks: u64, rdds: &[(u64, u64, bool)]) -> String {
    let rdd = |&(id, partitions, persisted): &(u64, u64, bool)| {
        format!(
            "{{\"RDD ID\":{id},\"Name\":\"r\",\"Parent IDs\":[],\"Storage Level\":{{\"Use Disk\":false,\"Use Memory\":\
             {persisted},\"Deserialized\":false,\"Replication\":1}},\"Number of Partitions\":{partitions},\"Number of Cached \
             Partitions\":0,\"Memory Size\":0,\"Disk Size\":0}}"
        )
    };
    let rdds = rdds.iter().map(rdd).collect::<Vec<_>>().join(",");
    let event = |name: &str, more: &str| {
        format!(
            "{{\"Event\":\"SparkListenerStage{name}\",\"Stage Info\":{{\"Stage ID\":{id},\"Stage Attempt ID\":0,\"Number of \
             Tasks\":{tasks},\"RDD Info\":[{rdds}],\"Parent IDs\":[]{more}}}}}\n"
        )
    };
    event("Submitted", "") + &event("Completed", ",\"Completion Time\":9")
}

#[test]
fn the_first_stage_that_computes_all_of_a_persisted_rdd_fills_a_cache() {
    let log = [
        stage_of_rdds(0, 4, &[(0, 4, false)]),
        stage_of_rdds(1, 4, &[(2, 4, false), (1, 4, true)]),
        // It reads what was kept.
        stage_of_rdds(2, 4, &[(3, 4, false), (1, 4, true)]),
        // It may leave partitions to the next stage, and the log does not say how many of them that one computes.
        stage_of_rdds(3, 1, &[(4, 200, true)]),
        stage_of_rdds(4, 200, &[(4, 200, true)]),
        stage_of_rdds(5, 0, &[(5, 0, true)]),
    ];
    let app = read(&(START.to_owned() + &log.concat()));
    let stages = &app.spark.as_deref().unwrap().stages;
    let filling: Vec<u32> = stages.iter().filter(|it| it.fills_cache).map(|it| it.id.stage).collect();
    assert_eq!((stages.len(), filling), (6, vec![1]));
    assert_eq!(app.spark.as_deref().unwrap().rdds.len(), 3);
}
