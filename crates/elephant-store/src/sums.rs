//! Sums that the store keeps, so that questions need not read all applications.
//!
//! Code that adds, removes or chooses applications adds or subtracts their amounts here in the same transaction. All
//! amounts are whole numbers, so no sum depends on the order.

use super::StoreError;
use super::database::{Database, Value, values};
use super::selection::DAY;

/// Applications that one statement takes, if there are many.
const AT_ONCE: usize = 500;

/// Whether amounts are added or taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Add,
    Remove,
}

/// A column of sums, and an application's part of it.
type Amount = (&'static str, &'static str);

/// The amounts of an application in a group. Its savings are those of the group.
const OF_APPLICATION: [Amount; 21] = [
    ("applications", "1"),
    ("failed", "CASE WHEN application.status = 'failed' THEN 1 ELSE 0 END"),
    ("unjudged", "CASE WHEN application.judged THEN 0 ELSE 1 END"),
    ("run_time", "coalesce(application.run_time, 0)"),
    ("timed", "CASE WHEN application.run_time IS NULL THEN 0 ELSE 1 END"),
    ("used", "coalesce(application.used, 0)"),
    ("measured", "CASE WHEN application.used IS NULL THEN 0 ELSE 1 END"),
    ("wasted", "coalesce(application.wasted, 0)"),
    ("compared", "CASE WHEN application.wasted IS NULL THEN 0 ELSE 1 END"),
    ("core_time", "coalesce(application.core_time, 0)"),
    ("counted", "CASE WHEN application.core_time IS NULL THEN 0 ELSE 1 END"),
    ("saved_memory", "coalesce(part.saved_memory, 0)"),
    ("saved_time", "coalesce(part.saved_time, 0)"),
    ("low", "CASE WHEN application.severity = 1 THEN 1 ELSE 0 END"),
    ("moderate", "CASE WHEN application.severity = 2 THEN 1 ELSE 0 END"),
    ("severe", "CASE WHEN application.severity = 3 THEN 1 ELSE 0 END"),
    ("critical", "CASE WHEN application.severity = 4 THEN 1 ELSE 0 END"),
    ("compared_used", "CASE WHEN application.wasted IS NULL THEN 0 ELSE coalesce(application.used, 0) END"),
    ("saving_memory", "CASE WHEN part.saved_memory IS NULL THEN 0 ELSE 1 END"),
    ("saving_time", "CASE WHEN part.saved_time IS NULL THEN 0 ELSE 1 END"),
    ("limit_time", "coalesce(part.limit_time, 0)"),
];

/// The amounts of an application on a node.
const ON_NODE: [Amount; 11] = [
    ("applications", "1"),
    ("attempts", "part.attempts"),
    ("failed", "part.failed"),
    ("task_time", "coalesce(part.task_time, 0)"),
    ("timed", "CASE WHEN part.task_time IS NULL THEN 0 ELSE 1 END"),
    ("lost_executors", "part.lost_executors"),
    ("node_failures", "part.node_failures"),
    ("compared", "part.compared"),
    ("stragglers", "part.stragglers"),
    ("score", "part.score"),
    ("squares", "part.squares"),
];

const APPLICATIONS: [Amount; 1] = [("applications", "1")];

/// The applications to which a change is advised, and what it saves.
const ADVISED: [Amount; 5] = [
    ("applications", "1"),
    ("saved_memory", "coalesce(part.saved_memory, 0)"),
    ("saved_time", "coalesce(part.saved_time, 0)"),
    ("saving_memory", "CASE WHEN part.saved_memory IS NULL THEN 0 ELSE 1 END"),
    ("saving_time", "CASE WHEN part.saved_time IS NULL THEN 0 ELSE 1 END"),
];

/// A table of sums.
struct Sums {
    table: &'static str,
    /// The columns of its key, and their values.
    key: &'static [Amount],
    amounts: &'static [Amount],
    /// The query for the rows of each application. `{these}` stands for the condition on the application's id.
    parts: &'static str,
}

/// The groups that an application belongs to.
const GROUPS: &str = "SELECT application, 'all' AS kind, FALSE AS known, '' AS key, saved_memory, saved_time, limit_time FROM \
     application WHERE application {these} UNION ALL SELECT application, 'status', TRUE, status, saved_memory, \
     saved_time, limit_time FROM application WHERE application {these} UNION ALL SELECT application, 'user', \
     \"user\" IS NOT NULL, coalesce(\"user\", ''), saved_memory, saved_time, limit_time FROM application WHERE \
     application {these} UNION ALL SELECT application, 'queue', queue IS NOT NULL, coalesce(queue, ''), \
     saved_memory, saved_time, limit_time FROM application WHERE application {these} UNION ALL SELECT application, \
     'trouble', TRUE, kind, CAST(sum(saved_memory) AS BIGINT), CAST(sum(saved_time) AS BIGINT), CAST(sum(limit_time) AS \
     BIGINT) FROM trouble WHERE application {these} GROUP BY application, kind UNION ALL SELECT DISTINCT application, \
     'rule', TRUE, rule, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(NULL AS BIGINT) FROM finding WHERE \
     application {these}";
