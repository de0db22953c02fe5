use proptest::prelude::*;

use super::*;
use crate::testing::{self, with_stores};
use crate::{Grouping, Question, Store, View, record};
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
use elephant_engine::engine::Filter;
use elephant_engine::results::{ApplicationReport, NodeWork};
use elephant_model::model::Status;
use elephant_rule::finding::{Caps, Finding, RuleFacts, SettingChange, Subject, TroubleKind};
use elephant_verdict::troubles::Recommended;

const DAY_MS: i64 = 86_400_000;

/// What one step writes: an application, perhaps again or from another file.
#[derive(Debug, Clone)]
struct Written {
    id: u8,
    source: u8,
    user: Option<u8>,
    day: Option<i64>,
    size: u64,
    failed: bool,
    complete: bool,
}

fn written() -> impl Strategy<Value = Written> {
    let user = proptest::option::of(0_u8..3);
    let day = proptest::option::of(0_i64..70);
    (0_u8..6, 0_u8..2, user, day, 0_u64..9, any::<bool>(), any::<bool>()).prop_map(
        |(id, source, user, day, size, failed, complete)| Written {
            id,
            source,
            user,
            day,
            size,
            failed,
            complete,
        },
    )
}

fn app(written: &Written) -> ApplicationReport {
    let mut app = ApplicationReport::blank(&format!("app_{}", written.id));
    app.name = Some(format!("job {}", char::from(b'a' + written.id % 3)));
    app.user = written.user.map(|user| format!("user {user}"));
    app.sources = vec![format!("logs/{}/app_{}", written.source, written.id)];
    app.status = if written.failed { Status::Failed } else { Status::Succeeded };
    app.complete = written.complete;
    app.submitted_at = written.day.map(|day| Timestamp::from_millis(day * DAY_MS + 1));
    let held = |gib: u64| MbMillis::of(Bytes::from_mib(1024 * gib), Millis::from_secs(3600));
    app.metrics.used = (written.size > 0).then(|| held(written.size));
    app.metrics.wasted = (written.size > 2).then(|| held(written.size - 2));
    app.metrics.run_time = (written.size != 5).then(|| Millis::from_secs(written.size));
    app.severity = Severity::ALL[usize::try_from(written.size % 5).unwrap()];
    app.findings = findings(written.size);
    let node = |place: u64| NodeWork {
        node: format!("n{place}"),
        attempts: 3 + place,
        task_time: (place > 0).then(|| Millis::new(written.size)),
        score: -7,
        ..NodeWork::default()
    };
    app.nodes = (0..written.size % 3).map(node).collect();
    app.recommended = (0..written.size % 4).map(|n| recommended(written.size, n)).collect();
    let heap = format!("{}g", written.size % 2);
    app.configuration = Some(Box::new(elephant_sample::app(&[("spark.executor.memory", &heap)]).conf));
    app
}

/// A change of a setting that is not set, or empty, or long.
fn recommended(size: u64, n: u64) -> Recommended {
    let from = match size % 3 {
        0 => None,
        1 => Some(String::new()),
        _ => Some("-Dlong".repeat(50)),
    };
    let to = if n == 2 { format!("{} -Xmx{size}m", "-Dlong".repeat(50)) } else { size.to_string() };
    Recommended { change: SettingChange { setting: format!("setting.{n}"), from, to }, why: Vec::new() }
}

fn findings(count: u64) -> Vec<Finding> {
    let rules = ["spark-a", "spark-b", "spark-a"].into_iter().zip(0..count % 4);
    rules.map(|(rule, n)| finding(rule, n)).collect()
}

fn finding(rule: &'static str, n: u64) -> Finding {
    Finding {
        rule: rule.into(),
        title: "".into(),
        rule_facts: RuleFacts::USER,
        tells: TroubleKind::Other,
        repartition: None,
        of_more_parts: false,
        also_about: Vec::new(),
        in_queries: Vec::new(),
        conditions: Vec::new(),
        raw_severity: Severity::Low,
        caps: Caps::default(),
        severity: Severity::Low,
        score: n,
        subject: Subject::Application,
        message: String::new(),
        statement: String::new(),
        evidence: Vec::new(),
        thresholds: [].into(),
        advice: Vec::new(),
        failure: None,
    }
}

