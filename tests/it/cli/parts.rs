//! Results in parts: `--partial` and `--merge` give what one run over all histories gives.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;
use twox_hash::XxHash3_128;

fn run<A: AsRef<OsStr>>(command: &str, arguments: &[&str], paths: &[A]) -> Output {
    let mut elephant = Command::cargo_bin("elephant-rs").unwrap();
    elephant.env("LC_ALL", "C.UTF-8").arg(command).args(arguments).args(paths);
    elephant.output().unwrap()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Numbers that look random and are the same in every run (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            let other = self.below(place + 1);
            items.swap(place, other);
        }
    }
}

/// Entries of these folders, each of which is read as a whole.
fn entries(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in folders {
        all.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    all.sort();
    all
}

/// Histories of both engines, with copies, one that is cut, a damaged archive and a file that is no history.
fn histories(place: &Path) -> Vec<PathBuf> {
    let folders = ["heuristics", "spark", "done", "intermediate"];
    let mut all = entries(&folders.map(|folder| Path::new("testdata").join(folder)));
    all.push("testdata/hadoop1".into());
    let done = elephant_testing::files_below(Path::new("testdata/done"));
    let id = "job_1732147200000_0004";
    let [history, conf] = ["jhist", "xml"].map(|end| {
        let is_it = |path: &&PathBuf| {
            path.extension() == Some(OsStr::new(end)) && path.to_string_lossy().contains(id)
        };
        done.iter().find(is_it).unwrap()
    });
    let whole = fs::read(history).unwrap();
    for (folder, content) in
        [("copy", &whole[..]), ("cut", &whole[..whole.len() / 2]), ("zip", b"PK\x03\x04broken")]
    {
        let folder = place.join(folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(history.file_name().unwrap()), content).unwrap();
        // A history is joined with its configuration wherever that is, so both are in one part.
        fs::copy(conf, folder.join(conf.file_name().unwrap())).unwrap();
        all.push(folder);
    }
    fs::write(place.join("notes.txt"), "no history\n").unwrap();
    all.push(place.join("notes.txt"));
    all
}

/// Divides the histories by chance, and writes a part of each share.
fn parts(
    command: &str,
    options: &[&str],
    histories: &[PathBuf],
    place: &Path,
    chance: &mut Chance,
) -> Vec<PathBuf> {
    let mut shares = vec![Vec::new(); 1 + chance.below(5)];
    for history in histories {
        let share = chance.below(shares.len());
        shares[share].push(history);
    }
    let mut files = Vec::new();
    for (number, mut share) in shares.into_iter().filter(|share| !share.is_empty()).enumerate() {
        chance.shuffle(&mut share);
        let file = place.join(format!("{command}-{number}.part"));
        let written = run(command, &[options, &["--partial", file.to_str().unwrap()]].concat(), &share);
        assert!(written.status.success() && written.stdout.is_empty(), "{}", message(&written));
        files.push(file);
    }
    files
}

/// Asserts that one run over all and the merge of parts write the same, in all these formats.
fn assert_equal(
    command: &str,
    formats: &[&[&str]],
    histories: &[PathBuf],
    place: &Path,
    chance: &mut Chance,
) {
    let mut files = parts(command, &[], histories, place, chance);
    for format in formats {
        chance.shuffle(&mut files);
        let whole = run(command, format, histories);
        let merged = run(command, &[format, &["--merge"][..]].concat(), &files);
        let what = format!("{command} {format:?} of {} parts", files.len());
        assert_eq!(message(&merged), message(&whole), "{what}");
        assert_eq!(merged.status, whole.status, "{what}");
        assert!(merged.stdout == whole.stdout, "{what}: {}", String::from_utf8_lossy(&merged.stdout));
    }
}

const ANALYZE: [&[&str]; 11] = [
    &[],
    &["--format", "json"],
    &["--format", "ndjson", "--envelope"],
    &["--format", "csv"],
    &["--format", "html"],
    &["--format", "markdown"],
    &["--format", "sarif"],
    &["--format", "junit", "--strict"],
    &["--format", "openmetrics"],
    &["--format", "json", "--top", "3"],
    &["--fail-on", "severe", "--summary"],
];

#[test]
fn analyze_in_parts_writes_the_same_bytes() {
    let place = TempDir::new().unwrap();
    let mut histories = histories(place.path());
    let mut chance = Chance(22);
    assert_equal("analyze", &ANALYZE, &histories, place.path(), &mut chance);
    // Now a path that cannot be read fails the merged run, as it fails the whole one.
    histories.push("no/such/history".into());
    assert_equal("analyze", &ANALYZE[..2], &histories, place.path(), &mut chance);
    assert_eq!(run("analyze", &[], &histories).status.code(), Some(2));
}

#[test]
fn nodes_and_stragglers_in_parts_write_the_same_bytes() {
    let place = TempDir::new().unwrap();
    let histories = histories(place.path());
    let mut chance = Chance(47);
    let nodes: [&[&str]; 5] = [
        &["--min-node-tasks", "3"],
        &["--min-node-tasks", "3", "--format", "json"],
        &["--format", "html"],
        &["--format", "csv", "--sort", "mean"],
        &["--interval", "prediction", "--format", "json"],
    ];
    assert_equal("nodes", &nodes, &histories, place.path(), &mut chance);
    let stragglers: [&[&str]; 5] = [
        &[],
        &["--format", "json"],
        &["--format", "html", "--top", "5"],
        &["--format", "csv", "--table", "detectors"],
        &["--format", "csv", "--sort", "name"],
    ];
    assert_equal("stragglers", &stragglers, &histories, place.path(), &mut chance);
}

#[test]
fn check_in_parts_decides_the_same() {
    let place = TempDir::new().unwrap();
    let histories = histories(place.path());
    let accepted = place.path().join("accepted.yaml");
    let accepted = accepted.to_str().unwrap();
    let some: Vec<&PathBuf> = histories.iter().step_by(2).collect();
    assert!(run("check", &["--baseline", accepted, "--update", "--allow-unjudged"], &some).status.success());
    let with = |more: &'static [&'static str]| [&["--baseline", accepted][..], more].concat();
    let formats = [with(&[]), with(&["--format", "json"]), with(&["--format", "junit", "--require-all"])];
    let formats: Vec<&[&str]> = formats.iter().map(Vec::as_slice).collect();
    assert_equal("check", &formats, &histories, place.path(), &mut Chance(5));
    assert_eq!(run("check", &["--baseline", accepted], &histories).status.code(), Some(1));
}

