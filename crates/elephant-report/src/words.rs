//! Phrases that several formats share.

mod savings;

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::wrap::clean;
use elephant_base::units::Timestamp;
use elephant_base::units::{three_digits_grouped, with_thousands};
use elephant_engine::conditions::Conditions;
use elephant_engine::results::{ApplicationReport, Summary};
use elephant_model::diagnosis::Actor;
use elephant_model::model::spark::{NativeEngine, Platform};
use elephant_rule::finding::{Finding, NotEvaluated, Suppressed};
use elephant_rule::wording::percent;
use elephant_ruleset::JobIdentity;
use elephant_verdict::troubles::Trouble;

pub(super) use savings::{
    LEAST_MS, currency, millis, named_parts, saved_briefly, saved_parts, saves, saves_besides, saves_briefly,
    taken,
};

/// "Databricks", "Photon (83 % of the task time of queries)": the platform unless it is plain YARN or local, and the native
/// engine, the rest of whose time is the JVM's.
pub(super) fn platform_and_engine(app: &ApplicationReport) -> impl Iterator<Item = String> {
    let platform = app.platform.as_deref().and_then(Platform::with_key);
    let platform = platform.filter(|platform| platform.is_named).map(|platform| platform.name);
    let engine = app.native_engine.as_deref().and_then(NativeEngine::with_key).map(NativeEngine::name);
    let share = app.native_share.map(|share| format!(" ({} of the task time of queries)", percent(share)));
    let engine = engine.map(|engine| format!("{engine}{}", share.unwrap_or_default()));
    platform.map(str::to_owned).into_iter().chain(engine)
}

/// "airflow: flow etl, task load, run 7, owner bi"; `None` if the application belongs to no known job.
pub(super) fn identity(app: &ApplicationReport) -> Option<String> {
    let JobIdentity { scheduler, job, flow, run, task, owner, .. } = app.identity.as_ref()?;
    let fields = [("job", job), ("flow", flow), ("task", task), ("run", run), ("owner", owner)];
    let known = fields.iter().filter_map(|(what, field)| Some(format!("{what} {}", field.as_deref()?)));
    Some(format!("{scheduler}: {}", known.collect::<Vec<_>>().join(", ")))
}

/// "2 findings".
pub(super) fn plural(count: u64, what: &str) -> String {
    format!("{} {what}{}", with_thousands(&count.to_string()), if count == 1 { "" } else { "s" })
}

/// "1,200".
pub(super) fn grouped(count: u64) -> String {
    with_thousands(&count.to_string())
}

/// "1 more run is", "1,200 more runs are".
pub(super) fn more(count: u64, one: &str, several: &str) -> String {
    format!("{} more {}", grouped(count), if count == 1 { one } else { several })
}

/// An amount of memory over time, or another number, with three digits.
#[cfg(feature = "store")]
pub(super) fn amount(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value < 0.0 => format!("-{}", amount(-value)),
        value if value < 0.005 => "<0.01".to_owned(),
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

/// With two decimals; zero has no sign.
pub(super) fn two_decimals(number: f64) -> String {
    let text = format!("{number:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

/// Which tasks count, if not all.
pub(super) fn conditions(conditions: &Conditions) -> Option<String> {
    (!conditions.is_empty()).then(|| clean(&format!("Only tasks with {conditions} count (--where).")))
}

/// "12 files read, 1 skipped, 0 failed · 12 applications".
pub(super) fn files_read(files: &Summary) -> String {
    format!(
        "{} read, {} skipped, {} failed · {}",
        plural(files.files_analysed, "file"),
        grouped(files.files_skipped),
        grouped(files.files_failed),
        matching(files)
    )
}

/// The day of a moment, without the time.
pub(super) fn day(at: Timestamp) -> Option<String> {
    at.to_rfc3339().and_then(|text| text.get(..10).map(str::to_owned))
}

/// "12 applications"; "12 of 1,200 applications" if others were left out.
pub(super) fn applications(summary: &Summary) -> String {
    let Summary { applications, left_out, .. } = *summary;
    match left_out {
        0 => plural(applications, "application"),
        _ => format!(
            "{} of {}",
            with_thousands(&applications.to_string()),
            plural(applications.saturating_add(left_out), "application")
        ),
    }
}

/// The number of applications, as "12 of 1,200 applications match the filters" if others were left out.
pub(super) fn matching(summary: &Summary) -> String {
    let applications = applications(summary);
    let applications = match (summary.left_out, summary.applications) {
        (0, _) => applications,
        (_, 1) | (1, 0) => format!("{applications} matches the filters"),
        _ => format!("{applications} match the filters"),
    };
    match summary.copies {
        0 => applications,
        1 => format!("{applications}, without 1 copy"),
        copies => format!("{applications}, without {copies} copies"),
    }
}

/// The reason why an application has a lower severity than the values of its findings; `None` if it does not.
pub(super) fn capped(app: &ApplicationReport) -> Option<String> {
    let (severity, larger) = (app.severity, app.severity_in_larger_run);
    (larger > severity).then(|| {
        format!("Short, small run: severity {severity} at most; it would be {larger} in a larger one")
    })
}

/// What is missing of an incomplete log.
pub(super) fn incomplete(app: &ApplicationReport) -> Option<String> {
    let why = clean(app.incomplete.as_deref()?);
    Some(format!("Log incomplete ({why}): results cover the part that was read"))
}

/// Why a report has no applications; `None` if it has some.
pub(super) fn why_empty(summary: &Summary) -> Option<&'static str> {
    match summary {
        Summary { applications: 1.., .. } => None,
        Summary { files_found: 0, files_failed: 1.., .. } => Some("No path can be read."),
        Summary { files_found: 0, .. } => Some("The paths contain no files."),
        Summary { left_out: 1.., .. } => Some("No application matches the filters."),
        _ => Some("No event log or job history was recognised."),
    }
}

/// Rules whose findings are suppressed for the same reason until the same day.
pub(super) struct SuppressedGroup<'a> {
    pub(super) rules: Vec<&'a str>,
    pub(super) reason: &'a str,
    pub(super) until: Option<NaiveDate>,
}

/// Suppressed findings by reason and end, each rule once, in the order of the findings.
pub(super) fn by_reason(suppressed: &[Suppressed]) -> Vec<SuppressedGroup<'_>> {
    let mut all: Vec<SuppressedGroup<'_>> = Vec::new();
    for Suppressed { finding, reason, until, .. } in suppressed {
        let rule = finding.rule.as_ref();
        match all.iter_mut().find(|known| known.reason == reason && known.until == *until) {
            Some(known) if known.rules.contains(&rule) => {}
            Some(known) => known.rules.push(rule),
            None => all.push(SuppressedGroup { rules: vec![rule], reason, until: *until }),
        }
    }
    all
}

