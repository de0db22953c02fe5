//! The comparison as a document: for each job the findings that are new, worse, better, gone or as accepted. A comment
//! has only what is new, worse or not judged, because the report on applications follows it.

use std::collections::BTreeMap;

use super::words::{
    EXPIRED, LOST, MISSING_HELP, UNDECIDED_HELP, cause, cost, counted, headline, in_one_line, left_out,
    members, missing_jobs, of_several, unjudged_summary, why_absent,
};
use crate::document::{Block, Document, Finding, Media, Section};
use crate::text::summary_lines;
use crate::words::plural;
use crate::wrap::clean;
use elephant_base::severity::Severity;
use elephant_engine::results::{
    Absence, Absent, Change, Comparison, JobComparison, JobState, MetricVerdict, NotCompared, Report,
    TroubleChange,
};

/// The label of troubles and runs that could not be judged.
const NOT_JUDGED: &str = "unjudged";
/// Maximum number of lines in a comment. The worst come first.
const LINES: usize = 40;

const FAILED: &str = "FAILED: fix what is new or worse, or accept it: run the same command with --update and commit the \
                      baseline.";
const FAILED_BY_STORE: &str = "FAILED: fix what is new or worse. Once the store has this run, the next runs of the job are \
                               compared with it, too.";

fn document(sections: Vec<Section<'_>>) -> Document<'_> {
    Document { title: "Comparison with the baseline", foot: String::new(), problems: &[], sections }
}

/// For a terminal. The advice is at the end, because terminals and logs of CI servers show the end.
pub(super) fn in_text<'a>(report: &'a Report, comparison: &'a Comparison) -> Document<'a> {
    let present = comparison.jobs.iter().filter(|job| job.state != JobState::Absent);
    let (detailed, quiet): (Vec<_>, Vec<_>) = present.partition(|job| needs_details(job));
    let counts = counted(comparison.counts);
    let answer = format!("{} against the baseline: {counts}", outcome(comparison));
    let answer = (!detailed.is_empty()).then_some(answer);
    let (new, known): (Vec<_>, Vec<_>) = quiet.into_iter().partition(|job| job.state == JobState::New);
    let quiet = |jobs: Vec<&JobComparison>, what: &str, end: &str| {
        (!jobs.is_empty()).then(|| format!("{} {end}", plural(jobs.len() as u64, what)))
    };
    let quiet = [quiet(new, "new job", "without findings"), quiet(known, "job", "as accepted")];
    let mut end = summary_lines(report);
    end.push(format!("against the baseline: {counts}"));
    end.extend(verdict(comparison));
    let paragraphs = |sentences: Vec<String>| {
        let leads = sentences.into_iter().map(Block::Lead);
        leads.fold(Section::new("", "", ""), Section::with)
    };
    let sums = [answer, missing_jobs(comparison)].map(|sum| paragraphs(sum.into_iter().collect()));
    let jobs = detailed.into_iter().map(job).map(Block::Part);
    let jobs = jobs.fold(Section::new("", "", ""), Section::with);
    let quiet = paragraphs(quiet.into_iter().flatten().collect());
    document(sums.into_iter().chain([jobs, quiet, paragraphs(end)]).collect())
}

/// The answer in a few words.
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
    job.troubles.iter().any(|trouble| trouble.change != Change::Unchanged)
        || job
            .metrics
            .iter()
            .any(|metric| metric.verdict != MetricVerdict::Steady || metric.passes_by_growth())
        || !job.absent.is_empty()
        || job.not_compared.iter().any(|run| run.unfit)
        || !job.incomplete.is_empty()
}

/// A label, followed by its text.
fn labelled<'a>(label: &'static str, severity: Severity, text: &str) -> Block<'a> {
    Block::Finding(Finding { label: Some(label), ..Finding::new(severity, text, "") })
}