/// The rows of all tables of sums that are not empty.
fn kept(store: &Store) -> Vec<Vec<(String, Vec<i64>)>> {
    let rows = |sums: &Sums| {
        let names = |columns: &[Amount]| columns.iter().map(|it| it.0.to_owned()).collect::<Vec<_>>();
        let key: Vec<String> = names(sums.key).iter().map(|name| format!("CAST({name} AS TEXT)")).collect();
        let query = format!(
            "SELECT {}, {} FROM {} WHERE applications <> 0 ORDER BY 1",
            key.join(" || '/' || "),
            names(sums.amounts).join(", "),
            sums.table
        );
        let amounts = sums.amounts.len();
        store
            .database
            .rows(&query, &[], |row| {
                let values = (1..=amounts).map(|place| row.get::<i64>(place));
                Ok((row.get::<String>(0)?, values.collect::<Result<_, _>>()?))
            })
            .unwrap()
    };
    ALL.iter().map(rows).collect()
}

const QUESTIONS: [Question; 11] = [
    Question::Groups(Grouping::Everything),
    Question::Groups(Grouping::User),
    Question::Groups(Grouping::Queue),
    Question::Groups(Grouping::Job),
    Question::Groups(Grouping::Day),
    Question::Groups(Grouping::Engine),
    Question::Groups(Grouping::Status),
    Question::Groups(Grouping::Trouble),
    Question::Groups(Grouping::Rule),
    Question::Nodes,
    Question::Overview,
];

/// Answers from sums are those from the applications, which a filter of ids makes the store read.
fn assert_same_answers(store: &Store, window: (Option<i64>, Option<i64>)) {
    let day = |day: Option<i64>| day.map(|day| Timestamp::from_millis(day * DAY_MS));
    let sums = Filter { since: day(window.0), until: day(window.1), ..Filter::default() };
    let rows = Filter { ids: vec!["*".parse().unwrap()], ..sums.clone() };
    for question in QUESTIONS {
        let answer = |filter: &Filter| testing::answer(store, &question, filter, 5);
        assert_eq!(answer(&sums), answer(&rows), "{question:?} {window:?}");
    }
}

#[test]
fn long_changes_are_told_whole() {
    let day = Some(1);
    let written = Written { id: 0, source: 0, user: None, day, size: 7, failed: false, complete: true };
    with_stores(&[app(&written)], |store| {
        let answer = testing::answer(store, &Question::Overview, &Filter::default(), 5).unwrap();
        let View::Overview(fleet) = answer.view else { panic!() };
        let told: Vec<_> = fleet.remedies.iter().map(|it| (it.setting.as_str(), &*it.to)).collect();
        let long = format!("{} -Xmx7m", "-Dlong".repeat(50));
        assert_eq!(told, [("setting.0", "7"), ("setting.1", "7"), ("setting.2", &long)]);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn sums_are_those_of_the_applications(
        steps in proptest::collection::vec(written(), 1..25),
        removed in 0_u8..6,
    ) {
        let apps: Vec<_> = steps.iter().map(app).collect();
        with_stores(&apps, |store| {
            for window in [(None, None), (Some(3), None), (Some(5), Some(40)), (None, Some(33))] {
                assert_same_answers(store, window);
            }
            store.compare_again().unwrap();
            assert_same_answers(store, (None, None));
            let source = format!("logs/0/app_{removed}");
            let remove = || record::remove(&store.database, "source = ?1", &values![&source]);
            store.database.writing(remove).unwrap();
            store.choose_among_copies().unwrap();
            let changed = kept(store);
            compute(&store.database).unwrap();
            assert_eq!(changed, kept(store));
            store.prune(Timestamp::from_millis(20 * DAY_MS)).unwrap();
            let pruned = kept(store);
            compute(&store.database).unwrap();
            assert_eq!(pruned, kept(store));
            assert_same_answers(store, (None, None));
        });
    }
}
