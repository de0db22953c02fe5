//! Creates initial inputs in `corpus/<target>` from `testdata`, `rules` and `docs` of the main package: logs
//! shortened to a few events of each kind, also in every compression and archive format. JSON names become
//! dictionaries. Useful inputs are moved to `seeds`, see `README.md`.

mod packing;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use elephant_rs::baseline::{Baseline, Tolerance, compare, update};
use elephant_rs::engine::{Options, analyze};
use elephant_rs::report::write_json;
use elephant_rs::rules::RuleSet;
use elephant_rs_fuzz::targets::samples::{target_of, unpacked};
use packing::{CODECS, gzip, tar, zip, zstd};
use twox_hash::XxHash32;

/// Events of each kind that a shortened log keeps.
const OF_A_KIND: usize = 2;
/// Longer lines are left out, except for the second, which may be a schema.
const LONG_LINE: usize = 6 << 10;
fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let testdata = files(&root.join("testdata"));
    let mut seeds =
        Seeds { folder: Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"), count: BTreeMap::new() };
    let mut names: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();

    let mut histories = Vec::new();
    for path in &testdata {
        let shown = path.to_string_lossy();
        let bytes = unpacked(fs::File::open(path).unwrap());
        match target_of(&bytes) {
            Some("jobconf") => {
                let short = shortened_conf(&bytes);
                seeds.add("jobconf", &short);
                seeds.add("kind", &short[..short.len().min(300)]);
            }
            Some(target) => history(target, &bytes, &mut histories, &mut seeds, &mut names),
            None => {}
        }
        if shown.contains("node-metrics") && !shown.ends_with("README.md") {
            seeds.add("node_metrics", &bytes);
            seeds.add("node_metrics", &bytes[..bytes.len().min(1500)]);
        }
        if shown.ends_with("HeuristicConf.xml") {
            seeds.add("heuristic_conf", &bytes);
            seeds.add("heuristic_conf", &bytes[..bytes.len() / 4]);
            words(&bytes, names.entry("heuristic_conf").or_default(), |_| true);
        }
        if shown.ends_with(".zip") && bytes.len() < 64 << 10 {
            seeds.add("zip", &bytes);
        }
    }

    for (_, history) in &histories {
        for target in ["judge", "whole", "surveys"] {
            seeds.add(target, history);
        }
        seeds.add("kind", &history[..history.len().min(200)]);
    }
    packed(&histories, &mut seeds);
    rules(&root, &mut seeds, &mut names);
    reports(&testdata, &mut seeds, &mut names);
    dictionaries(&names);
    println!("{:?}", seeds.count);
}

/// Adds a shortened history, and collects the names in it.
fn history(
    target: &'static str,
    bytes: &[u8],
    histories: &mut Vec<(&'static str, Vec<u8>)>,
    seeds: &mut Seeds,
    names: &mut BTreeMap<&str, BTreeSet<String>>,
) {
    for per_kind in [1, OF_A_KIND] {
        let short = if target == "jhist_binary" {
            bytes[..bytes.len().min(24 << 10 << (per_kind - 1))].to_vec()
        } else {
            shortened(bytes, per_kind)
        };
        seeds.add(target, &short);
        histories.push((target, short));
    }
    keys(bytes, names.entry(target).or_default());
    if target == "hadoop1" {
        let is_key = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        words(bytes, names.entry(target).or_default(), is_key);
    }
}

struct Seeds {
    folder: PathBuf,
    count: BTreeMap<String, usize>,
}

impl Seeds {
    fn add(&mut self, target: &str, bytes: &[u8]) {
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{:08x}-{}", XxHash32::oneshot(1, bytes), bytes.len())), bytes)
            .unwrap();
        *self.count.entry(target.to_owned()).or_default() += 1;
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Keeps a few lines of each kind of event, and the last line.
fn shortened(bytes: &[u8], per_kind: usize) -> Vec<u8> {
    let mut seen: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let is_kept = |(at, line): &(usize, &&[u8])| {
        // The start of the line shows the kind: `{"Event":"SparkListenerTaskEnd"`, `{"type":"TASK_FINISHED"`,
        // `Task TASKID=`.
        let kind = line.iter().skip(10).take_while(|byte| !b"\",=".contains(byte)).chain(line.iter().take(8));
        let count = seen.entry(kind.copied().collect()).or_default();
        *count += 1;
        *at < 2 || *at == lines.len() - 1 || (*count <= per_kind && line.len() <= LONG_LINE)
    };
    lines.iter().enumerate().filter(is_kept_fn(is_kept)).flat_map(|(_, line)| line.to_vec()).collect()
}

fn is_kept_fn<'a>(
    mut is_kept: impl FnMut(&(usize, &'a &'a [u8])) -> bool,
) -> impl FnMut(&(usize, &'a &'a [u8])) -> bool {
    move |line| is_kept(line)
}

fn shortened_conf(bytes: &[u8]) -> Vec<u8> {
    let (head, tail) = (bytes.len().min(2000), bytes.len().saturating_sub(200).max(bytes.len().min(2000)));
    [&bytes[..head], &bytes[tail..]].concat()
}

/// Collects the keys of all JSON lines, in quotes.
fn keys(bytes: &[u8], names: &mut BTreeSet<String>) {
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(value) = serde_json::from_slice(line) {
            walk(&value, names);
        }
    }
}

fn walk(value: &serde_json::Value, names: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, value) in members {
                let is_name = key.len() > 2 && key.len() < 60 && !key.contains(['.', '/', '-', '$', '\\']);
                if is_name {
                    names.insert(format!("\"{key}\""));
                }
                if key == "Event" || key == "type" {
                    names.extend(value.as_str().map(|name| format!("\"{name}\"")));
                }
                walk(value, names);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| walk(value, names)),
        _ => {}
    }
}

