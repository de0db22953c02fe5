//! Spark event logs with missing lines or wrong numbers: damage that changes the report is noticed, and no report has
//! impossible results.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{Cursor, Read};
use std::path::PathBuf;

use elephant_parse::Level;
use elephant_parse::spark::{Completeness, Feed, Log, Names, Part, parse};
use elephant_rule::finding::{Finding, Measure};
use elephant_ruleset::RuleSet;
use rayon::prelude::*;

use elephant_testing::{contents, files_below, shared};

/// Larger logs would take too long.
const LARGEST: usize = 150_000;
/// Damaged copies of each log.
const SINGLE: usize = 8;
const BLOCKS: usize = 5;
const NUMBERS: usize = 8;
/// At most one in this many logs without a block of lines may change a report silently.
const ONE_IN: usize = 100;
/// The same for a single line. Each kind of event is dropped as often as the others, although most lines are about tasks, of
/// which hardly any is missed.
const ONE_SINGLE_IN: usize = 80;

/// The report on a log.
struct Reported {
    /// Everything in it, as text.
    digest: String,
    /// Whether it says that something is missing or wrong.
    admits: bool,
    not_evaluated: usize,
    /// Impossible results.
    impossible: Vec<String>,
}

fn report(log: &[u8], rules: &RuleSet) -> Reported {
    let bytes = log.to_vec();
    let open = move || Ok(Feed::Stream(Box::new(Cursor::new(bytes.clone()))));
    let part = Part { name: "log".to_owned(), open: Box::new(open) };
    let parsed =
        parse(&Log { parts: vec![part], names: Names::default(), completeness: Completeness::default() });
    let mut problems = parsed.problems.into_vec();
    problems.extend(parsed.part_problems.into_iter().flat_map(|(_, problems)| problems.into_vec()));
    let mut reported = Reported {
        digest: String::new(),
        admits: parsed.applications.is_empty() || problems.iter().any(|problem| problem.level != Level::Info),
        not_evaluated: 0,
        impossible: Vec::new(),
    };
    for app in &parsed.applications {
        let (metrics, evaluation) = (rules.measure(app), rules.evaluate(app));
        reported.admits |= !app.complete;
        reported.not_evaluated += evaluation.not_evaluated.len();
        writeln!(reported.digest, "{:?} {metrics:?}", app.status).unwrap();
        let shares = [("wasted", metrics.wasted_percent()), ("idle", metrics.idle_percent())];
        for (name, share) in shares {
            if share.is_some_and(|share| share > 100.0 + 1e-9) {
                reported.impossible.push(format!("{name}: {share:?} %"));
            }
        }
        let longest = metrics.run_time.map(|time| time.get() + 61_000);
        for finding in &evaluation.findings {
            // This rule measures the size of the file.
            if finding.rule == "spark-event-log-limit" {
                continue;
            }
            let evidence = &finding.evidence;
            let Finding { rule, severity, message, .. } = finding;
            writeln!(reported.digest, "{rule} {severity:?} {message} {evidence:?}").unwrap();
            if percentages(&finding.message).any(|percent| percent > 100.0) {
                reported.impossible.push(finding.message.clone());
            }
            for (key, measure) in evidence {
                let one = ["stage_ms", "run_time_ms", "delay_ms", "missed_ms", "wait_ms", "after_ms"];
                // The run time of a stage is that of its tasks together.
                let is_sum = finding.rule == "spark-stage-metrics";
                if let Measure::Time(time) = measure
                    && !is_sum
                    && one.iter().any(|end| key.ends_with(end))
                    && longest.is_some_and(|longest| time.get() > longest)
                {
                    reported.impossible.push(format!("{} {key} {time}: {}", finding.rule, finding.message));
                }
            }
        }
    }
    reported
}

/// The numbers in front of percent signs.
fn percentages(text: &str) -> impl Iterator<Item = f64> + '_ {
    let number = |at: usize| text.get(..at)?.rsplit(' ').next()?.replace(',', "").parse().ok();
    text.match_indices(" %").filter_map(move |(at, _)| number(at))
}

