//! The comparison as text: for each job the findings that are new, worse, better, gone or as accepted.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::super::text::{TextOptions, write_summary};
use super::super::words::plural;
use super::super::wrap::{clean, fit, lines, width};
use super::words::{
    EXPIRED, MISSING_HELP, UNDECIDED_HELP, cost, counted, head, left_out, missing_jobs, of_several,
    unjudged_summary, why_absent,
};
use elephant_base::severity::Severity;
use elephant_engine::results::{
    Absence, Change, Comparison, FindingChange, JobComparison, JobState, MetricVerdict, NotCompared, Report,
};

/// Columns of a label, with the blanks before it.
const LABEL: usize = 12;
/// In narrower terminals, the text continues below its label.
const WIDE: usize = 60;
/// The label of findings and runs that could not be judged.
const NOT_JUDGED: &str = "UNJUDGED";

pub(crate) fn write(
    report: &Report,
    comparison: &Comparison,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = Page { options, out };
    let present = comparison.jobs.iter().filter(|job| job.state != JobState::Absent);
    let (detailed, quiet): (Vec<_>, Vec<_>) = present.partition(|job| needs_details(job));
    if !detailed.is_empty() {
        let text = format!("{} against the baseline: {}", outcome(comparison), counted(comparison.counts));
        page.paragraph(0, &text)?;
        writeln!(page.out)?;
    }
    if let Some(missing) = missing_jobs(comparison) {
        page.paragraph(0, &missing)?;
        writeln!(page.out)?;
    }
    detailed.into_iter().try_for_each(|job| page.job(job))?;
    let (new, known): (Vec<_>, Vec<_>) = quiet.into_iter().partition(|job| job.state == JobState::New);
    for (jobs, what) in [(new, "new job"), (known, "job")] {
        let end = if what == "job" { "as accepted" } else { "without findings" };
        if !jobs.is_empty() {
            page.paragraph(0, &format!("{} {end}", plural(jobs.len() as u64, what)))?;
            writeln!(page.out)?;
        }
    }
    write_summary(report, options.columns, page.out)?;
    page.verdict(comparison)
}

/// The answer in a few words. The advice follows at the end, because terminals and logs of CI servers show
/// the end.
fn outcome(comparison: &Comparison) -> &'static str {
    match comparison {
        Comparison { updated: true, .. } => "Baseline updated:",
        Comparison { unfinished: Some(_), .. } => "NOT PASSED",
        Comparison { failed: true, .. } => "FAILED",
        Comparison { undecided: true, .. } => "NOT PASSED",
        _ if unjudged_summary(comparison.counts).is_some() => "PASSED as far as it could be judged",
        _ => "PASSED",
    }
}

/// Whether the job is listed with details. New jobs without findings and unchanged jobs are only counted.
fn needs_details(job: &JobComparison) -> bool {
    job.findings.iter().any(|found| found.change != Change::Unchanged)
        || job.metrics.iter().any(|metric| metric.verdict != MetricVerdict::Steady)
        || !job.absent.is_empty()
        || job.not_compared.iter().any(|run| run.unfit)
        || !job.incomplete.is_empty()
}

const FAILED: &str = "FAILED: fix what is new or worse, or accept it: run the same command with --update and commit the \
                      baseline.";
const FAILED_BY_STORE: &str = "FAILED: fix what is new or worse. Once the store has this run, the next runs of the job are \
                               compared with it, too.";

struct Page<'a> {
    options: TextOptions,
    out: &'a mut dyn Write,
}

