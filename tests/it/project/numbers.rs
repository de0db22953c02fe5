//! Numbers that decide stand in YAML. Every other number in the code of rules and troubles is listed here with its reason:
//! numeric constants, and literals with a fraction. Facts of engines are in `elephant_model::engine_facts`.

use std::collections::BTreeSet;

use super::sizes::{Source, sources};

/// The crates that judge.
const CRATES: [&str; 2] = ["crates/elephant-heuristics/src/", "crates/elephant-verdict/src/"];

/// Literals that decide nothing by themselves: bounds of a share, percent, milliseconds of a second.
const NEUTRAL: [&str; 4] = ["0.0", "1.0", "100.0", "1000.0"];

/// Numbers with one reason: each is a file and the name of a constant, or a literal.
struct Known {
    reason: &'static str,
    numbers: &'static [(&'static str, &'static [&'static str])],
}

const KNOWN: &[Known] = &[
    Known {
        reason: "how much findings, messages and charts show",
        numbers: &[
            ("elephant-heuristics/src/shown.rs", &["FINDINGS", "NAMES", "STAGE_NAME", "MESSAGE"]),
            ("elephant-heuristics/src/any/support/causes.rs", &["ADVISED"]),
            ("elephant-heuristics/src/mapreduce/skew/input.rs", &["LONGEST_NAME"]),
            ("elephant-heuristics/src/spark/query/engine_fallback.rs", &["NAMED"]),
            ("elephant-heuristics/src/spark/query/on_queries.rs", &["REPORTED"]),
            ("elephant-heuristics/src/spark/query/schema_inference.rs", &["NAMED"]),
            ("elephant-heuristics/src/spark/query/stream/names.rs", &["MAX_LEN"]),
            ("elephant-heuristics/src/spark/support/remedies.rs", &["MAX_LINES"]),
            ("elephant-verdict/src/account/mod.rs", &["MOST_PARTS", "ALONE", "MAIN", "LEAST"]),
            ("elephant-verdict/src/account/fact.rs", &["LONG", "UNEVEN", "FEW"]),
            ("elephant-verdict/src/account/words.rs", &["TOLD"]),
            (
                "elephant-verdict/src/charts/histogram.rs",
                &["MOST_PHASES", "MOST_BUCKETS", "QUARTERS", "LEAST_SPREAD", "LOGARITHMIC_FROM"],
            ),
            ("elephant-verdict/src/charts/load.rs", &["PARTS"]),
            ("elephant-verdict/src/charts/memory.rs", &["MOST_RANKED"]),
            ("elephant-verdict/src/charts/nodes.rs", &["MOST_NODES"]),
            ("elephant-verdict/src/charts/phases.rs", &["MOST_PHASES", "MOST_LANES", "LEAST_WIDTH", "0.95"]),
            ("elephant-verdict/src/charts/queries.rs", &["MOST_QUERIES", "MOST_OPERATORS"]),
            ("elephant-verdict/src/charts/scatter.rs", &["MOST_PHASES", "MOST_POINTS", "SLOWEST"]),
            ("elephant-verdict/src/charts/timeline.rs", &["MOST_EXECUTORS"]),
            ("elephant-verdict/src/savings/spark.rs", &["PATH_STAGES"]),
            ("elephant-verdict/src/troubles/root_cause.rs", &["ENOUGH"]),
        ],
    },
    Known {
        reason: "a bound of the time or memory that computing takes",
        numbers: &[
            ("elephant-heuristics/src/any/support/causes.rs", &["MOST_WAITS"]),
            ("elephant-heuristics/src/mapreduce/time/few_tasks.rs", &["MOST_TRIED", "LEAST_TRIED"]),
            ("elephant-heuristics/src/spark/skew/uneven.rs", &["MOST_SLOW"]),
            ("elephant-heuristics/src/spark/support/idle.rs", &["REPLAYS"]),
            ("elephant-heuristics/src/spark/support/lost_time.rs", &["MAX_SEARCHED"]),
            ("elephant-verdict/src/savings/prices.rs", &["MAX_LEN"]),
            ("elephant-verdict/src/savings/shares.rs", &["MAX_TROUBLES"]),
            ("elephant-verdict/src/savings/sharing.rs", &["REPLAYED", "MEASURED", "REPLAYS"]),
        ],
    },
    Known {
        reason: "a unit, or the form of a number",
        numbers: &[
            ("elephant-heuristics/src/spark/configuration_parameters/recommend.rs", &["GIB"]),
            ("elephant-heuristics/src/spark/support/limited.rs", &["DIGITS"]),
            ("elephant-verdict/src/charts/histogram.rs", &["SECOND", "MINUTE", "HOUR"]),
            ("elephant-heuristics/src/spark/query/stream/state.rs", &["MILLIS_OF_HOUR"]),
            ("elephant-verdict/src/savings/price_file.rs", &["LONGEST", "MOST"]),
            ("elephant-verdict/src/savings/troubles.rs", &["BILLION"]),
            ("elephant-verdict/src/troubles/measured_loss.rs", &["3_600_000.0"]),
            ("elephant-verdict/src/troubles/ranking.rs", &["MILLION"]),
            (
                "elephant-verdict/src/troubles/value.rs",
                &["KIB", "MIB", "GIB", "TIB", "MOST_BARE", "60_000.0", "3_600_000.0", "86_400_000.0"],
            ),
        ],
    },
    Known {
        reason: "rounding: a difference below it is none",
        numbers: &[
            ("elephant-heuristics/src/any/support/speculation_settings.rs", &["1e-9"]),
            ("elephant-heuristics/src/mapreduce/mapper_spill.rs", &["10_000.0"]),
            ("elephant-heuristics/src/mapreduce/shuffle_sort/early_start.rs", &["1e-6"]),
            ("elephant-heuristics/src/mapreduce/support/splits.rs", &["0.01"]),
            ("elephant-heuristics/src/spark/executor_metrics.rs", &["0.01"]),
            ("elephant-verdict/src/savings/sharing.rs", &["NOTHING", "SAME_TIME"]),
            ("elephant-verdict/src/troubles/executors.rs", &["SAME"]),
            ("elephant-verdict/src/troubles/task_memory.rs", &["LARGEST_SHARE"]),
            ("elephant-verdict/src/troubles/value.rs", &["1e-9"]),
        ],
    },
    Known {
        reason: "half or twice: most of a whole, the middle of a range, the next size",
        numbers: &[
            ("elephant-heuristics/src/any/support/slow_nodes.rs", &["2.0"]),
            ("elephant-heuristics/src/mapreduce/support/splits.rs", &["2.0"]),
            ("elephant-heuristics/src/mapreduce/time/few_tasks.rs", &["2.0"]),
            ("elephant-heuristics/src/mapreduce/time/many_tasks.rs", &["2.0"]),
            ("elephant-heuristics/src/spark/configuration_parameters/stage_analysis.rs", &["2.0"]),
            ("elephant-heuristics/src/spark/support/memory.rs", &["2.0"]),
            ("elephant-verdict/src/savings/estimate.rs", &["2.0"]),
            ("elephant-verdict/src/savings/hourly.rs", &["0.5"]),
            // The middle between nothing and the most.
            ("elephant-verdict/src/troubles/ranking.rs", &["2.0"]),
        ],
    },
    Known {
        reason: "a step on the way to a value, not a limit: advice tries sizes in this order",
        numbers: &[
            // Slow starts are advised in steps of 5 %.
            ("elephant-heuristics/src/mapreduce/shuffle_sort/early_start.rs", &["20.0", "0.05"]),
            ("elephant-heuristics/src/spark/support/memory.rs", &["1.5", "1.25"]),
            ("elephant-heuristics/src/spark/support/pinned.rs", &["TIMEOUTS"]),
        ],
    },
    Known {
        reason: "an algorithm of Dr. Elephant that only its preset uses",
        numbers: &[("elephant-heuristics/src/spark/configuration_parameters/recommend.rs", &["1.25"])],
    },
    Known {
        reason: "how engines log what happens: it tells what a record means, not how bad it is",
        numbers: &[
            // Settings outside this range are mistyped.
            ("elephant-heuristics/src/mapreduce/support/sort_buffer.rs", &["0.1"]),
            ("elephant-heuristics/src/spark/support/adaptive.rs", &["MERGED_AT_LEAST", "MERGED_AT_MOST"]),
            ("elephant-heuristics/src/spark/query/stream/trigger.rs", &["WAITED", "STEP", "LATE", "LEAST"]),
            ("elephant-heuristics/src/spark/support/losses.rs", &["STOPPING"]),
            ("elephant-heuristics/src/spark/support/stage_figures.rs", &["FRESH", "MAX_SCORED_RATIO"]),
        ],
    },
    Known {
        reason: "the error of a replay, a property of the model",
        numbers: &[("elephant-verdict/src/savings/predict.rs", &["ERROR_OF_SLOTS", "2.0", "0.5"])],
    },
];