fn job(job: &JobComparison) -> Section<'_> {
    let of = |wanted: Change| job.troubles.iter().filter(move |trouble| trouble.change == wanted);
    let bad = || job.troubles.iter().filter(|trouble| trouble.change.is_bad());
    let worst = bad().map(TroubleChange::severity).max();
    let worst = worst.map(|worst| worst.name().to_uppercase()).unwrap_or_default();
    let mut blocks = vec![Block::Told(runs(job))];
    blocks.extend(bad().map(trouble));
    for (verdict, label) in [(MetricVerdict::Regressed, "worse"), (MetricVerdict::Improved, "better")] {
        let metrics = job.metrics.iter().filter(|metric| metric.verdict == verdict);
        blocks.extend(metrics.map(|metric| labelled(label, Severity::None, &cost(metric))));
    }
    for (change, label) in [(Change::Better, "better"), (Change::NotJudged, NOT_JUDGED)] {
        blocks.extend(of(change).map(|trouble| labelled(label, Severity::None, &in_one_line(trouble))));
    }
    rest(job, &mut blocks);
    runs_in_part(job, &mut blocks);
    blocks.into_iter().fold(Section::job("", "", job.key.as_str(), worst), Section::with)
}

/// What is wrong, what to do, and how each finding about it compares.
fn trouble<'a>(trouble: &TroubleChange) -> Block<'a> {
    let told = trouble.told.as_ref().map(|told| &told.trouble.advice);
    let advice = told.or_else(|| trouble.findings.first().map(|found| &found.finding.advice));
    let advice = advice.into_iter().flatten().map(|advice| format!("→ {}", advice.text));
    let more = [cause(trouble).to_owned()].into_iter().chain(advice).chain(members(trouble)).collect();
    let label = Some(trouble.change.name());
    Block::Finding(Finding { label, more, ..Finding::new(trouble.severity(), &headline(trouble), "") })
}

/// Changes that do not fail the check: findings that are gone, unknown or as accepted, and steady costs.
fn rest(job: &JobComparison, blocks: &mut Vec<Block<'_>>) {
    let mut add = |label, text: &str| blocks.push(labelled(label, Severity::None, text));
    let mut unjudged: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (trouble, same) in absent_by_trouble(job) {
        let what: Vec<String> = same.iter().map(|absent| was(absent)).collect();
        let what = match trouble {
            Some(trouble) => format!("{trouble}: {}", what.join("; ")),
            None => what.join("; "),
        };
        let Some(first) = same.first() else { continue };
        let label = match &first.absence {
            Absence::Gone => "gone",
            Absence::RuleOff => "unknown",
            Absence::Suppressed => "silenced",
            Absence::NotJudged(why) => {
                unjudged.entry(why).or_default().push(what);
                continue;
            }
        };
        let why = why_absent(&first.absence).map(|why| format!(": {why}")).unwrap_or_default();
        add(label, &format!("{what}{why}"));
    }
    for (why, what) in unjudged {
        add(NOT_JUDGED, &format!("{}: {why}", what.join("; ")));
    }
    let known = job.troubles.iter().filter(|trouble| trouble.change == Change::Unchanged);
    let known = known.map(headline);
    for metric in job.metrics.iter().filter(|metric| metric.passes_by_growth()) {
        add("steady", &cost(metric));
    }
    let steady = job.metrics.iter().filter(|metric| metric.verdict == MetricVerdict::Steady);
    let steady = steady.filter(|metric| !metric.passes_by_growth());
    let steady =
        steady.map(|metric| format!("{} {}", metric.metric.name(), metric.metric.show(metric.value)));
    for (label, all) in [("known", known.collect::<Vec<_>>()), ("steady", steady.collect())] {
        if !all.is_empty() {
            add(label, &all.join(", "));
        }
    }
}

/// The accepted findings that the analysis does not have, those that are absent for one reason and tell of one trouble
/// together. Findings of files that do not say their trouble stand alone.
fn absent_by_trouble(job: &JobComparison) -> Vec<(Option<&str>, Vec<&Absent>)> {
    let mut groups: Vec<(Option<&str>, Vec<&Absent>)> = Vec::new();
    for absent in &job.absent {
        let trouble = absent.trouble.as_deref();
        let is_same = |(known, same): &&mut (Option<&str>, Vec<&Absent>)| {
            trouble.is_some() && *known == trouble && same.iter().all(|other| other.absence == absent.absence)
        };
        match groups.iter_mut().find(is_same) {
            Some((_, same)) => same.push(absent),
            None => groups.push((trouble, vec![absent])),
        }
    }
    groups
}

