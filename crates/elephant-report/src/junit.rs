//! A test report for GitLab, Jenkins and similar servers: one suite per application, one case per rule.
//!
//! A rule that was evaluated and has no listed finding is a passed test. A trouble is one failed test: that of the rule that
//! says most of it; the other rules that tell of it are skipped. So is a rule if it could not be evaluated, or if all its
//! findings are suppressed, accepted by a
//! baseline, not judged, or consequences of other findings. A rule that does not apply is not a test. There
//! are separate suites for findings and runs that a check could not judge, for expired suppressions, and for
//! accepted jobs that did not run. Servers compare runs by the names of class and test. These are the job's
//! key and the rule's id, because they do not change from run to run.

mod classes;
mod failures;
mod reasons;
mod unjudged;

use std::borrow::Cow;
use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::ElementWriter;
use serde::{Deserialize, Serialize};

use super::comparison::words::cost;
use super::parts::{MARK, Parts, Reader, filled};
use super::words::about;
use super::wrap::clean;
use classes::{Class, Classes};
use elephant_engine::engine::Pieces;
use elephant_engine::fingerprint::JobKey;
use elephant_engine::results::{
    ApplicationReport, Comparison, MetricChange, MetricVerdict, Report, SourceProblem,
};
use elephant_parse::Level;
use elephant_rule::finding::{Finding, NotEvaluated, Suppressed};
use elephant_ruleset::RuleInfo;
use failures::{Failure, Outcome};
use reasons::Reasons;
use unjudged::Unjudged;

/// The suite of costs compared with a baseline.
const COSTS: &str = "costs";
/// The suite of input that could not be read.
const INPUT: &str = "input";

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let piece = |app: &ApplicationReport| piece(app, &report.rules, report.comparison.as_ref());
    write_pieces(report, &mut Pieces::in_order(&report.applications, piece)?, out)
}

/// Writes the report with all applications.
pub(super) fn write_pieces(report: &Report, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(&mut *out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let unreadable: Vec<_> =
        report.problems.iter().filter(|entry| entry.problem.level == Level::Error).collect();
    let mut counts = Counts { tests: unreadable.len(), errors: unreadable.len(), ..Counts::default() };
    let costs = Costs::of(report.comparison.as_ref());
    counts.tests += costs.cases.len();
    counts.failures += costs.failures();
    let unjudged = Unjudged::of(report.comparison.as_ref());
    let [expired, missing] = Reasons::of(report.comparison.as_ref());
    for more in [unjudged.counts(), expired.counts(), missing.counts()] {
        counts.add(&more);
    }
    let mut classes = Classes::default();
    pieces.each(|piece| {
        let (class, more): (Class, Counts) = Reader::new(piece).head()?;
        counts.add(&more);
        classes.count(&class);
        Ok(())
    })?;
    let root = counts.write(xml.create_element("testsuites").with_attribute(("name", "elephant-rs")));
    root.write_inner_content(|xml| {
        pieces.each(|piece| {
            let mut reader = Reader::new(piece);
            let (class, _): (Class, Counts) = reader.head()?;
            let class = classes.name(class);
            let class = quick_xml::escape::escape(class.as_str());
            filled(reader.next_text()?, xml.get_mut(), |_, out| out.write_all(class.as_bytes()))
        })?;
        costs.write(xml)?;
        unjudged.write(xml)?;
        expired.write(xml)?;
        missing.write(xml)?;
        if unreadable.is_empty() { Ok(()) } else { input(&unreadable, xml) }
    })?;
    writeln!(xml.get_mut())
}

/// One application: its class and counts, and its suite with a mark for the class.
pub(super) fn piece(
    app: &ApplicationReport,
    rules: &[RuleInfo],
    comparison: Option<&Comparison>,
) -> io::Result<Vec<u8>> {
    let suite = Suite::of(app, rules, comparison);
    let mut parts = Parts::with_head(&(Class::of(app), suite.counts()))?;
    let mut text = Vec::new();
    let out: &mut dyn Write = &mut text;
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    // The element around it gives the indentation.
    xml.create_element(ROOT).write_inner_content(|xml| suite.write(&[MARK, MARK].concat(), xml))?;
    let suite = text.strip_prefix(format!("<{ROOT}>").as_bytes());
    let suite = suite.and_then(|text| text.strip_suffix(format!("\n</{ROOT}>").as_bytes()));
    parts.add(suite.ok_or(io::ErrorKind::InvalidData)?);
    Ok(parts.into_bytes())
}

/// The outermost element.
const ROOT: &str = "testsuites";

type Xml<'a> = Writer<&'a mut dyn Write>;

#[derive(Default, Serialize, Deserialize)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Counts {
    const fn add(&mut self, Self { tests, failures, errors, skipped }: &Self) {
        self.tests += *tests;
        self.failures += *failures;
        self.errors += *errors;
        self.skipped += *skipped;
    }

    fn write<'a, W: Write>(&self, element: ElementWriter<'a, W>) -> ElementWriter<'a, W> {
        let Self { tests, failures, errors, skipped } = self;
        let counts = [("tests", tests), ("failures", failures), ("errors", errors), ("skipped", skipped)];
        counts.into_iter().fold(element, |element, (name, count)| {
            element.with_attribute((name, count.to_string().as_str()))
        })
    }
}

