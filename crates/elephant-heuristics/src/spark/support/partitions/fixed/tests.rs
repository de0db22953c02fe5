//! Each purpose, and each cause that fixes the number of tasks, with what all rules say about few tasks, spill, skew and
//! long stages.

use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{
    Job, Operator, OperatorKind, Origin, Plan, PlanFact, PlanMetric, PlanText, SqlExecution, Stage,
    counter_of,
};
use elephant_model::model::table::Outcome;
use elephant_rule::finding::{Finding, TroubleKind};

/// What all tasks of the stage do in addition to taking long.
#[derive(Clone, Copy, PartialEq)]
enum Trouble {
    Few,
    Spill,
    /// The first task reads thirty times the data, and takes thirty times as long.
    Skew,
}

/// A stage of four tasks that take 20 min on 64 cores, with the trouble.
fn stage(trouble: Trouble, change: impl Fn(&mut Application)) -> Vec<Finding> {
    let mut app = elephant_sample::app(&[("spark.executor.memory", "4g"), ("spark.executor.cores", "4")]);
    for id in 1..=16 {
        elephant_sample::executor(&mut app, &id.to_string()).cores = Some(4);
    }
    let times = match trouble {
        Trouble::Skew => [1_200_000, 40_000, 40_000, 40_000],
        _ => [1_200_000; 4],
    };
    elephant_sample::stage(&mut app, 0, &times.map(|time| (Outcome::Succeeded, time)));
    if trouble == Trouble::Spill {
        elephant_sample::count(&mut app, Counter::MemoryBytesSpilled, 40 << 30);
    }
    elephant_sample::succeed(&mut app);
    app.finished_at = Some(Timestamp::from_millis(1_250_000));
    let spark = elephant_sample::spark(&mut app);
    let mut job = Job::new(0);
    job.stages = vec![0];
    spark.jobs.push(job);
    spark.stages[0].job = Some(0);
    change(&mut app);
    let reads = [Counter::InputBytes, Counter::ShuffleRemoteBytesRead];
    let has = |counter| app.groups[0].attempts.count(0, counter).is_some_and(|bytes| bytes > 0);
    let read = reads.into_iter().find(|counter| has(*counter)).unwrap_or(Counter::InputBytes);
    for row in 0..4 {
        let mib = if trouble == Trouble::Skew && row == 0 { 3000 } else { 100 };
        app.groups[0].attempts.set_counter(row, read, Some(mib << 20));
    }
    let findings = elephant_sample::evaluate_all(&app, "").findings;
    findings.into_iter().filter(|finding| finding.severity > Severity::None).collect()
}

fn is_about_tasks(finding: &Finding) -> bool {
    let kinds = [TroubleKind::FewTasks, TroubleKind::Spill, TroubleKind::Skew, TroubleKind::LongRun];
    kinds.contains(&finding.tells)
}