/// The names of numeric constants in a file, and its literals with a fraction outside them.
fn numbers(source: &Source) -> BTreeSet<String> {
    let code = without_words(&source.lines.join("\n"));
    let mut found = BTreeSet::new();
    let mut others = String::new();
    // Each part but the first starts after the word const.
    for (place, part) in code.split("const ").enumerate() {
        let is_name = part.starts_with(|first: char| first.is_ascii_uppercase());
        let item = part.split_once('=').filter(|_| place > 0 && is_name);
        match item.and_then(|(head, value)| Some((head.split_once(':')?, value))) {
            Some(((name, kind), value)) if is_numeric(kind) => {
                found.insert(name.trim().to_owned());
                others.push_str(value.split_once(";\n").map_or("", |(_, after)| after));
            }
            _ => others.push_str(part),
        }
    }
    found.extend(literals(&others).into_iter().filter(|number| !NEUTRAL.contains(&number.as_str())));
    found
}

/// Whether a type is that of a number, or of several numbers.
fn is_numeric(kind: &str) -> bool {
    let kind = kind.trim().trim_start_matches(['[', '(', '&']);
    let name = kind.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let unsigned = name.strip_prefix(['f', 'u', 'i']).unwrap_or(name);
    let is_plain = unsigned != name && (unsigned == "size" || unsigned.parse::<u32>().is_ok());
    is_plain || ["Bytes", "Millis", "Micros"].contains(&name)
}