struct Suite<'a> {
    app: &'a ApplicationReport,
    cases: Vec<Case<'a>>,
}

struct Case<'a> {
    rule: &'a str,
    failures: Vec<Failure<'a>>,
    /// Findings that are no failures of this case, each with the reason.
    passed_over: Vec<(&'a Finding, Cow<'a, str>)>,
    suppressed: Vec<&'a Suppressed>,
    not_evaluated: Vec<&'a NotEvaluated>,
}

impl<'a> Suite<'a> {
    fn of(app: &'a ApplicationReport, rules: &'a [RuleInfo], comparison: Option<&Comparison>) -> Self {
        let mut rules: Vec<&str> = rules.iter().map(|rule| rule.id.as_ref()).collect();
        let found = app.findings.iter().map(|finding| &finding.rule);
        for rule in found.chain(app.suppressed.iter().map(|suppressed| &suppressed.finding.rule)) {
            if !rules.contains(&rule.as_ref()) {
                rules.push(rule);
            }
        }
        let mut outcome = Outcome::of(app, comparison);
        let cases = rules.into_iter().filter_map(|rule| Case::of(rule, app, &mut outcome)).collect();
        Self { app, cases }
    }

    fn counts(&self) -> Counts {
        let failures = self.cases.iter().filter(|case| !case.failures.is_empty()).count();
        let skipped = self.cases.iter().filter(|case| case.is_skipped()).count();
        Counts { tests: self.cases.len(), failures, errors: 0, skipped }
    }

    fn write(&self, class: &str, xml: &mut Xml<'_>) -> io::Result<()> {
        let Self { app, cases } = self;
        let name = [Some(app.id.as_str()), app.name.as_deref()].into_iter().flatten().collect::<Vec<_>>();
        let suite = xml.create_element("testsuite").with_attribute(("name", text(&name.join(" ")).as_str()));
        let mut suite = self.counts().write(suite);
        // The schema of Jenkins allows no time zone.
        if let Some(time) = app.started_at.and_then(elephant_base::units::Timestamp::to_rfc3339) {
            suite = suite.with_attribute(("timestamp", time.split('.').next().unwrap_or_default()));
        }
        suite
            .write_inner_content(|xml| {
                properties(app, xml)?;
                cases.iter().try_for_each(|case| case.write(class, xml))
            })
            .map(drop)
    }
}