/// "spark-skew (stage "load"), was severe".
fn was(absent: &Absent) -> String {
    format!("{} ({}), was {}", absent.rule, absent.subject, absent.severity)
}

/// Runs that were read in part, and runs whose costs were not compared.
fn runs_in_part(job: &JobComparison, blocks: &mut Vec<Block<'_>>) {
    let mut sentences = Vec::new();
    for run in &job.incomplete {
        let (id, reason) = (&run.application, &run.reason);
        if run.judged {
            sentences.push(format!("{id} was judged in part, without costs: {reason}"));
        } else {
            blocks.push(labelled(NOT_JUDGED, Severity::None, &format!("all of {id}: {reason}")));
        }
    }
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let is_listed =
        |run: &&NotCompared| job.incomplete.iter().any(|listed| listed.application == run.application);
    for run in job.not_compared.iter().filter(|run| !is_listed(run)) {
        reasons.entry(run.reason).or_default().push(&run.application);
    }
    sentences.extend(reasons.into_iter().map(|(reason, runs)| match runs.as_slice() {
        [one] => format!("costs of {one} not compared: {reason}"),
        several => format!("costs of {} runs not compared: {}", several.len(), of_several(reason)),
    }));
    if !sentences.is_empty() {
        blocks.push(Block::List(sentences));
    }
}

/// "app-1, compared with 5 accepted runs".
fn runs(job: &JobComparison) -> String {
    let first = job.applications.first().map_or("", String::as_str);
    let which = match job.applications.len() {
        0 | 1 => first.to_owned(),
        count => format!("{count} runs, the first listed is {first}"),
    };
    match job.state {
        JobState::Unnamed => format!("{which}: a job with an unknown name, so its accepted state is unknown"),
        JobState::New if job.troubles.is_empty() => format!("{which}: a new job"),
        JobState::New => format!("{which}: a new job, so all its troubles are new"),
        _ => format!("{which}, compared with {}", plural(job.accepted_runs as u64, "accepted run")),
    }
}

/// Whether the check passed, why, and what to do.
fn verdict(comparison: &Comparison) -> Vec<String> {
    let unjudged = unjudged_summary(comparison.counts);
    let one = match comparison {
        Comparison { updated: true, counts, .. } => {
            let what = match left_out(*counts) {
                None => "all of this is now accepted.".to_owned(),
                Some(rest) => {
                    format!(
                        "this is now accepted, except: {rest}; for these, the accepted state is unchanged."
                    )
                }
            };
            format!("The baseline was updated: {what} Commit the file.")
        }
        Comparison { unfinished: Some(why), .. } => format!(
            "NOT PASSED: the run failed: {why}. Nothing was accepted, and the results above are incomplete."
        ),
        Comparison { failed: true, .. } => return failed(comparison, unjudged),
        Comparison { undecided: true, .. } => {
            format!("NOT PASSED: {}: {UNDECIDED_HELP}.", unjudged.unwrap_or_default())
        }
        _ => match unjudged {
            None => "PASSED".to_owned(),
            Some(rest) => format!("PASSED as far as it could be judged: {rest}."),
        },
    };
    vec![one]
}

fn failed(comparison: &Comparison, unjudged: Option<String>) -> Vec<String> {
    let help = if comparison.of_store { FAILED_BY_STORE } else { FAILED };
    let missing = missing_jobs(comparison).filter(|_| comparison.requires_all);
    let mut sentences: Vec<String> = comparison.worse.then(|| help.to_owned()).into_iter().collect();
    sentences.extend(missing.map(|missing| format!("FAILED: {missing}; {MISSING_HELP}.")));
    sentences.extend(comparison.expired.iter().map(|place| format!("FAILED: {EXPIRED}: {place}")));
    sentences.extend(comparison.lost.iter().map(|path| format!("FAILED: {LOST}: {}", clean(path))));
    sentences.extend(unjudged.map(|rest| format!("Not everything could be judged: {rest}.")));
    sentences
}