macro_rules! is_long {
    () => {
        "(length(setting.name) > 200 OR length(coalesce(setting.old, '')) > 200 OR length(setting.new) > 200)"
    };
}
/// Long changes, such as options of a JVM: indexes refuse long texts, so they are in no sum. The index `long_setting` has
/// the same condition.
pub(super) const IS_LONG: &str = is_long!();
/// The changes that are recommended to applications, except long ones.
const SETTINGS: &str = concat!(
    "SELECT application, name, old IS NOT NULL AS known, coalesce(old, '') AS old, new, saved_memory, saved_time FROM setting WHERE application {these} \
     AND NOT ",
    is_long!()
);
const CONFIGURATIONS: &str =
    "SELECT application FROM application WHERE configuration IS NOT NULL AND application {these}";
const SAVINGS: &str =
    "SELECT application, saved_memory, saved_time, limit_time FROM application WHERE application {these}";
const NODES: &str = "SELECT * FROM node_work WHERE application {these}";

/// Bits of the column `known` of sums for prices.
pub(super) const CORES_KNOWN: i64 = 1;
pub(super) const MEMORY_KNOWN: i64 = 2;
pub(super) const SAVED_CORES_KNOWN: i64 = 4;
pub(super) const SAVED_MEMORY_KNOWN: i64 = 8;
pub(super) const USER_KNOWN: i64 = 16;
pub(super) const QUEUE_KNOWN: i64 = 32;

/// An application once for its job and status, for each kind of trouble, and for each rule, with what the remedies save.
const COSTS: &str = "SELECT application, 'job' AS kind, CAST(job AS TEXT) AS key, status, saved_core_time, saved_memory FROM \
     application WHERE application {these} UNION ALL SELECT application, 'trouble', kind, '', CAST(NULL AS BIGINT), \
     CAST(sum(saved_memory) AS BIGINT) FROM trouble WHERE application {these} GROUP BY application, kind UNION ALL \
     SELECT DISTINCT application, 'rule', rule, '', CAST(NULL AS BIGINT), CAST(NULL AS BIGINT) FROM finding WHERE \
     application {these}";

const FOR_COSTS: Sums = Sums {
    table: "cost_sum",
    key: &[
        ("kind", "part.kind"),
        ("key", "part.key"),
        ("engine", "application.engine"),
        ("status", "part.status"),
        ("\"user\"", "coalesce(application.\"user\", '')"),
        ("queue", "coalesce(application.queue, '')"),
        (
            "known",
            "CAST(CASE WHEN application.core_time IS NULL THEN 0 ELSE 1 END + CASE WHEN application.used IS NULL THEN 0 ELSE 2 \
             END + CASE WHEN part.saved_core_time IS NULL THEN 0 ELSE 4 END + CASE WHEN part.saved_memory IS NULL THEN 0 \
             ELSE 8 END + CASE WHEN application.\"user\" IS NULL THEN 0 ELSE 16 END + CASE WHEN application.queue IS NULL \
             THEN 0 ELSE 32 END AS BIGINT)",
        ),
    ],
    amounts: &[
        ("applications", "1"),
        ("core_time", "coalesce(application.core_time, 0)"),
        ("used", "coalesce(application.used, 0)"),
        ("saved_core_time", "coalesce(part.saved_core_time, 0)"),
        ("saved_memory", "coalesce(part.saved_memory, 0)"),
    ],
    parts: COSTS,
};

