//! Words for people: their characters, their grammar, and what is said where little is known.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use elephant_testing::spark_log::{App, Task};
use regex::Regex;

/// Every command with a help text of its own.
const COMMANDS: [&str; 22] = [
    "",
    "analyze",
    "anonymise",
    "check",
    "diff",
    "nodes",
    "stragglers",
    "watch",
    "whatif",
    "simulate",
    "simulate cluster",
    "simulate patterns",
    "rules",
    "rules list",
    "rules show",
    "rules reference",
    "rules check",
    "rules test",
    "rules init",
    "rules import",
    "completions",
    "man",
];

fn run(locale: &str, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    for name in ["LC_CTYPE", "LANG", "ELEPHANT_LOG", "RUST_LOG"] {
        command.env_remove(name);
    }
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("LC_ALL", locale).args(args).output().unwrap()
}

fn text(args: &[&str]) -> String {
    let output = run("C.UTF-8", args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Lines end anywhere.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn help_and_manual_are_ascii_in_every_locale() {
    for command in COMMANDS {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let help = text(&args);
        assert!(help.is_ascii(), "{command}: {:?}", help.lines().find(|line| !line.is_ascii()));
    }
    let manual = text(&["man"]);
    assert!(manual.is_ascii(), "{:?}", manual.lines().find(|line| !line.is_ascii()));
}

#[test]
fn the_c_locale_gets_ascii_reports_and_messages() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("ä.yaml");
    std::fs::write(&rules, "rules:\n  mapper-skew: {ä: 1}\n").unwrap();
    let rules = rules.to_str().unwrap();
    let skew = "testdata/spark/3.5.9/skew";
    let cases: [&[&str]; 8] = [
        &["analyze", skew],
        &["analyze", "/nowhere/häuser"],
        &["analyze", "--häuser"],
        &["analyze", "--rules", rules, skew],
        &["rules", "check", rules],
        &["rules", "show", "ä"],
        &["diff", "testdata/done", skew],
        &["stragglers", skew],
    ];
    for args in cases {
        let Output { stdout, stderr, .. } = run("C", args);
        assert!(!stdout.is_empty() || !stderr.is_empty(), "{args:?}");
        let both = [stdout, stderr].concat();
        assert!(both.is_ascii(), "{args:?}: {}", String::from_utf8_lossy(&both));
    }
    // Other locales keep what they can show.
    let kept = run("C.UTF-8", &["analyze", "/nowhere/häuser"]);
    assert!(String::from_utf8(kept.stderr).unwrap().contains("häuser"));
}

/// Common slips: a noun in the plural after 1, a verb in the plural after "1 noun", "a" before a vowel, "an" before a
/// consonant, and sentences that lack their end.
#[test]
fn reports_have_no_common_slips_of_grammar() {
    let nouns = "application|task|run|job|stage|executor|attempt|node|finding|group|file|rule|error|host|record|\
                 partition|setting|change|pair|container|straggler|core|server|minute";
    let slips = [
        format!(r"(^|[^0-9.,])1 (more )?({nouns})s\b"),
        r"(^|[^0-9.,])1 (copies|entries|queries)\b".to_owned(),
        r"(^|[^0-9.,])1 [a-z]+ ([a-z]+ )?(have|are|were)\b".to_owned(),
        r"\ba [aeio][a-z]{2}".to_owned(),
        r"\ban [bcdfgjklmnpqrstvwxz][a-z]{2}".to_owned(),
        r#"\b(are|is|than|with|by|of) *"(,|$)"#.to_owned(),
    ]
    .map(|slip| Regex::new(&slip).unwrap());
    for wrong in ["of 1 executors", "1 more have", "in a application", "an task", "\"thresholds are \""] {
        assert!(slips.iter().any(|slip| slip.is_match(wrong)), "{wrong}");
    }
    for right in ["12.1 s were lost", "21 executors", "a user", "an hour", "1 task is", "executor 1 has"] {
        assert!(!slips.iter().any(|slip| slip.is_match(right)), "{right}");
    }
    let files = elephant_testing::files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots"));
    assert!(files.len() > 20);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // Pages have names and text apart from each other.
        let lines = text.lines().filter(|line| !line.contains("</"));
        let wrong: Vec<&str> =
            lines.filter(|line| slips.iter().any(|slip| slip.is_match(line))).take(3).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", file.display());
    }
}