fn texts(findings: &[Finding]) -> String {
    let about = findings.iter().filter(|finding| is_about_tasks(finding));
    let lines = about.flat_map(|finding| &finding.advice).map(|advice| {
        let settings = advice.settings.iter().map(ToString::to_string).collect::<Vec<_>>();
        format!("{} {}", advice.text, settings.join(" "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn first(app: &mut Application) -> &mut Stage {
    &mut elephant_sample::spark(app).stages[0]
}

fn origins(origins: &'static [Origin]) -> impl Fn(&mut Application) {
    move |app| {
        for &origin in origins {
            first(app).origins.add(origin);
        }
        if origins.contains(&Origin::Shuffle) {
            elephant_sample::count(app, Counter::ShuffleRemoteBytesRead, 1);
        }
    }
}

/// Makes the stage one of a query: operators from the top down, with whether each has a value in the stage.
fn query(nodes: &'static [(&'static str, &'static str, bool)]) -> impl Fn(&mut Application) {
    move |app| {
        let mut plan = Plan::default();
        let mut accumulables = Vec::new();
        for (place, (name, text, runs)) in (0_u32..).zip(nodes) {
            let start = u32::try_from(plan.texts.len()).unwrap();
            plan.texts.push_str(text);
            let text = PlanText { start, end: u32::try_from(plan.texts.len()).unwrap() };
            let node = app.strings.intern(name).unwrap();
            plan.operators.push(Operator {
                name: node,
                kind: OperatorKind::of(name),
                parent: place.checked_sub(1),
                text,
            });
            let metric = if *name == "Exchange" { "records read" } else { "number of output rows" };
            let (name, kind) = (app.strings.intern(metric).unwrap(), app.strings.intern("sum").unwrap());
            let counter = counter_of(metric);
            let accumulator = u64::from(place) + 1;
            plan.metrics.push(PlanMetric { operator: place, name, kind, counter, accumulator });
            accumulables.extend(runs.then_some((accumulator, 1)));
            if plan.text(text).contains("Buckets") {
                let key = app.strings.intern("SelectedBucketsCount").unwrap();
                plan.facts.push(PlanFact { operator: place, key, value: text });
            }
        }
        first(app).accumulables = accumulables.into();
        let mut execution = SqlExecution::new(1);
        execution.plan = plan;
        let spark = elephant_sample::spark(app);
        spark.sql.push(execution);
        spark.jobs[0].sql_execution = Some(1);
        if nodes.iter().any(|(name, _, runs)| *name == "Exchange" && *runs) {
            first(app).origins.add(Origin::Shuffle);
            elephant_sample::count(app, Counter::ShuffleRemoteBytesRead, 1);
        }
    }
}

/// A cause, and what all advice about its few tasks contains; nothing if few tasks are no trouble of it.
type Case = (&'static str, Box<dyn Fn(&mut Application)>, Option<&'static str>);

const SINGLE: &str = "Exchange SinglePartition, ENSURE_REQUIREMENTS";

fn cases() -> Vec<Case> {
    fn case(
        name: &'static str,
        change: impl Fn(&mut Application) + 'static,
        remedy: Option<&'static str>,
    ) -> Case {
        (name, Box::new(change), remedy)
    }
    let read = "org.apache.spark.sql.DataFrameReader.json(DataFrameReader.scala:1)";
    vec![
        case("database", origins(&[Origin::Jdbc]), Some("numPartitions=")),
        case("Kafka", origins(&[Origin::Kafka]), Some("minPartitions=")),
        case("HBase", origins(&[Origin::HBase]), Some("split large regions")),
        case("slices", origins(&[Origin::Parallelized]), Some("number of slices")),
        case("coalesce", origins(&[Origin::Files, Origin::Coalesced]), Some("instead of coalesce(4)")),
        case(
            "repartition",
            origins(&[Origin::Shuffle, Origin::Coalesced, Origin::Repartitioned]),
            Some("change the number in repartition"),
        ),
        case(
            "repartition in a query",
            query(&[
                ("Project", "Project", true),
                ("Exchange", "Exchange RoundRobinPartitioning(4), REPARTITION_BY_NUM", true),
            ]),
            Some("change the number in repartition"),
        ),
        case(
            "window",
            query(&[("Window", "Window", true), ("Exchange", SINGLE, true)]),
            Some("PARTITION BY"),
        ),
        case("buckets", query(&[("Scan parquet t", "Buckets 4 out of 4", true)]), Some("buckets")),
        case("aggregate", query(&[("HashAggregate", "", true), ("Exchange", SINGLE, true)]), None),
        case("limit", query(&[("TakeOrderedAndProject", "", true), ("Exchange", SINGLE, true)]), None),
        case("barrier", |app| first(app).is_barrier = true, None),
        case("receiver", origins(&[Origin::Receiver]), None),
        case("retry", |app| first(app).id.attempt = 1, None),
        case("schema", move |app| first(app).first_call = Some(read.into()), None),
        case(
            "listing",
            |app| {
                let told = "Listing leaf files and directories for 200 paths:<br/>a";
                elephant_sample::spark(app).jobs[0].description = Some(told.to_owned());
            },
            None,
        ),
        case("sampling", |app| first(app).name = Some("sortByKey at A.scala:1".into()), None),
        case(
            "sampling of a query",
            query(&[
                ("Exchange", "Exchange rangepartitioning(a#1, 200)", false),
                ("Scan parquet t", "", true),
            ]),
            None,
        ),
    ]
}

#[test]
fn few_tasks_get_the_remedy_of_what_fixes_them_or_none() {
    for (name, change, remedy) in cases() {
        let findings = stage(Trouble::Few, change);
        let few: Vec<&Finding> = findings.iter().filter(|it| it.tells == TroubleKind::FewTasks).collect();
        let Some(remedy) = remedy else {
            assert!(few.is_empty(), "{name}: {few:?}");
            continue;
        };
        assert!(few.len() >= 2, "{name}: {few:?}");
        for advice in few.iter().flat_map(|finding| &finding.advice) {
            assert!(advice.text.contains(remedy), "{name}: {advice:?}");
            assert!(advice.settings.is_empty(), "{name}: {advice:?}");
        }
    }
}

#[test]
fn no_rule_advises_a_repartition_of_what_spark_or_the_source_chose() {
    let source =
        ["database", "Kafka", "HBase", "buckets", "schema", "listing", "sampling", "sampling of a query"];
    let inherent = ["aggregate", "limit", "barrier", "receiver", "retry"];
    for trouble in [Trouble::Few, Trouble::Spill, Trouble::Skew] {
        for (name, change, _) in cases() {
            let is_query =
                ["window", "buckets", "aggregate", "limit"].contains(&name) || name.contains("query");
            let told = texts(&stage(trouble, change));
            let numbers = ["shuffle.partitions", "default.parallelism", "maxPartitionBytes", "repartition("];
            if source.contains(&name) || inherent.contains(&name) {
                assert!(!numbers.iter().any(|text| told.contains(text)), "{name}: {told}");
            }
            assert!(!is_query || !told.contains("reduceByKey"), "{name}: {told}");
        }
    }
}

#[test]
fn work_that_nobody_asked_for_gets_the_remedy_for_its_purpose() {
    for (name, remedy) in
        [("schema", "schema(…)"), ("listing", "read fewer paths"), ("sampling", "sort within partitions")]
    {
        for trouble in [Trouble::Few, Trouble::Skew, Trouble::Spill] {
            let change = cases().into_iter().find(|(case, ..)| *case == name).unwrap().1;
            let told = texts(&stage(trouble, change));
            assert!(told.contains(remedy), "{name}: {told}");
        }
    }
}

#[test]
fn skew_is_against_what_divides_the_data() {
    for (name, remedy) in [
        ("database", "partitionColumn with even values"),
        ("Kafka", "divide the topic evenly"),
        ("HBase", "split its large regions"),
        ("buckets", "distributed evenly"),
        ("coalesce", "coalesce merges whole partitions"),
    ] {
        let change = cases().into_iter().find(|(case, ..)| *case == name).unwrap().1;
        let told = texts(&stage(Trouble::Skew, change));
        assert!(told.contains(remedy), "{name}: {told}");
    }
}