/// Good logs in the repository and next to it, with their lines.
fn good_logs(rules: &RuleSet) -> Vec<(PathBuf, Vec<u8>)> {
    let own = elephant_testing::root().join("testdata");
    let folders = [Some(own), shared("runs"), shared("corpus")];
    let mut files: Vec<PathBuf> =
        folders.into_iter().flatten().flat_map(|folder| files_below(&folder)).collect();
    files.retain(|path| path.metadata().unwrap().len() < LARGEST as u64);
    let read = |path: PathBuf| {
        let mut bytes = contents(&path);
        if path.extension().is_some_and(|extension| extension == "zstd") {
            let mut decoded = Vec::new();
            zstd::Decoder::new(bytes.as_slice()).ok()?.read_to_end(&mut decoded).ok()?;
            bytes = decoded;
        }
        let is_log = bytes.starts_with(b"{\"Event\":\"SparkListener") && bytes.len() < LARGEST;
        (is_log && !report(&bytes, rules).admits).then_some((path, bytes))
    };
    let mut logs: Vec<_> = files.into_par_iter().filter_map(read).collect();
    logs.sort_by(|one, other| one.1.cmp(&other.1));
    logs.dedup_by(|one, other| one.1 == other.1);
    logs
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

fn event(line: &[u8]) -> String {
    let name = line.get(10..).and_then(|rest| rest.split(|&byte| byte == b'"').next());
    String::from_utf8_lossy(name.unwrap_or_default()).rsplit('.').next().unwrap().to_owned()
}

/// Copies of a log without a line or a block of 2 to 30 lines, each with what is missing.
fn shortened(log: &[u8]) -> Vec<(String, Vec<u8>)> {
    let lines: Vec<&[u8]> = log.split_inclusive(|&byte| byte == b'\n').collect();
    let mut dice = Dice(log.len() as u64);
    let mut copies = Vec::new();
    for which in 0..SINGLE + BLOCKS {
        let len = if which < SINGLE { 1 } else { 2 + dice.below(29) };
        if len >= lines.len() {
            continue;
        }
        let at = dice.below(lines.len() - len + 1);
        let what = if len == 1 { event(lines[at]) } else { "block".to_owned() };
        copies.push((what, [&lines[..at], &lines[at + len..]].concat().concat()));
    }
    copies
}

#[test]
fn lost_lines_seldom_change_a_report_silently() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let logs = good_logs(&rules);
    assert!(logs.len() > 20, "{}", logs.len());
    let results: Vec<(String, Option<String>)> = logs
        .par_iter()
        .flat_map_iter(|(path, log)| {
            let whole = report(log, &rules);
            let rules = &rules;
            shortened(log).into_iter().map(move |(what, copy)| {
                let now = report(&copy, rules);
                let told = now.admits || now.not_evaluated > whole.not_evaluated;
                let is_silent = !told && now.digest != whole.digest;
                let shown = is_silent.then(|| format!("{what} of {}", path.display()));
                (if what == "block" { "block" } else { "single" }.to_owned(), shown)
            })
        })
        .collect();
    let mut counts: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
    for (kind, silent) in &results {
        let (all, list) = counts.entry(kind).or_default();
        *all += 1;
        list.extend(silent.as_deref());
    }
    for (kind, (all, silent)) in counts {
        let one_in = if kind == "block" { ONE_IN } else { ONE_SINGLE_IN };
        assert!(silent.len() * one_in < all, "{kind}: {} of {all}\n{}", silent.len(), silent.join("\n"));
    }
}

/// A copy of a log with one number changed: a digit, the magnitude, or the sign.
fn misread(log: &[u8], dice: &mut Dice) -> Option<Vec<u8>> {
    let numbers: Vec<usize> = (1..log.len())
        .filter(|&at| log[at].is_ascii_digit() && matches!(log[at - 1], b':' | b' ' | b'['))
        .collect();
    let start = *numbers.get(dice.below(numbers.len().max(1)))?;
    let end = start + log[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut number = log[start..end].to_vec();
    match dice.below(4) {
        0 => number.extend(vec![b'0'; 1 + dice.below(9)]),
        1 => number.insert(0, b'-'),
        2 => number.truncate((number.len() - dice.below(number.len())).max(1)),
        _ => {
            let at = dice.below(number.len());
            number[at] = b'0' + u8::try_from(dice.below(10)).unwrap();
        }
    }
    Some([&log[..start], &number, &log[end..]].concat())
}

#[test]
fn wrong_numbers_never_give_impossible_results() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let impossible: Vec<String> = good_logs(&rules)
        .par_iter()
        .flat_map_iter(|(path, log)| {
            let mut dice = Dice(log.len() as u64);
            let copies: Vec<_> = (0..NUMBERS).filter_map(|_| misread(log, &mut dice)).collect();
            let all = std::iter::once(log.clone()).chain(copies);
            let rules = &rules;
            all.flat_map(move |copy| {
                let found = report(&copy, rules).impossible;
                found.into_iter().map(move |found| format!("{}: {found}", path.display()))
            })
        })
        .collect();
    assert!(impossible.is_empty(), "{}", impossible.join("\n"));
}

/// The log with a billion added to the first value of `key` that is zero, or that is not.
fn with_more(log: &str, key: &str, is_zero: bool) -> String {
    let key = format!("\"{key}\":");
    for (at, _) in log.match_indices(&key) {
        let digits = log[at + key.len()..].split(|c: char| !c.is_ascii_digit()).next().unwrap();
        if (digits == "0") == is_zero {
            let end = at + key.len() + digits.len();
            let more = digits.parse::<u64>().unwrap() + 1_000_000_000;
            return format!("{}{key}{more}{}", &log[..at], &log[end..]);
        }
    }
    panic!("no such {key}");
}

#[test]
fn what_spark_itself_adds_up_otherwise_is_unknown() {
    let Some(path) = shared("runs/spark-3.5.9/healthy/app-20261121085752-0000") else { return };
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let log = String::from_utf8(contents(&path)).unwrap();
    let good = report(log.as_bytes(), &rules);
    assert!(!good.admits);
    for (key, is_zero) in [
        ("Remote Bytes Read", false),
        ("Local Bytes Read", false),
        ("Total Records Read", false),
        // Spark does not log sums that are 0.
        ("Memory Bytes Spilled", true),
    ] {
        let damaged = report(with_more(&log, key, is_zero).as_bytes(), &rules);
        assert!(damaged.admits, "{key}");
        assert!(damaged.not_evaluated > good.not_evaluated, "{key}");
        assert!(!damaged.digest.contains("Critical"), "{key}: {}", damaged.digest);
    }
}

#[test]
fn a_stage_of_a_running_application_does_not_end_after_days_of_silence() {
    let Some(folder) = shared("runs/spark-3.5.9/inprogress") else { return };
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let path = files_below(&folder).into_iter().next().unwrap();
    let log = String::from_utf8(contents(&path)).unwrap();
    let damaged = with_more(&log, "Completion Time", false);
    assert_ne!(log, damaged);
    let (good, damaged) = (report(log.as_bytes(), &rules), report(damaged.as_bytes(), &rules));
    let worst = |report: &Reported| {
        report.digest.matches("Critical").count() + report.digest.matches("Severe").count()
    };
    assert!(worst(&damaged) <= worst(&good), "{}", damaged.digest);
    assert!(damaged.impossible.is_empty(), "{:?}", damaged.impossible);
}