/// For a comment: the verdict, and what is new, worse or not judged by job.
pub(super) fn in_comment(comparison: &Comparison) -> Document<'_> {
    let (strong, verdict) = match (comparison.updated, comparison.unfinished) {
        (true, _) => match left_out(comparison.counts) {
            None => ("", "The baseline was updated".to_owned()),
            Some(rest) => ("", format!("The baseline was updated, except for {rest}")),
        },
        (false, Some(why)) => {
            ("Not passed", format!(" against the baseline, because the run failed ({why})"))
        }
        (false, None) if comparison.failed => ("Failed", " against the baseline".to_owned()),
        (false, None) if comparison.undecided => {
            ("Not passed", format!(" against the baseline ({UNDECIDED_HELP})"))
        }
        (false, None) if unjudged_summary(comparison.counts).is_some() => {
            ("", "Passed against the baseline as far as it could be judged".to_owned())
        }
        (false, None) => ("", "Passed against the baseline".to_owned()),
    };
    let verdict = Block::Strong(strong, format!("{verdict}: {}.", counted(comparison.counts)));
    let missing = missing_jobs(comparison).map(|missing| {
        if comparison.requires_all {
            labelled("failed", Severity::None, &missing)
        } else {
            Block::Warning(missing)
        }
    });
    let expired = comparison
        .expired
        .iter()
        .map(|place| labelled("expired", Severity::None, &format!("suppression: {place}")));
    let lost = comparison
        .lost
        .iter()
        .map(|path| labelled("lost", Severity::None, &format!("history: {}", clean(path))));
    let changes = comparison.jobs.iter().flat_map(changes);
    let mut lines: Vec<Block<'_>> =
        expired.chain(lost).chain(changes).chain(comparison.jobs.iter().flat_map(not_judged)).collect();
    let left_out = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    let more = (left_out > 0).then(|| Block::Warning(format!("… and {left_out} more")));
    let blocks = [verdict].into_iter().chain(missing).chain(lines).chain(more);
    let section = Section::new("", "", "");
    document(vec![blocks.fold(section, |section, block| section.only(Media::MARKDOWN, block))])
}

fn changes(job: &JobComparison) -> Vec<Block<'_>> {
    let key = job.key.as_str();
    let troubles = job.troubles.iter().filter(|trouble| trouble.change.is_bad()).map(|trouble| {
        let (change, members) = (trouble.change.name(), members(trouble).join("; "));
        let members = if members.is_empty() { members } else { format!(" ({members})") };
        let text = format!("{key}: {}: {}{members}", headline(trouble), cause(trouble));
        labelled(change, trouble.severity(), &text)
    });
    let regressed = job.metrics.iter().filter(|metric| metric.verdict == MetricVerdict::Regressed);
    let costs =
        regressed.map(|metric| labelled("worse", Severity::None, &format!("{key}: {}", cost(metric))));
    troubles.chain(costs).collect()
}

/// Runs and troubles of the job that could not be judged, with the reason.
fn not_judged(job: &JobComparison) -> Vec<Block<'_>> {
    let key = job.key.as_str();
    let line = |what: &str| labelled(NOT_JUDGED, Severity::None, &format!("{key}: {what}"));
    let runs = job.incomplete.iter().map(|run| {
        let (id, reason) = (&run.application, &run.reason);
        if run.judged {
            Block::Warning(format!("{key}: {id}: judged in part, without costs: {reason}"))
        } else {
            line(&format!("all of {id}: {reason}"))
        }
    });
    let troubles = job.troubles.iter().filter(|trouble| trouble.change == Change::NotJudged);
    let absent = job.absent.iter().filter(|absent| matches!(absent.absence, Absence::NotJudged(_)));
    let absent = absent.map(|absent| {
        let why = why_absent(&absent.absence).unwrap_or_default();
        line(&format!("{} ({}), was {}: {why}", absent.rule, absent.subject, absent.severity))
    });
    runs.chain(troubles.map(|trouble| line(&in_one_line(trouble)))).chain(absent).collect()
}