impl Page<'_> {
    fn job(&mut self, job: &JobComparison) -> io::Result<()> {
        let columns = self.options.columns;
        let bad = job.findings.iter().filter(|found| found.change.is_bad());
        let worst = bad.map(|found| found.finding.severity).max();
        let verdict = worst.map(|worst| worst.name().to_uppercase()).unwrap_or_default();
        let room = columns.saturating_sub(width(&verdict) + 2);
        let key = fit(&clean(job.key.as_str()), room);
        let style = self.options.style(worst.unwrap_or_default());
        let blanks = " ".repeat(room - width(&key));
        writeln!(self.out, "{}", format!("{key}{blanks}  {style}{verdict}{style:#}").trim_end())?;
        self.paragraph(0, &runs(job))?;
        writeln!(self.out)?;
        for found in job.findings.iter().filter(|found| found.change.is_bad()) {
            self.finding(found)?;
        }
        for (verdict, label) in [(MetricVerdict::Regressed, "WORSE"), (MetricVerdict::Improved, "BETTER")] {
            for metric in job.metrics.iter().filter(|metric| metric.verdict == verdict) {
                self.labelled(label, Severity::None, &cost(metric))?;
            }
        }
        for found in job.findings.iter().filter(|found| found.change == Change::Better) {
            self.labelled("BETTER", Severity::None, &head(found))?;
        }
        for found in job.findings.iter().filter(|found| found.change == Change::NotJudged) {
            self.labelled(NOT_JUDGED, Severity::None, &head(found))?;
        }
        self.rest(job)?;
        writeln!(self.out)
    }

    fn finding(&mut self, found: &FindingChange) -> io::Result<()> {
        self.labelled(&found.change.name().to_uppercase(), found.finding.severity, &head(found))?;
        let indent = self.indent();
        self.paragraph(indent, &clean(&found.finding.message))?;
        for advice in &found.finding.advice {
            let room = self.options.columns.saturating_sub(indent).max(20);
            for (index, line) in lines(&clean(&advice.text), room).iter().enumerate() {
                let arrow = if index == 0 { "→" } else { " " };
                writeln!(self.out, "{}{arrow} {line}", " ".repeat(indent - 2))?;
            }
        }
        Ok(())
    }

    /// Columns before text that belongs to a label.
    fn indent(&self) -> usize {
        if self.options.columns < WIDE { 4 } else { LABEL + 2 }
    }

    /// Changes that do not fail the check: findings that are gone, unknown or as accepted, and steady costs.
    fn rest(&mut self, job: &JobComparison) -> io::Result<()> {
        let mut unjudged: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for absent in &job.absent {
            let what = format!("{} ({}), was {}", absent.rule, clean(&absent.subject), absent.severity);
            let label = match &absent.absence {
                Absence::Gone => "GONE",
                Absence::RuleOff => "UNKNOWN",
                Absence::Suppressed => "SILENCED",
                Absence::NotJudged(why) => {
                    unjudged.entry(why).or_default().push(what);
                    continue;
                }
            };
            let why = why_absent(&absent.absence).map(|why| format!(": {why}")).unwrap_or_default();
            self.labelled(label, Severity::None, &format!("{what}{why}"))?;
        }
        for (why, what) in unjudged {
            self.labelled(NOT_JUDGED, Severity::None, &format!("{}: {}", what.join("; "), clean(why)))?;
        }
        let known: Vec<String> = job
            .findings
            .iter()
            .filter(|found| found.change == Change::Unchanged)
            .map(|found| {
                format!("{} ({}) {}", found.finding.rule, clean(&found.subject), found.finding.severity)
            })
            .collect();
        if !known.is_empty() {
            self.labelled("KNOWN", Severity::None, &known.join(", "))?;
        }
        let steady: Vec<String> = job
            .metrics
            .iter()
            .filter(|metric| metric.verdict == MetricVerdict::Steady)
            .map(|metric| format!("{} {}", metric.metric.name(), metric.metric.show(metric.value)))
            .collect();
        if !steady.is_empty() {
            self.labelled("STEADY", Severity::None, &steady.join(", "))?;
        }
        self.runs_in_part(job)
    }

    /// Runs that were read in part, and runs whose costs were not compared.
    fn runs_in_part(&mut self, job: &JobComparison) -> io::Result<()> {
        for run in &job.incomplete {
            let (id, reason) = (clean(&run.application), clean(&run.reason));
            if run.judged {
                self.paragraph(2, &format!("{id} was judged in part, without costs: {reason}"))?;
            } else {
                self.labelled(NOT_JUDGED, Severity::None, &format!("all of {id}: {reason}"))?;
            }
        }
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let is_listed =
            |run: &&NotCompared| job.incomplete.iter().any(|listed| listed.application == run.application);
        for run in job.not_compared.iter().filter(|run| !is_listed(run)) {
            reasons.entry(run.reason).or_default().push(&run.application);
        }
        for (reason, runs) in reasons {
            let text = match runs.as_slice() {
                [one] => format!("costs of {} not compared: {reason}", clean(one)),
                several => {
                    format!("costs of {} runs not compared: {}", several.len(), of_several(reason))
                }
            };
            self.paragraph(2, &text)?;
        }
        Ok(())
    }

    fn verdict(&mut self, comparison: &Comparison) -> io::Result<()> {
        self.paragraph(0, &format!("against the baseline: {}", counted(comparison.counts)))?;
        let unjudged = unjudged_summary(comparison.counts);
        if comparison.updated {
            let what = match left_out(comparison.counts) {
                None => "all of this is now accepted.".to_owned(),
                Some(rest) => {
                    format!(
                        "this is now accepted, except: {rest}; for these, the accepted state is unchanged."
                    )
                }
            };
            self.paragraph(0, &format!("The baseline was updated: {what} Commit the file."))
        } else if let Some(why) = comparison.unfinished {
            let what = "NOT PASSED: the run failed:";
            self.paragraph(
                0,
                &format!("{what} {why}. Nothing was accepted, and the results above are incomplete."),
            )
        } else if comparison.failed {
            if comparison.worse {
                self.paragraph(0, if comparison.of_store { FAILED_BY_STORE } else { FAILED })?;
            }
            if let Some(missing) = missing_jobs(comparison).filter(|_| comparison.requires_all) {
                self.paragraph(0, &format!("FAILED: {missing}; {MISSING_HELP}."))?;
            }
            comparison
                .expired
                .iter()
                .try_for_each(|place| self.paragraph(0, &format!("FAILED: {EXPIRED}: {}", clean(place))))?;
            let rest = unjudged.map(|rest| format!("Not everything could be judged: {rest}."));
            rest.map_or(Ok(()), |rest| self.paragraph(0, &rest))
        } else if comparison.undecided {
            let rest = unjudged.unwrap_or_default();
            self.paragraph(0, &format!("NOT PASSED: {rest}: {UNDECIDED_HELP}."))
        } else {
            match unjudged {
                None => self.paragraph(0, "PASSED"),
                Some(rest) => self.paragraph(0, &format!("PASSED as far as it could be judged: {rest}.")),
            }
        }
    }

    /// A label in capitals, followed by its text.
    fn labelled(&mut self, label: &str, severity: Severity, text: &str) -> io::Result<()> {
        let style = self.options.style(severity);
        let indent = self.indent();
        if indent < LABEL {
            writeln!(self.out, "  {style}{label}{style:#}")?;
            return self.paragraph(indent, text);
        }
        for (index, line) in lines(text, self.options.columns.saturating_sub(indent)).iter().enumerate() {
            if index == 0 {
                writeln!(self.out, "  {style}{label:<8}{style:#}  {line}")?;
            } else {
                writeln!(self.out, "{:indent$}{line}", "")?;
            }
        }
        Ok(())
    }

    fn paragraph(&mut self, indent: usize, text: &str) -> io::Result<()> {
        let room = self.options.columns.saturating_sub(indent).max(20);
        let blanks = " ".repeat(indent);
        lines(text, room).iter().try_for_each(|line| writeln!(self.out, "{blanks}{line}"))
    }
}

/// "app-1, compared with 5 accepted runs".
fn runs(job: &JobComparison) -> String {
    let first = job.applications.first().map(|id| clean(id)).unwrap_or_default();
    let which = match job.applications.len() {
        0 | 1 => first,
        count => format!("{count} runs, the first listed is {first}"),
    };
    match job.state {
        JobState::Unnamed => format!("{which}: a job with an unknown name, so its accepted state is unknown"),
        JobState::New if job.findings.is_empty() => format!("{which}: a new job"),
        JobState::New => format!("{which}: a new job, so all its findings are new"),
        _ => format!("{which}, compared with {}", plural(job.accepted_runs as u64, "accepted run")),
    }
}
