//! The results of the last run as `OpenMetrics` 1.0 text, for Prometheus and compatible servers. All metrics are gauges,
//! because each run reports its whole state. Unknown values have no sample.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use rustc_hash::FxHashMap;
use twox_hash::XxHash3_128;

use super::parts::{Parts, Reader};
use super::wrap::{clean, fit};
use elephant_base::severity::Severity;
use elephant_base::units::{MbMillis, Millis};
use elephant_engine::engine::Pieces;
use elephant_engine::results::{ApplicationReport, Report};
use elephant_rule::finding::Finding;

/// Maximum columns of a label's value, because names may have any length.
const LABEL_WIDTH: usize = 200;

/// A family of gauges. If it has a unit, the name ends with it.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) unit: Option<&'static str>,
    pub(crate) help: &'static str,
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

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_pieces(report, &mut Pieces::in_order(&report.applications, |app| Ok(piece(app)))?, out)
}

/// Writes the report with all applications.
pub(super) fn write_pieces(report: &Report, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
    totals(report, out)?;
    let copies = copies(pieces)?;
    let others = [&RULES, &APPLICATION_FINDINGS, &SUPPRESSED];
    for (number, family) in GAUGES.iter().map(|gauge| &gauge.family).chain(others).enumerate() {
        write_head(family, out)?;
        let mut copies = copies.iter();
        pieces.each(|piece| {
            let mut reader = Reader::new(piece);
            let labels = Labels(reader.next_text()?.to_owned());
            let labels = match copies.next() {
                Some(copy) if *copy > 1 => labels.with("copy", &copy.to_string()),
                _ => labels,
            };
            for _ in 0..number {
                reader.next_part()?;
            }
            reader
                .next_text()?
                .lines()
                .try_for_each(|sample| writeln!(out, "{}{{{}{sample}", family.name, labels.0))
        })?;
    }
    writeln!(out, "# EOF")
}

/// One application: its labels, and the samples of each family without name and labels.
pub(super) fn piece(app: &ApplicationReport) -> Vec<u8> {
    let mut parts = Parts::default();
    parts.add(labels(app).0.as_bytes());
    for Gauge { value, .. } in &GAUGES {
        parts.add(value(app).map(|value| format!("}} {value}\n")).unwrap_or_default().as_bytes());
    }
    parts.add(rules(app).as_bytes());
    parts.add(counts(app.findings.iter()).as_bytes());
    parts.add(counts(app.suppressed.iter().map(|suppressed| &suppressed.finding)).as_bytes());
    parts.into_bytes()
}

/// For each application, its number among those with the same labels, because the same history may be in two
/// folders.
fn copies(pieces: &mut Pieces) -> io::Result<Vec<u64>> {
    let mut seen: FxHashMap<u128, u64> = FxHashMap::default();
    let mut copies = Vec::with_capacity(pieces.len());
    pieces.each(|piece| {
        let copy = seen.entry(XxHash3_128::oneshot(Reader::new(piece).next_part()?)).or_default();
        *copy += 1;
        copies.push(*copy);
        Ok(())
    })?;
    Ok(copies)
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
pub(crate) struct Labels(String);

impl Labels {
    pub(crate) fn new<'a>(pairs: impl IntoIterator<Item = (&'static str, &'a str)>) -> Self {
        pairs.into_iter().fold(Self::default(), |labels, (name, value)| labels.with(name, value))
    }

    /// As they are between braces.
    #[cfg(feature = "site")]
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        let value = fit(&clean(value), LABEL_WIDTH).replace('\\', "\\\\").replace('"', "\\\"");
        let comma = if self.0.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{comma}{name}=\"{value}\"");
        self
    }
}

/// The labels of an application, without the number of a copy.
fn labels(app: &ApplicationReport) -> Labels {
    let known = [
        ("application", Some(app.id.as_str())),
        ("attempt", app.attempt.as_deref()),
        ("name", app.name.as_deref()),
        ("user", app.user.as_deref()),
        ("queue", app.queue.as_deref()),
        ("engine", Some(app.engine.name())),
        ("job_type", app.job_type.as_deref()),
    ];
    Labels::new(known.into_iter().filter_map(|(name, value)| Some((name, value?))))
}

/// The number of rules that were evaluated, and of rules that could not be.
fn rules(app: &ApplicationReport) -> String {
    [("evaluated", app.evaluated.len()), ("not_evaluated", app.not_evaluated.len())]
        .map(|(outcome, count)| format!(",outcome=\"{outcome}\"}} {count}\n"))
        .concat()
}

/// The number of findings of each rule and severity.
fn counts<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let mut counts: BTreeMap<(&str, Severity), u64> = BTreeMap::new();
    for finding in findings.filter(|finding| finding.severity > Severity::None) {
        *counts.entry((&finding.rule, finding.severity)).or_default() += 1;
    }
    let sample = |((rule, severity), count): ((&str, Severity), u64)| {
        let Labels(labels) = Labels::new([("rule", rule), ("severity", severity.name())]);
        format!(",{labels}}} {count}\n")
    };
    counts.into_iter().map(sample).collect()
}

pub(crate) fn write_family(
    family: &Family,
    samples: impl IntoIterator<Item = (Labels, f64)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_head(family, out)?;
    for (Labels(labels), value) in samples {
        match labels.as_str() {
            "" => writeln!(out, "{} {value}", family.name)?,
            labels => writeln!(out, "{}{{{labels}}} {value}", family.name)?,
        }
    }
    Ok(())
}

fn write_head(family: &Family, out: &mut dyn Write) -> io::Result<()> {
    let Family { name, unit, help } = family;
    writeln!(out, "# TYPE {name} gauge")?;
    if let Some(unit) = unit {
        writeln!(out, "# UNIT {name} {unit}")?;
    }
    writeln!(out, "# HELP {name} {help}")
}

fn seconds(time: Millis) -> f64 {
    time.as_f64() / 1000.0
}
