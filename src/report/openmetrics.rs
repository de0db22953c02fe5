//! The results of the last run as `OpenMetrics` 1.0 text, for Prometheus and compatible servers. All metrics are gauges,
//! because each run reports its whole state. Unknown values have no sample.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::wrap::{clean, fit};
use crate::finding::Finding;
use crate::results::{ApplicationReport, Report};
use crate::severity::Severity;
use crate::units::{MbMillis, Millis};

/// Maximum columns of a label's value, because names may have any length.
const LABEL_WIDTH: usize = 200;

/// A family of gauges. If it has a unit, the name ends with it.
struct Family {
    name: &'static str,
    unit: Option<&'static str>,
    help: &'static str,
}

/// A gauge with one sample per application.
struct Gauge {
    family: Family,
    value: fn(&ApplicationReport) -> Option<f64>,
}

const GAUGES: [Gauge; 7] = [
    Gauge {
        family: Family {
            name: "elephant_application_runtime_seconds",
            unit: Some("seconds"),
            help: "Time from submission to end.",
        },
        value: |app| app.metrics.run_time.map(seconds),
    },
    Gauge {
        family: Family {
            name: "elephant_application_wait_seconds",
            unit: Some("seconds"),
            help: "Time that tasks waited for the cluster.",
        },
        value: |app| app.metrics.wait_time.map(seconds),
    },
    Gauge {
        family: Family {
            name: "elephant_application_resource_used_gb_hours",
            unit: Some("gb_hours"),
            help: "Memory held over time.",
        },
        value: |app| app.metrics.used.map(MbMillis::as_gb_hours),
    },
    Gauge {
        family: Family {
            name: "elephant_application_resource_wasted_gb_hours",
            unit: Some("gb_hours"),
            help: "Memory held over time and not needed.",
        },
        value: |app| app.metrics.wasted.map(MbMillis::as_gb_hours),
    },
    Gauge {
        family: Family {
            name: "elephant_application_score",
            unit: None,
            help: "Sum of the scores of the findings: severity times tasks.",
        },
        value: |app| Some(app.score as f64),
    },
    Gauge {
        family: Family {
            name: "elephant_application_severity",
            unit: None,
            help: "Worst finding: 0 none, 1 low, 2 moderate, 3 severe, 4 critical.",
        },
        value: |app| Some(app.severity.value() as f64),
    },
    Gauge {
        family: Family {
            name: "elephant_application_complete",
            unit: None,
            help: "1 if the history is complete, 0 if the application was judged in part or not at all.",
        },
        value: |app| Some(f64::from(u8::from(app.complete))),
    },
];

const RULES: Family = Family {
    name: "elephant_application_rules",
    unit: None,
    help: "Rules that apply, by outcome: evaluated, or not_evaluated because data is missing.",
};

const APPLICATION_FINDINGS: Family =
    Family { name: "elephant_application_findings", unit: None, help: "Findings, by rule and severity." };

const SUPPRESSED: Family = Family {
    name: "elephant_application_suppressed_findings",
    unit: None,
    help: "Findings that a rule file suppresses, by rule and severity.",
};

const FILES: Family =
    Family { name: "elephant_files", unit: None, help: "Files below the paths, by outcome." };

const APPLICATIONS: Family =
    Family { name: "elephant_applications", unit: None, help: "Applications that were judged." };

const INCOMPLETE: Family = Family {
    name: "elephant_incomplete_applications",
    unit: None,
    help: "Applications whose history is incomplete.",
};

const FINDINGS: Family =
    Family { name: "elephant_findings", unit: None, help: "Findings of all applications, by severity." };

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    totals(report, out)?;
    let labels = labels(&report.applications);
    let applications: Vec<_> = report.applications.iter().zip(&labels).collect();
    for Gauge { family, value } in &GAUGES {
        let samples = applications.iter().filter_map(|(app, labels)| Some(((*labels).clone(), value(app)?)));
        write_family(family, samples, out)?;
    }
    write_family(&RULES, applications.iter().flat_map(|(app, labels)| rules(app, labels)), out)?;
    let found = applications.iter().flat_map(|(app, labels)| counts(labels, app.findings.iter()));
    write_family(&APPLICATION_FINDINGS, found, out)?;
    let suppressed = applications.iter().flat_map(|(app, labels)| {
        counts(labels, app.suppressed.iter().map(|suppressed| &suppressed.finding))
    });
    write_family(&SUPPRESSED, suppressed, out)?;
    writeln!(out, "# EOF")
}