#[test]
fn recordings_and_corpus_in_parts_write_the_same_bytes() {
    let folders =
        ["runs/hadoop-2.7.3", "runs/spark-3.5.9", "corpus/mr-jhist", "corpus/spark-plain", "corpus/decoy"];
    let Some(folders) = folders.map(elephant_testing::shared).into_iter().collect::<Option<Vec<_>>>() else {
        return;
    };
    let (histories, place) = (entries(&folders), TempDir::new().unwrap());
    assert!(histories.len() > 20);
    let mut chance = Chance(3);
    for command in ["analyze", "nodes", "stragglers"] {
        assert_equal(command, &[&["--format", "json"]], &histories, place.path(), &mut chance);
    }
}

const JOB: &str = "jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions";
const CONF: &str = "job_201311192236_0042_conf.xml";

/// Asserts that results of these two paths cannot be merged, for this reason.
fn assert_apart(paths: &[PathBuf; 2], why: &str) {
    let place = TempDir::new().unwrap();
    let parts: Vec<PathBuf> =
        (0..).map(|number| place.path().join(format!("{number}.part"))).take(2).collect();
    for (path, part) in paths.iter().zip(&parts) {
        let written = run("analyze", &["--partial", part.to_str().unwrap()], &[path]);
        assert!(written.status.success(), "{}", message(&written));
    }
    let merged = run("analyze", &["--merge"], &parts);
    assert_eq!((merged.status.code(), merged.stdout.len()), (Some(2), 0), "{why}");
    assert!(message(&merged).contains(why), "{why}: {}", message(&merged));
}