#[test]
fn addresses_of_local_files_work_or_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("a b");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join("log"), App::with(&[], 1, 1).stage(vec![Task::new("1", 1_000)]).text())
        .unwrap();
    let root = folder.path().to_str().unwrap();
    for address in [
        format!("file://{root}/a%20b"),
        format!("file://localhost{root}/a%20b/log"),
        format!("file://{root}/a b"),
    ] {
        let shown = text(&["analyze", "--summary", &address]);
        assert!(shown.contains("1 file read"), "{address}: {shown}");
    }
    for (address, why) in [
        (format!("file://{root}/missing"), "there is no such file or folder"),
        (
            "file://elsewhere/x".to_owned(),
            "it names another machine; correct the path or address, such as file:///PATH",
        ),
        (format!("file:{root}/a%20b"), "give the path instead: "),
    ] {
        let output = run("C.UTF-8", &["analyze", &address]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{address}");
        assert!(message.contains(why) && !message.contains("check the disk"), "{message}");
    }
}

#[test]
fn diff_without_a_common_job_says_so_first_and_has_a_line_for_each_job() {
    let folder = tempfile::tempdir().unwrap();
    for (side, jobs) in [("a", &["x", "x", "y"][..]), ("b", &["z"])] {
        let below = folder.path().join(side);
        std::fs::create_dir(&below).unwrap();
        for (place, job) in jobs.iter().enumerate() {
            let log = App::with(&[], 1, 1).stage(vec![Task::new("1", 1_000)]).text();
            let log = log.replace("word count", job).replace("_0001", &format!("_{side}00{place}"));
            std::fs::write(below.join(format!("log{place}")), log).unwrap();
        }
    }
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let shown = text(&["diff", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert!(
        shown.starts_with("No job in common; 2 jobs (3 runs) only in A, 1 job (1 run) only in B\n"),
        "{shown}"
    );
    assert_eq!(shown.matches("spark · x").count(), 1, "{shown}");
    assert!(words(&shown).contains("spark · x: 2 runs, the first application_1700000000000_"), "{shown}");
    let details = text(&["diff", "--details", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert_eq!(details.matches("spark · x").count(), 2, "{details}");
    let markdown = text(&["diff", "--format", "markdown", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert!(markdown.starts_with("## No job in common; "), "{markdown}");
}

#[test]
fn a_change_without_a_known_effect_is_not_said_to_save_nothing() {
    let whatif = |input: &str| {
        let summary = ["whatif", "--executors", "4", "--quiet", "--summary", input];
        words(&text(&summary))
    };
    let local = whatif("testdata/spark/containers/eventlog_v2_local-1795255753487");
    assert!(local.contains("4 executors: unknown in 1 application (local mode has no executors"), "{local}");
    let cut = whatif("testdata/spark/3.5.9/inprogress-lz4");
    let why = "0 of 1 application replayed; what changes would save is unknown (the event log is incomplete)";
    assert!(cut.starts_with(why), "{cut}");
    for shown in [local, cut] {
        assert!(!shown.contains("saves nothing") && !shown.contains("no change saves"), "{shown}");
    }
}

#[test]
fn a_straggler_that_its_input_explains_delays_its_stage() {
    let folder = tempfile::tempdir().unwrap();
    let task = |duration, mib: u64| Task {
        metrics: vec![("Input Metrics.Bytes Read", mib << 20)],
        ..Task::new("1", duration)
    };
    let mut tasks: Vec<Task> = (0..11).map(|_| task(2_000, 64)).collect();
    tasks.push(task(14_800, 473));
    let log = folder.path().join("log");
    std::fs::write(&log, App::with(&[], 1, 12).stage(tasks).text()).unwrap();
    let shown = text(&["stragglers", log.to_str().unwrap()]);
    let shown = words(&shown);
    let answer = "1 of 12 tasks was a straggler (at least 1.5× the median time of their group). The application \
                  waited 12.8 s only for stragglers: 12.8 s 100 % data skew";
    assert!(shown.starts_with(answer), "{shown}");
    assert!(
        shown.contains("Best detector A task is overdue if it took more than 1.2× its usual time"),
        "{shown}"
    );
}
