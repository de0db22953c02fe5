//! The metrics of a server as `OpenMetrics` 1.0 text. Labels have few values: queues are the largest ones.

use std::fmt::Write as _;
use std::io;

use crate::openmetrics::{Family, Labels, write_family};
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_store::Group;

/// What a server counts of the answers to one route.
#[derive(Debug, Clone, Copy, Default)]
pub struct Answers<'a> {
    /// The route, with names of its parameters in place of their values.
    pub route: &'a str,
    /// Answers by the first digit of their status, from 1 to 5.
    pub by_class: [u64; 5],
    /// Answers up to each of the bounds of time, and all of them.
    pub within: &'a [(f64, u64)],
    /// The sum of the times, in seconds.
    pub seconds: f64,
}

/// The figures of a server and its store.
#[derive(Debug)]
pub struct Metrics<'a> {
    /// What it counted, by route.
    pub answers: &'a [Answers<'a>],
    /// Requests that it refused because too many were running.
    pub refused: u64,
    /// Requests that took too long.
    pub timed_out: u64,
    /// Open connections.
    pub connections: u64,
    /// All applications of the store.
    pub total: &'a Group,
    /// By queue.
    pub queues: &'a [Group],
    /// By kind of trouble.
    pub troubles: &'a [Group],
    /// When applications were last stored.
    pub stored: Option<Timestamp>,
    /// Files that could not be read when they were last looked at.
    pub unreadable: u64,
    /// The loop that reads histories, if the server has one.
    pub ingest: Option<IngestCounts>,
}

/// What a loop that reads histories counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct IngestCounts {
    /// Turns that ended.
    pub turns: u64,
    /// Turns that failed.
    pub failed: u64,
    /// When the last turn that did not fail ended.
    pub succeeded: Option<Timestamp>,
    /// How long the last turn took, in seconds.
    pub seconds: Option<f64>,
    /// Files that could not be read, in all turns.
    pub unreadable: u64,
    /// How long after their end applications were stored in the last turn that stored some, in seconds.
    pub lag_seconds: Option<f64>,
}

/// The family of the times of answers.
const SECONDS: &str = "elephant_http_seconds";

const fn gauge(name: &'static str, unit: Option<&'static str>, help: &'static str) -> Family {
    Family { name, unit, help }
}

/// Writes them.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn write(metrics: &Metrics<'_>) -> io::Result<Vec<u8>> {
    let mut text = String::new();
    server(metrics, &mut text);
    let mut out = text.into_bytes();
    store(metrics, &mut out)?;
    out.extend_from_slice(b"# EOF\n");
    Ok(out)
}

fn server(metrics: &Metrics<'_>, text: &mut String) {
    let mut counter = |name: &str, help: &str, samples: &[(String, u64)]| {
        let _ = writeln!(text, "# TYPE {name} counter\n# HELP {name} {help}");
        for (labels, count) in samples {
            let _ = writeln!(text, "{name}_total{labels} {count}");
        }
    };
    let answers: Vec<(String, u64)> = metrics
        .answers
        .iter()
        .flat_map(|answers| {
            let classes = ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter().zip(answers.by_class);
            let known = classes.filter(|(_, count)| *count > 0);
            known.map(|(class, count)| {
                let labels = Labels::new([("route", answers.route), ("status", class)]);
                (format!("{{{}}}", labels.text()), count)
            })
        })
        .collect();
    counter("elephant_http_answers", "Answers, by route and class of status.", &answers);
    let refused = [
        ("{reason=\"busy\"}".to_owned(), metrics.refused),
        ("{reason=\"time\"}".to_owned(), metrics.timed_out),
    ];
    counter("elephant_http_refused", "Requests that were refused or took too long.", &refused);
    if let Some(ingest) = metrics.ingest {
        counter("elephant_ingest_turns", "Turns of reading histories.", &[(String::new(), ingest.turns)]);
        counter("elephant_ingest_failures", "Turns that failed.", &[(String::new(), ingest.failed)]);
        let unreadable = [(String::new(), ingest.unreadable)];
        counter(
            "elephant_ingest_unreadable_files",
            "New or changed files that could not be read.",
            &unreadable,
        );
    }
    let _ = writeln!(
        text,
        "# TYPE {SECONDS} histogram\n# UNIT {SECONDS} seconds\n# HELP {SECONDS} Time until an answer was complete."
    );
    for answers in metrics.answers {
        let labels = Labels::new([("route", answers.route)]);
        let labels = labels.text();
        let all: u64 = answers.by_class.iter().sum();
        for (bound, count) in answers.within {
            let _ = writeln!(text, "{SECONDS}_bucket{{{labels},le=\"{bound:?}\"}} {count}");
        }
        let _ = writeln!(text, "{SECONDS}_bucket{{{labels},le=\"+Inf\"}} {all}");
        let _ = writeln!(
            text,
            "{SECONDS}_sum{{{labels}}} {}\n{SECONDS}_count{{{labels}}} {all}",
            answers.seconds
        );
    }
}