/// The code without comments and texts.
fn without_words(text: &str) -> String {
    let mut code = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '/' if letters.peek() == Some(&'/') => {
                while letters.peek().is_some_and(|next| *next != '\n') {
                    letters.next();
                }
            }
            '"' => {
                while let Some(inner) = letters.next() {
                    match inner {
                        '\\' => drop(letters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '\'' if letters.peek() == Some(&'"') => drop((letters.next(), letters.next())),
            other => code.push(other),
        }
    }
    code
}

/// The literals with a fraction or an exponent, without the type.
fn literals(code: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let letters: Vec<char> = code.chars().collect();
    let at = |place: usize| letters.get(place).copied().unwrap_or(' ');
    let mut found = BTreeSet::new();
    let mut place = 0;
    while place < letters.len() {
        let starts =
            at(place).is_ascii_digit() && (place == 0 || !(is_part(at(place - 1)) || at(place - 1) == '.'));
        let start = place;
        place += 1;
        if !starts {
            continue;
        }
        let goes_on = |place: usize| {
            let fraction = at(place) == '.' && at(place + 1).is_ascii_digit();
            let sign = at(place) == '-' && at(place - 1) == 'e';
            is_part(at(place)) || fraction || sign
        };
        while goes_on(place) {
            place += 1;
        }
        let number: String = letters[start..place].iter().collect();
        let number = number.split("_f").next().unwrap_or_default();
        let exponent = number.split_once('e').is_some_and(|(_, digits)| digits.parse::<i32>().is_ok());
        if number.contains('.') || exponent {
            found.insert(number.to_owned());
        }
    }
    found
}

#[test]
fn numbers_that_decide_are_in_yaml() {
    let known = |path: &str, number: &str| {
        let mut all = KNOWN.iter().flat_map(|known| known.numbers);
        all.any(|(file, numbers)| path.ends_with(file) && numbers.contains(&number))
    };
    let mut found = BTreeSet::new();
    let mut unknown = Vec::new();
    for source in
        sources().iter().filter(|source| CRATES.iter().any(|folder| source.path.starts_with(folder)))
    {
        for number in numbers(source) {
            if !known(&source.path, &number) {
                unknown.push(format!("{}: {number}", source.path));
            }
            found.insert((source.path.clone(), number));
        }
    }
    assert!(found.len() > 60, "only {} numbers were found", found.len());
    assert!(
        unknown.is_empty(),
        "these numbers are neither parameters nor listed here: move what is a judgement to the YAML of its rule, \
         rules/advice.yaml or rules/troubles.yaml, a fact of an engine to elephant_model::engine_facts, and list the rest \
         with its reason:\n{}",
        unknown.join("\n")
    );
    let listed = KNOWN.iter().flat_map(|known| {
        assert!(!known.reason.is_empty());
        known.numbers.iter().flat_map(|(file, numbers)| numbers.iter().map(move |number| (*file, *number)))
    });
    let is_left = |(file, number): &(&str, &str)| {
        found.iter().any(|(path, other)| path.ends_with(file) && other == number)
    };
    let gone: Vec<_> = listed.filter(|one| !is_left(one)).collect();
    assert!(gone.is_empty(), "listed, but no longer in the code: {gone:?}");
}

#[test]
fn numbers_are_found() {
    let text = "const SHARE: f64 = 0.25;\nconst ALL: [Millis; 2] = [Millis::new(5)];\nconst NAME: &str = \"1.5\";\n\
                const fn of(x: f64) -> f64 { // 2.5\n    x.max(3.5).min(1e-9) + self.0.1 - 1.0 + 0.0_f64 + 1_000.5\n}\n\
                fn range() -> bool { (0..10).contains(&7) && '\"' != 'x' }\n";
    let source = Source { path: String::new(), lines: text.lines().map(str::to_owned).collect() };
    let found: Vec<String> = numbers(&source).into_iter().collect();
    assert_eq!(found, ["1_000.5", "1e-9", "3.5", "ALL", "SHARE"]);
}
