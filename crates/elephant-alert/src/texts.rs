//! Words that several receivers share.

use super::facts::{Alert, News};
use elephant_base::units::Millis;
use elephant_report::wrap::clean;

/// The most troubles that a message for people shows.
pub(crate) const MOST_TROUBLES: usize = 8;

/// "critical: Skew in stage 4.0 of query 3 (nightly-etl)".
pub(crate) fn headline(alert: &Alert) -> String {
    let title = alert.troubles.first().map_or("", |news| news.title.as_str());
    let more = match alert.troubles.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}: {}{more} ({})", alert.severity.name(), clean(title), clean(name(alert)))
}

/// What people call the application: its name, or its id.
pub(crate) fn name(alert: &Alert) -> &str {
    let named = alert.run.name.as_deref().filter(|name| !name.trim().is_empty());
    named.unwrap_or(&alert.run.id)
}

/// What is known of a run: labels and values.
pub(crate) fn about(alert: &Alert) -> Vec<(&'static str, String)> {
    let run = &alert.run;
    let identity = run.identity.as_ref();
    let of = |field: Option<&String>| field.map(|value| clean(value));
    let attempt = run.attempt.as_ref().map(|attempt| format!(", attempt {}", clean(attempt)));
    let application = format!("{}{}", clean(&run.id), attempt.unwrap_or_default());
    let ended = run.runtime_ms.map(|time| format!(" after {}", Millis::new(time))).unwrap_or_default();
    let ended = format!("{}{ended}", clean(&run.status));
    let all = [
        ("Application", Some(application)),
        ("Name", of(run.name.as_ref())),
        ("Ended", Some(ended)),
        ("User", of(run.user.as_ref())),
        ("Queue", of(run.queue.as_ref())),
        ("Cluster", of(run.cluster.as_ref())),
        ("Owner", of(identity.and_then(|known| known.owner.as_ref()))),
        ("Flow", of(identity.and_then(|known| known.flow.as_ref()))),
        ("Task", of(identity.and_then(|known| known.task.as_ref()))),
    ];
    all.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}

/// "new", "worse", or with the number of runs: "new in 3 runs".
pub(crate) fn change(news: &News) -> String {
    match news.runs {
        0 | 1 => news.change.name().to_owned(),
        runs => format!("{} in {runs} runs", news.change.name()),
    }
}

/// What remains to be said if a message shows only some troubles.
pub(crate) fn not_shown(alert: &Alert, shown: usize) -> Option<String> {
    match alert.troubles.len().saturating_sub(shown) {
        0 => None,
        1 => Some("1 more trouble is not shown.".to_owned()),
        more => Some(format!("{more} more troubles are not shown.")),
    }
}
