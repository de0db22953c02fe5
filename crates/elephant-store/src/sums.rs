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
const OF_APPLICATION: [Amount; 22] = [
    ("applications", "1"),
    ("failed", "CASE WHEN application.status = 'failed' THEN 1 ELSE 0 END"),
    ("killed", "CASE WHEN application.status = 'killed' THEN 1 ELSE 0 END"),
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
     application {these} UNION ALL SELECT application, 'flow', flow IS NOT NULL, coalesce(flow, ''), saved_memory, \
     saved_time, limit_time FROM application WHERE application {these} UNION ALL SELECT application, 'owner', owner IS \
     NOT NULL, coalesce(owner, ''), saved_memory, saved_time, limit_time FROM application WHERE application {these} \
     UNION ALL SELECT application, 'failure', TRUE, failure, CAST(sum(saved_memory) AS BIGINT), CAST(sum(saved_time) AS \
     BIGINT), CAST(sum(limit_time) AS BIGINT) FROM trouble WHERE failure IS NOT NULL AND application {these} GROUP BY \
     application, failure";
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

/// Removes the rows of groups without applications.
pub(super) fn remove_empty(database: &Database) -> Result<(), StoreError> {
    for sums in &ALL {
        database.execute(&format!("DELETE FROM {} WHERE applications = 0", sums.table), &[])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