fn store(metrics: &Metrics<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    let one = |value: Option<f64>| value.map(|value| (Labels::default(), value));
    let total = metrics.total;
    let connections = gauge("elephant_http_connections", None, "Open connections.");
    write_family(&connections, one(Some(metrics.connections as f64)), out)?;
    let applications = gauge("elephant_store_applications", None, "Applications of the store.");
    write_family(&applications, one(Some(total.applications as f64)), out)?;
    let failed = gauge("elephant_store_failed_applications", None, "Those of them that failed.");
    write_family(&failed, one(Some(total.failed as f64)), out)?;
    let killed = gauge("elephant_store_killed_applications", None, "Those of them that were killed.");
    write_family(&killed, one(Some(total.killed as f64)), out)?;
    let unjudged = gauge("elephant_store_unjudged_applications", None, "Those that could not be judged.");
    write_family(&unjudged, one(Some(total.unjudged as f64)), out)?;
    let unreadable = gauge(
        "elephant_store_unreadable_files",
        None,
        "Files that could not be read when they were last looked at.",
    );
    write_family(&unreadable, one(Some(metrics.unreadable as f64)), out)?;
    let unit = Some("gb_hours");
    let used = gauge("elephant_store_queue_used_gb_hours", unit, "Memory held over time, by queue.");
    write_family(&used, by_key("queue", metrics.queues, |group| group.used_gb_hours), out)?;
    let wasted = gauge("elephant_store_queue_wasted_gb_hours", unit, "The part of it that was not needed.");
    write_family(&wasted, by_key("queue", metrics.queues, |group| group.wasted_gb_hours), out)?;
    let troubles = gauge(
        "elephant_store_troubled_applications",
        None,
        "Applications with a trouble, by its kind and by their severity.",
    );
    write_family(&troubles, metrics.troubles.iter().flat_map(by_severity), out)?;
    let moment = |at: Option<Timestamp>| one(at.map(|at| at.as_millis() as f64 / 1000.0));
    let stored = gauge(
        "elephant_store_changed_timestamp_seconds",
        Some("seconds"),
        "When applications were last stored.",
    );
    write_family(&stored, moment(metrics.stored), out)?;
    let Some(ingest) = metrics.ingest else { return Ok(()) };
    let succeeded = gauge(
        "elephant_ingest_success_timestamp_seconds",
        Some("seconds"),
        "When the last turn that did not fail ended.",
    );
    write_family(&succeeded, moment(ingest.succeeded), out)?;
    let seconds = gauge("elephant_ingest_seconds", Some("seconds"), "How long the last turn took.");
    write_family(&seconds, one(ingest.seconds), out)?;
    let lag = gauge(
        "elephant_ingest_lag_seconds",
        Some("seconds"),
        "From the end of an application until it was stored: the median of the last turn that stored some.",
    );
    write_family(&lag, one(ingest.lag_seconds), out)
}

/// The applications of a group, by their severity.
fn by_severity(group: &Group) -> impl Iterator<Item = (Labels, f64)> + '_ {
    let counted = Severity::ALL.into_iter().zip(group.by_severity).filter(|(_, count)| *count > 0);
    counted.filter_map(|(severity, count)| {
        let labels = Labels::new([("kind", group.key.as_deref()?), ("severity", severity.name())]);
        Some((labels, count as f64))
    })
}

fn by_key<'a>(
    name: &'static str,
    groups: &'a [Group],
    value: fn(&Group) -> Option<f64>,
) -> impl Iterator<Item = (Labels, f64)> + 'a {
    groups.iter().filter_map(move |group| Some((Labels::new([(name, group.key.as_deref()?)]), value(group)?)))
}