fn totals(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let summary = &report.summary;
    let files = [
        ("analysed", summary.files_analysed),
        ("skipped", summary.files_skipped),
        ("failed", summary.files_failed),
    ];
    let files = files.map(|(outcome, count)| (Labels::new([("outcome", outcome)]), count as f64));
    write_family(&FILES, files, out)?;
    write_family(&APPLICATIONS, [(Labels::default(), summary.applications as f64)], out)?;
    write_family(&INCOMPLETE, [(Labels::default(), report.totals.incomplete as f64)], out)?;
    let levels = Severity::ALL.into_iter().zip(summary.findings).skip(1);
    let levels = levels.map(|(level, count)| (Labels::new([("severity", level.name())]), count as f64));
    write_family(&FINDINGS, levels, out)
}

/// Escaped names and values, without the braces around them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Labels(String);

impl Labels {
    fn new<'a>(pairs: impl IntoIterator<Item = (&'static str, &'a str)>) -> Self {
        pairs.into_iter().fold(Self::default(), |labels, (name, value)| labels.with(name, value))
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        let value = fit(&clean(value), LABEL_WIDTH).replace('\\', "\\\\").replace('"', "\\\"");
        let comma = if self.0.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{comma}{name}=\"{value}\"");
        self
    }
}

/// Unique labels for each application. Copies are numbered, because the same history may be in two folders.
fn labels(applications: &[ApplicationReport]) -> Vec<Labels> {
    let mut copies: BTreeMap<Labels, u64> = BTreeMap::new();
    let labels = applications.iter().map(|app| {
        let known = [
            ("application", Some(app.id.as_str())),
            ("attempt", app.attempt.as_deref()),
            ("name", app.name.as_deref()),
            ("user", app.user.as_deref()),
            ("queue", app.queue.as_deref()),
            ("engine", Some(app.engine.name())),
            ("job_type", app.job_type),
        ];
        let labels = Labels::new(known.into_iter().filter_map(|(name, value)| Some((name, value?))));
        let copy = copies.entry(labels.clone()).or_default();
        *copy += 1;
        if *copy > 1 { labels.with("copy", &copy.to_string()) } else { labels }
    });
    labels.collect()
}

/// The number of rules that were evaluated, and of rules that could not be.
fn rules(app: &ApplicationReport, labels: &Labels) -> [(Labels, f64); 2] {
    [("evaluated", app.evaluated.len()), ("not_evaluated", app.not_evaluated.len())]
        .map(|(outcome, count)| (labels.clone().with("outcome", outcome), count as f64))
}

/// The number of findings of each rule and severity.
fn counts<'a>(labels: &Labels, findings: impl Iterator<Item = &'a Finding>) -> Vec<(Labels, f64)> {
    let mut counts: BTreeMap<(&str, Severity), u64> = BTreeMap::new();
    for finding in findings.filter(|finding| finding.severity > Severity::None) {
        *counts.entry((&finding.rule, finding.severity)).or_default() += 1;
    }
    let sample = |((rule, severity), count): ((&str, Severity), u64)| {
        (labels.clone().with("rule", rule).with("severity", severity.name()), count as f64)
    };
    counts.into_iter().map(sample).collect()
}

fn write_family(
    family: &Family,
    samples: impl IntoIterator<Item = (Labels, f64)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Family { name, unit, help } = family;
    writeln!(out, "# TYPE {name} gauge")?;
    if let Some(unit) = unit {
        writeln!(out, "# UNIT {name} {unit}")?;
    }
    writeln!(out, "# HELP {name} {help}")?;
    for (Labels(labels), value) in samples {
        match labels.as_str() {
            "" => writeln!(out, "{name} {value}")?,
            labels => writeln!(out, "{name}{{{labels}}} {value}")?,
        }
    }
    Ok(())
}

fn seconds(time: Millis) -> f64 {
    time.as_f64() / 1000.0
}