const ALL: [Sums; 8] = [
    FOR_COSTS,
    Sums {
        table: "group_day",
        key: &[
            ("kind", "part.kind"),
            ("known", "part.known"),
            ("key", "part.key"),
            ("day", DAY),
            ("engine", "application.engine"),
        ],
        amounts: &OF_APPLICATION,
        parts: GROUPS,
    },
    Sums {
        table: "group_sum",
        key: &[
            ("kind", "part.kind"),
            ("known", "part.known"),
            ("key", "part.key"),
            ("engine", "application.engine"),
        ],
        amounts: &OF_APPLICATION,
        parts: GROUPS,
    },
    Sums { table: "job_sum", key: &[("job", "application.job")], amounts: &OF_APPLICATION, parts: SAVINGS },
    Sums {
        table: "setting_sum",
        key: &[
            ("job", "application.job"),
            ("name", "part.name"),
            ("known", "part.known"),
            ("old", "part.old"),
            ("new", "part.new"),
        ],
        amounts: &ADVISED,
        parts: SETTINGS,
    },
    Sums {
        table: "configuration_sum",
        key: &[("job", "application.job"), ("configuration", "application.configuration")],
        amounts: &APPLICATIONS,
        parts: CONFIGURATIONS,
    },
    Sums {
        table: "node_day",
        key: &[("node", "part.node"), ("day", DAY), ("engine", "application.engine")],
        amounts: &ON_NODE,
        parts: NODES,
    },
    Sums {
        table: "node_sum",
        key: &[("node", "part.node"), ("engine", "application.engine")],
        amounts: &ON_NODE,
        parts: NODES,
    },
];

impl Sums {
    /// The statement that adds the amounts of these applications, or takes them back.
    fn statement(&self, sign: Sign, these: &str) -> String {
        let Self { table, key, amounts, parts } = self;
        let names = |columns: &[Amount]| columns.iter().map(|column| column.0).collect::<Vec<_>>().join(", ");
        let sign = if sign == Sign::Add { "" } else { "-" };
        let keys: Vec<&str> = key.iter().map(|column| column.1).collect();
        let added: Vec<String> =
            amounts.iter().map(|(_, amount)| format!("CAST({sign}sum({amount}) AS BIGINT)")).collect();
        let places: Vec<String> = (1..=key.len()).map(|place| place.to_string()).collect();
        let sums: Vec<String> =
            amounts.iter().map(|(name, _)| format!("{name} = {table}.{name} + excluded.{name}")).collect();
        format!(
            "INSERT INTO {table} ({}, {}) SELECT {}, {} FROM ({}) AS part JOIN application ON \
             application.application = part.application WHERE application.application {these} AND \
             application.counts = TRUE GROUP BY {} ON CONFLICT ({}) DO UPDATE SET {}",
            names(key),
            names(amounts),
            keys.join(", "),
            added.join(", "),
            parts.replace("{these}", these),
            places.join(", "),
            names(key),
            sums.join(", "),
        )
    }
}

/// Adds or subtracts the amounts of those of these applications that count.
pub(super) fn change(database: &Database, sign: Sign, applications: &[i64]) -> Result<(), StoreError> {
    if let [application] = applications {
        return update(database, sign, "= ?1", &values![*application]);
    }
    for applications in applications.chunks(AT_ONCE) {
        let (these, values) = database.backend().among_ids(applications);
        update(database, sign, &these, &values)?;
    }
    Ok(())
}

/// Changes the sums, and notes which jobs must be compared again.
fn update(database: &Database, sign: Sign, these: &str, values: &[Value<'_>]) -> Result<(), StoreError> {
    ALL.iter().try_for_each(|sums| database.send(&sums.statement(sign, these), values))?;
    database.send(
        &format!(
            "INSERT INTO stale_job (job) SELECT DISTINCT job FROM application WHERE application {these} AND counts = TRUE \
             AND configuration IS NOT NULL ON CONFLICT (job) DO NOTHING"
        ),
        values,
    )
}

/// Computes all sums from the applications.
pub(super) fn compute(database: &Database) -> Result<(), StoreError> {
    for sums in &ALL {
        database.execute(&format!("DELETE FROM {}", sums.table), &[])?;
    }
    update(database, Sign::Add, "IS NOT NULL", &[])
}

/// Computes the sums for prices from the applications.
pub(super) fn compute_costs(database: &Database) -> Result<(), StoreError> {
    database.execute(&format!("DELETE FROM {}", FOR_COSTS.table), &[])?;
    database.send(&FOR_COSTS.statement(Sign::Add, "IS NOT NULL"), &[])
}

/// Removes the rows of groups without applications.
pub(super) fn remove_empty(database: &Database) -> Result<(), StoreError> {
    for sums in &ALL {
        database.execute(&format!("DELETE FROM {} WHERE applications = 0", sums.table), &[])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
            let key: Vec<String> =
                names(sums.key).iter().map(|name| format!("CAST({name} AS TEXT)")).collect();
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
                let remove = || {
                    let source = format!("logs/0/app_{removed}");
                    record::remove(&store.database, "source = ?1", &values![&source])?;
                    record::choose_again(&store.database)
                };
                store.database.writing(remove).unwrap();
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
}