#[test]
fn parts_that_split_a_history_are_refused() {
    let recordings = PathBuf::from("crates/elephant-engine/tests/recordings");
    let with_logs = [recordings.join("events"), recordings.join("work")];
    assert_apart(&with_logs, "give a job history and its log to one part");
    let tez = PathBuf::from("testdata/heuristics/tez-dag-failure");
    let files = ["dag_1500000000000_1501_1-low.json.gz", "dag_1500000000000_1503_1-severe.json.gz"];
    assert_apart(
        &files.map(|name| tez.join(name)),
        "have each read some files of testdata/heuristics/tez-dag-failure",
    );
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let place = TempDir::new().unwrap();
    let [one, other] = ["testdata/hadoop1", "testdata/broken"].map(PathBuf::from);
    let file = |name: &str| place.path().join(name);
    let part = |command: &str, options: &[&str], history: &PathBuf, name: &str| {
        let file = file(name);
        let written = run(command, &[options, &["--partial", file.to_str().unwrap()]].concat(), &[history]);
        assert!(written.status.success(), "{}", message(&written));
        file
    };
    let refused = |command: &str, files: &[&PathBuf], why: &str| {
        let merged = run(command, &["--merge"], files);
        assert_eq!((merged.status.code(), merged.stdout.len()), (Some(2), 0), "{why}");
        assert!(message(&merged).contains(why), "{why}: {}", message(&merged));
    };
    let [good, second] = [part("analyze", &[], &one, "a"), part("analyze", &[], &other, "b")];
    assert!(run("analyze", &["--merge"], &[&good, &second]).status.success());
    refused("nodes", &[&good], "was written by elephant-rs analyze, not by nodes");
    refused("analyze", &[&good, &part("analyze", &[], &one, "c")], "have both read testdata/hadoop1/");
    // Each part alone is whole, but a run over both folders joins them.
    let [history, conf] = [file("history"), file("conf")];
    fs::create_dir(&history).unwrap();
    fs::create_dir(&conf).unwrap();
    for (from, to) in [(JOB, &history), (CONF, &conf)] {
        fs::copy(one.join(from), to.join(from)).unwrap();
    }
    let apart = [part("analyze", &[], &history, "h"), part("analyze", &[], &conf, "i")];
    refused("analyze", &[&apart[0], &apart[1]], "give a job history and its configuration to one part");
    let rules = file("rules.yaml");
    fs::write(&rules, "rule: mapper-skew\nenabled: false\n").unwrap();
    let with_rules = part("analyze", &["--rules", rules.to_str().unwrap()], &one, "d");
    refused("analyze", &[&with_rules], "was written with other rules");
    let filtered = part("analyze", &["--engine", "spark"], &one, "e");
    refused("analyze", &[&filtered], "was written with other filters");
    let sorted = part("analyze", &["--sort", "waste"], &one, "f");
    refused("analyze", &[&sorted], "was written with other order (--sort)");
    let grouped = part("nodes", &["--min-group", "9"], &one, "g");
    refused("nodes", &[&grouped], "was written with other settings");
    refused("analyze", &[&one.join(CONF)], "is not a partial result");
    refused("analyze", &[&file("missing")], "cannot read the partial result");
    let written = fs::read(&good).unwrap();
    for len in (30..written.len()).step_by(written.len() / 40).chain([written.len() - 1]) {
        fs::write(file("cut"), &written[..len]).unwrap();
        refused("analyze", &[&file("cut")], "is cut off or damaged");
        let mut flipped = written.clone();
        flipped[len] ^= 1;
        fs::write(file("flipped"), &flipped).unwrap();
        refused("analyze", &[&file("flipped")], "is cut off or damaged");
    }
    let text = &written[..written.len() - 16];
    let place = text.windows(9).position(|window| window == b"\"version\"").unwrap() + 11;
    let mut older = text.to_vec();
    older[place] = b'9';
    let checksum = XxHash3_128::oneshot(&older);
    older.extend_from_slice(&checksum.to_le_bytes());
    fs::write(file("older"), older).unwrap();
    refused("analyze", &[&file("older")], "was written by elephant-rs 9");
}

#[test]
fn parts_are_written_whatever_they_contain_except_of_traces() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("a.part");
    let file = file.to_str().unwrap();
    let empty = place.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert!(run("analyze", &["--partial", file], &[&empty]).status.success());
    let merged = run("analyze", &["--merge"], &[file]);
    assert_eq!(merged.status.code(), Some(2));
    assert!(message(&merged).contains("no application was read"));
    assert!(run("analyze", &["--merge", "--allow-empty"], &[file]).status.success());
    for command in ["nodes", "stragglers"] {
        let new = place.path().join(command);
        let refused = run(command, &["--partial", new.to_str().unwrap()], &["testdata/traces"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(message(&refused).contains("is a cluster trace"), "{}", message(&refused));
        assert!(!new.exists());
    }
    let refused = run("stragglers", &["--partial", file, "--learn", "x"], &["testdata/hadoop1"]);
    assert_eq!(refused.status.code(), Some(2));
}