/// Rules that were not evaluated, by reason.
pub(super) fn reasons_not_evaluated(missing: &[NotEvaluated]) -> BTreeMap<&str, Vec<&str>> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for NotEvaluated { rule, reason } in missing {
        reasons.entry(reason).or_default().push(rule);
    }
    reasons
}

/// Maximum number of rules that are named for a trouble.
const RULES: usize = 6;

/// "spark-skew; also spark-executor-metrics, straggler-impact".
pub(super) fn told_by(trouble: &Trouble) -> String {
    let mut rules: Vec<&str> = Vec::new();
    for telling in &trouble.findings {
        if !rules.contains(&&*telling.rule) {
            rules.push(&telling.rule);
        }
    }
    let more = rules.len().saturating_sub(RULES);
    rules.truncate(RULES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match rules.split_first() {
        Some((first, [])) => (*first).to_owned(),
        Some((first, others)) => format!("{first}; also {}{more}", others.join(", ")),
        None => String::new(),
    }
}

/// "Skew in stage 4.0 of query 3".
pub(super) fn title(trouble: &Trouble) -> String {
    let (what, place) = (clean(trouble.words()), clean(&trouble.place));
    if place.is_empty() { what } else { format!("{what} in {place}") }
}

/// "alice · 2026-10-05 22:11 UTC", as far as it is known.
pub(super) fn with_start(app: &ApplicationReport) -> String {
    let start = app.started_at.or(app.submitted_at).and_then(minute);
    let known = [app.user.as_deref().map(clean), start];
    known.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// "2026-10-05 22:11 UTC".
fn minute(at: Timestamp) -> Option<String> {
    let text = at.to_rfc3339()?;
    Some(format!("{} {} UTC", text.get(..10)?, text.get(11..16)?))
}

/// Who can remove the cause of the failure that ended a run; `None` if no failure did, or if its cause is unknown.
pub(super) fn whose_turn(app: &ApplicationReport) -> Option<&'static str> {
    Some(match app.who_acts()? {
        Actor::UserCode => "Whose turn: the developers of the application (code, libraries or data)",
        Actor::Configuration => "Whose turn: whoever submits the application (a setting)",
        Actor::Cluster => "Whose turn: the operators of the cluster",
    })
}

/// A share in whole percent: "53", or "<1" of what is not nothing.
pub(super) fn whole_percent(share: f64) -> String {
    let percent = (100.0 * share).round();
    if percent < 1.0 && share > 0.0 { "<1".to_owned() } else { format!("{percent:.0}") }
}

/// "map: one reads 100 MiB". The subject is not repeated if the message begins with it.
pub(super) fn about(finding: &Finding) -> String {
    let subject = finding.subject.name();
    if finding.message.starts_with(subject.as_ref()) {
        return finding.message.clone();
    }
    format!("{subject}: {}", finding.message)
}

/// The findings of an application in the order of its troubles, those that lead before their echoes; each with its
/// trouble, and whether it is an echo.
pub(super) fn by_trouble(app: &ApplicationReport) -> Vec<(&Finding, Option<(&Trouble, bool)>)> {
    let told = |finding: &Finding| {
        let tells = |(place, trouble): (usize, _)| Some((place, trouble, Trouble::tells(trouble, finding)?));
        app.troubles.iter().enumerate().find_map(tells)
    };
    let mut all: Vec<_> = app.findings.iter().map(|finding| (finding, told(finding))).collect();
    // The sort is stable: findings of one trouble keep their order.
    all.sort_by_key(|(_, told)| {
        told.map_or((usize::MAX, false), |(place, _, is_consequence)| (place, is_consequence))
    });
    all.into_iter()
        .map(|(finding, told)| (finding, told.map(|(_, trouble, is_consequence)| (trouble, is_consequence))))
        .collect()
}

/// Three digits, or four decimals of a small amount.
pub(super) fn small(value: f64) -> String {
    if value < 0.1 { format!("{value:.4}") } else { three_digits_grouped(value) }
}

/// `text` with its first letter in upper case.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}