fn properties(app: &ApplicationReport, xml: &mut Xml<'_>) -> io::Result<()> {
    let run_time = app.metrics.run_time.map(|time| time.get().to_string());
    let score = app.score.to_string();
    let known = [
        ("engine", Some(app.engine.name())),
        ("user", app.user.as_deref()),
        ("queue", app.queue.as_deref()),
        ("job_type", app.job_type.as_deref()),
        ("status", Some(app.status.name())),
        ("runtime_ms", run_time.as_deref()),
        ("severity", Some(app.severity.name())),
        ("score", Some(score.as_str())),
        ("source", app.sources.first().map(String::as_str)),
    ];
    let list = xml.create_element("properties");
    list.write_inner_content(|xml| {
        for (name, value) in known {
            let Some(value) = value else { continue };
            let property = xml.create_element("property");
            property.with_attributes([("name", name), ("value", text(value).as_str())]).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

impl<'a> Case<'a> {
    /// `None` if the rule does not apply.
    fn of(rule: &'a str, app: &'a ApplicationReport, outcome: &mut Outcome<'a>) -> Option<Self> {
        let case = Self {
            rule,
            failures: outcome.failures(rule),
            passed_over: outcome.passed_over(rule),
            suppressed: app.suppressed.iter().filter(|it| it.finding.rule == rule).collect(),
            not_evaluated: app.not_evaluated.iter().filter(|it| it.rule == rule).collect(),
        };
        let known = app.evaluated.iter().any(|evaluated| evaluated == rule);
        (known || !case.failures.is_empty() || case.is_skipped()).then_some(case)
    }

    fn is_skipped(&self) -> bool {
        let others = [self.passed_over.len(), self.suppressed.len(), self.not_evaluated.len()];
        self.failures.is_empty() && others.into_iter().any(|count| count > 0)
    }

    fn write(&self, class: &str, xml: &mut Xml<'_>) -> io::Result<()> {
        let case = xml
            .create_element("testcase")
            .with_attributes([("classname", class), ("name", text(self.rule).as_str())]);
        if let Some(worst) = self.failures.first() {
            return case.write_inner_content(|xml| self.failure(worst, xml)).map(drop);
        }
        let suppressed = self.suppressed.iter().map(|it| {
            let until = it.until.map(|day| format!(" until {day}")).unwrap_or_default();
            format!("suppressed{until}: {} ({})", text(&it.reason), text(&it.finding.message))
        });
        let missing = self.not_evaluated.iter().map(|it| format!("not evaluated: {}", text(&it.reason)));
        let passed_over = self.passed_over.iter();
        let passed_over = passed_over.map(|(it, why)| format!("{}: {}", text(why), text(&about(it))));
        let reasons = passed_over.chain(suppressed).chain(missing).collect::<Vec<_>>().join("; ");
        if reasons.is_empty() {
            return case.write_empty().map(drop);
        }
        // Jenkins shows the attribute, GitLab the content.
        case.write_inner_content(|xml| {
            let skipped = xml.create_element("skipped").with_attribute(("message", reasons.as_str()));
            skipped.write_text_content(BytesText::new(&reasons)).map(drop)
        })
        .map(drop)
    }

    /// All troubles of the case in one failure, because servers read only the first failure of a case.
    fn failure(&self, worst: &Failure<'_>, xml: &mut Xml<'_>) -> io::Result<()> {
        let more = match self.failures.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let message = worst.message() + &more;
        let blocks: Vec<String> = self.failures.iter().map(Failure::block).collect();
        let failure = xml
            .create_element("failure")
            .with_attributes([("message", message.as_str()), ("type", worst.severity().name())]);
        failure.write_text_content(BytesText::new(&blocks.join("\n"))).map(drop)
    }
}

/// The costs of each job compared with its accepted runs: one case per metric.
struct Costs<'a> {
    cases: Vec<(&'a JobKey, &'a MetricChange)>,
}

impl<'a> Costs<'a> {
    fn of(comparison: Option<&'a Comparison>) -> Self {
        let jobs = comparison.map(|comparison| comparison.jobs.as_slice()).unwrap_or_default();
        let cases = jobs.iter().flat_map(|job| job.metrics.iter().map(|metric| (&job.key, metric)));
        Self { cases: cases.collect() }
    }

    fn failures(&self) -> usize {
        self.cases.iter().filter(|(_, metric)| metric.verdict == MetricVerdict::Regressed).count()
    }

    fn write(&self, xml: &mut Xml<'_>) -> io::Result<()> {
        if self.cases.is_empty() {
            return Ok(());
        }
        let counts = Counts { tests: self.cases.len(), failures: self.failures(), ..Counts::default() };
        let suite = counts.write(xml.create_element("testsuite").with_attribute(("name", COSTS)));
        suite.write_inner_content(|xml| {
            self.cases.iter().try_for_each(|(job, metric)| {
                let class = classes::of_job(job);
                let case = xml.create_element("testcase");
                let case =
                    case.with_attributes([("classname", class.as_str()), ("name", metric.metric.key())]);
                if metric.verdict != MetricVerdict::Regressed {
                    return case.write_empty().map(drop);
                }
                case.write_inner_content(|xml| {
                    let message = text(&cost(metric));
                    let failure = xml.create_element("failure");
                    let failure =
                        failure.with_attributes([("message", message.as_str()), ("type", "regressed")]);
                    failure.write_text_content(BytesText::new(&message)).map(drop)
                })
                .map(drop)
            })
        })?;
        Ok(())
    }
}

fn input(unreadable: &[&SourceProblem], xml: &mut Xml<'_>) -> io::Result<()> {
    let count = unreadable.len();
    let counts = Counts { tests: count, errors: count, ..Counts::default() };
    let suite = counts.write(xml.create_element("testsuite").with_attribute(("name", INPUT)));
    suite.write_inner_content(|xml| {
        unreadable.iter().try_for_each(|entry| {
            let name = format!("{} ({})", text(&entry.source), entry.problem.code);
            let case = xml.create_element("testcase");
            let case = case.with_attributes([("classname", INPUT), ("name", name.as_str())]);
            case.write_inner_content(|xml| {
                let message = text(&entry.problem.message);
                let error = xml.create_element("error");
                error
                    .with_attributes([("message", message.as_str()), ("type", entry.problem.code.as_ref())])
                    .write_text_content(BytesText::new(&message))
                    .map(drop)
            })
            .map(drop)
        })
    })?;
    Ok(())
}

/// `text` on one line, without characters that XML 1.0 does not allow.
fn text(text: &str) -> String {
    clean(text).replace(['\u{fffe}', '\u{ffff}'], " ")
}