/// Collects the words of a text that `is_wanted` accepts.
fn words(text: &[u8], names: &mut BTreeSet<String>, is_wanted: impl Fn(&str) -> bool) {
    let text = String::from_utf8_lossy(text);
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
    names.extend(words.filter(|word| (3..60).contains(&word.len()) && is_wanted(word)).map(str::to_owned));
}

fn dictionaries(names: &BTreeMap<&str, BTreeSet<String>>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dictionaries");
    fs::create_dir_all(&folder).unwrap();
    for (target, names) in names.iter().filter(|(_, names)| !names.is_empty()) {
        let escaped = |name: &String| name.replace('\\', "\\\\").replace('"', "\\\"");
        let lines: String = names.iter().map(|name| format!("\"{}\"\n", escaped(name))).collect();
        fs::write(folder.join(format!("{target}.dict")), lines).unwrap();
    }
}

/// Adds short texts and zeros in each codec, repeated and with trailing bytes, and logs in archives for the
/// target `whole`.
fn packed(histories: &[(&str, Vec<u8>)], seeds: &mut Seeds) {
    let smallest = |target: &str| {
        histories
            .iter()
            .filter(|(of, _)| *of == target)
            .map(|(_, bytes)| bytes)
            .min_by_key(|bytes| bytes.len())
    };
    let spark = smallest("spark").unwrap();
    for (target, pack) in CODECS {
        for text in [&b""[..], b"a", &spark[..300], &spark[..2000], &[0; 3000], b"one two two two two three"]
        {
            let once = pack(text);
            seeds.add(target, &once);
            seeds.add(target, &[&once[..], &once].concat());
            seeds.add(target, &[&once[..], &[0; 40]].concat());
            seeds.add(target, &once[..once.len() * 3 / 4]);
            for (_, other) in CODECS {
                seeds.add(target, &pack(&other(&text[..text.len().min(300)])));
            }
        }
        seeds.add("whole", &pack(spark));
        seeds.add("kind", &pack(&spark[..100]));
    }
    seeds.add("zstd", &[&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc", &zstd(b"text")].concat());

    let conf = b"<configuration><property><name>mapreduce.map.memory.mb</name><value>4096</value></property></configuration>";
    let mut archives: Vec<Vec<(&str, &[u8])>> = vec![
        vec![],
        vec![("log", &spark[..300])],
        vec![
            ("eventlog_v2_a/appstatus_a", b""),
            ("eventlog_v2_a/events_1_a", spark),
            ("eventlog_v2_a/events_2_a", spark),
        ],
        vec![("folder/", b""), ("folder/notes.txt", b"text"), (LONG_NAME, &spark[..300])],
    ];
    for target in ["jhist_json", "jhist_binary", "hadoop1"] {
        let history = smallest(target).unwrap();
        archives.push(vec![("job_1_1.jhist", history), ("job_1_1_conf.xml", conf)]);
    }
    for members in archives {
        for packed in [
            tar(&members),
            zip(&members, zip::CompressionMethod::Deflated),
            zip(&members, zip::CompressionMethod::Stored),
        ] {
            let target = if packed.starts_with(b"PK") { "zip" } else { "tar" };
            seeds.add(target, &packed);
            seeds.add(target, &packed[..packed.len() / 2]);
            seeds.add("whole", &packed);
        }
        seeds.add("whole", &gzip(&tar(&members)));
    }
}

const LONG_NAME: &str = "a/very/long/name/of/a/member/that/does/not/fit/into/the/hundred/bytes/which/a/header/of/the/old/kind/has/for/it";

/// Adds all rule files of the repository, and the expressions in them.
fn rules(root: &Path, seeds: &mut Seeds, names: &mut BTreeMap<&str, BTreeSet<String>>) {
    for path in
        files(&root.join("rules")).into_iter().filter(|path| path.extension().is_some_and(|e| e == "yaml"))
    {
        let text = fs::read_to_string(&path).unwrap();
        if text.len() < 4 << 10 {
            seeds.add("rules", text.as_bytes());
            words(text.as_bytes(), names.entry("rules").or_default(), |word| word.contains('_'));
        }
        let Some((_, values)) = text.split_once("\nvalues:\n") else { continue };
        let over = text.lines().find_map(|line| line.strip_prefix("over: ")).unwrap_or("application");
        let values: Vec<&str> = values.lines().take_while(|line| line.starts_with(' ')).collect();
        let expression =
            |line: &&str| line.split_once(": ").map(|(_, text)| text.trim_matches('"').replace("\\\"", "\""));
        for line in &values {
            words(line.as_bytes(), names.entry("expression").or_default(), |word| !word.starts_with('.'));
        }
        for pair in values.iter().filter_map(expression).collect::<Vec<_>>().windows(2) {
            seeds.add(
                "expression",
                format!("{over}\napp.name.startsWith(\"a\")\n{}\n{}\n{{second}}", pair[0], pair[1])
                    .as_bytes(),
            );
        }
    }
    let functions = [
        "sum(task.gc_time) / sum(task.run_time)",
        "percentile(task.run_time, 95, task.locality == \"node_local\")",
        "count(attempt.outcome == \"failed\")",
        "coalesce(conf(\"spark.executor.memory\"), \"1g\")",
        "app.run_time > time(\"5min\") ? 1 : -2.5e3",
        "trunc(max(task.input_bytes) / size(\"64MB\")) % 7",
        "app.queue in [\"a\", \"b\"] && !(app.name.contains(\"x\"))",
    ];
    for (first, over) in
        functions.iter().zip(["map", "reduce", "stage", "executor", "application", "map", "stage"])
    {
        words(first.as_bytes(), names.entry("expression").or_default(), |_| true);
        seeds.add(
            "expression",
            format!("{over}\ntrue\n{first}\nfirst * 2\n{{first}} of {{second}}").as_bytes(),
        );
    }
    seeds.add("rules", b"suppress:\n  - rules: \"*\"\n    for: {queue: \"root.*\"}\n    reason: known\n    until: 2030-01-01\n");
    seeds.add("rules", b"rule: mapper-skew\nfor: {name: \"nightly*\"}\ndeviation: {rising: [2, 4, 8, 16]}\n---\nrule: mapper-gc\nenabled: false\n");
}

/// Adds baselines and JSON reports of small logs.
fn reports(testdata: &[PathBuf], seeds: &mut Seeds, names: &mut BTreeMap<&str, BTreeSet<String>>) {
    let rules = RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap();
    let wanted = [
        "mapper-memory/job_1500000000000_0904",
        "spark-stage-metrics/application_1700000000000_0104",
        "hadoop1/jt1",
    ];
    for part in wanted {
        let path = testdata.iter().find(|path| path.to_string_lossy().contains(part)).unwrap();
        let report =
            analyze(std::slice::from_ref(path), &rules, Options { details: true, ..Options::default() });
        let mut json = Vec::new();
        write_json(&report, &mut json).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        walk(&value, names.entry("diff").or_default());
        seeds.add("diff", value.to_string().as_bytes());
        let accepted = Baseline::default();
        let accepted = update(&accepted, &report, &compare(&report, &accepted, &Tolerance::default()), false);
        let text = accepted.to_yaml().unwrap();
        seeds.add("baseline", text.as_bytes());
        seeds.add(
            "baseline",
            text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n").as_bytes(),
        );
    }
}
