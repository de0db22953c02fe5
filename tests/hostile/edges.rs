//! Unusual but legitimate input: nothing may be lost silently.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::run::{analyze, codes, elephant, run};
use elephant_testing::make::{Zip, gzip, jhist, lines, snappy, spark_end, spark_start, stage, tar, zstd};

/// The problem codes in a report, except those about data that the synthetic logs lack.
fn problem_codes_in(report: &Value) -> Vec<&str> {
    codes(report).into_iter().filter(|code| *code != "block-managers-missing").collect()
}

/// The report on a history with the configuration `conf` next to it.
fn with_conf(conf: &[u8]) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job_1500000000000_0001.jhist"), jhist(2)).unwrap();
    fs::write(folder.path().join("job_1500000000000_0001_conf.xml"), conf).unwrap();
    let (report, ran) = analyze(folder.path(), &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    (report, ran.stderr)
}

#[test]
fn configuration_is_read_in_every_format() {
    let as_elements = "<configuration><property><name>mapreduce.job.queuename</name><value>etl</value></property>\
                       </configuration>";
    let as_attributes = "<?xml version=\"1.0\"?><configuration><property name=\"mapreduce.job.queuename\" value=\"etl\"/>\
                         </configuration>";
    for xml in [as_elements, as_attributes] {
        let little: Vec<u8> = format!("\u{feff}{xml}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = format!("\u{feff}{xml}").encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [xml.as_bytes(), &little, &big] {
            let (report, stderr) = with_conf(bytes);
            let app = &report["applications"][0];
            assert_eq!(app["configuration"]["mapreduce.job.queuename"], "etl", "{app:#}");
            assert_eq!(stderr, "");
        }
    }
}

#[test]
fn partly_unreadable_configuration_is_reported_once() {
    let laughs = (1..60).fold("<!ENTITY l0 \"lol\">".to_owned(), |text, at| {
        text + &format!("<!ENTITY l{at} \"{}\">", format!("&l{};", at - 1).repeat(10))
    });
    for (xml, words) in [
        (
            format!(
                "<!DOCTYPE configuration [{laughs}]><configuration><property><name>mapreduce.map.memory.mb</name>\
                 <value>&l59;</value></property></configuration>"
            ),
            "\"mapreduce.map.memory.mb\" refers to entities",
        ),
        ("<configuration/>".to_owned(), "has no named property"),
        ("<configuration><prop key=\"a\">b</prop></configuration>".to_owned(), "has no named property"),
    ] {
        let (report, stderr) = with_conf(xml.as_bytes());
        assert_eq!(codes(&report), ["conf-incomplete"], "{stderr}");
        assert_eq!((stderr.lines().count(), stderr.matches(words).count()), (1, 1), "{stderr}");
    }
}

#[test]
fn events_on_several_lines_are_reported_once_and_not_counted() {
    let whole = jhist(3);
    let spread = |which: &dyn Fn(usize) -> bool| {
        let line = |(at, line): (usize, &str)| match serde_json::from_str::<Value>(line) {
            Ok(event) if event.get("event").is_some() && which(at) => {
                serde_json::to_string_pretty(&event).unwrap() + "\n"
            }
            _ => line.to_owned() + "\n",
        };
        whole.lines().enumerate().map(line).collect::<String>()
    };
    let count = whole.lines().count();
    let cases: [&dyn Fn(usize) -> bool; 4] =
        [&|_| true, &|at| at == 2, &|at| at == count - 1, &|at| at % 3 == 0];
    for which in cases {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("job_1500000000000_0001.jhist"), spread(which)).unwrap();
        let (report, ran) = analyze(folder.path(), &[]);
        let broken = codes(&report).into_iter().filter(|code| *code == "broken-line").count();
        assert_eq!(broken, 1, "{}", ran.stderr);
        for app in report["applications"].as_array().unwrap() {
            assert_eq!(app["complete"], false, "{app:#}");
            assert_eq!(app["metrics"]["resource_used"], Value::Null, "{app:#}");
        }
    }
}

#[test]
fn negative_limits_are_rejected_with_the_allowed_range() {
    for (option, value) in [
        ("--max-tasks", "-5"),
        ("--max-memory", "-5MiB"),
        ("--max-ratio", "-1"),
        ("--max-decoded", "-5MiB"),
        ("--max-line", "-1KiB"),
        ("--max-time", "-1h"),
    ] {
        for arguments in [vec![option.to_owned(), value.to_owned()], vec![format!("{option}={value}")]] {
            let ran = run(elephant().arg("analyze").args(arguments).arg("testdata/hadoop1"));
            assert_eq!(ran.code, Some(2));
            assert!(ran.stderr.contains("above 0") && ran.stderr.contains(option), "{}", ran.stderr);
            assert!(!ran.stderr.contains("tip:"), "{}", ran.stderr);
        }
    }
    let ran = run(elephant().args(["analyze", "--jobs", "100000", "testdata/hadoop1"]));
    assert!(ran.code == Some(2) && ran.stderr.contains("from 1 to 1024"), "{}", ran.stderr);
    for arguments in
        [&["analyze", "--jobs", "-1"][..], &["analyze", "--top", "-1"], &["nodes", "--min-group", "-1"]]
    {
        let ran = run(elephant().args(arguments).arg("testdata/hadoop1"));
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("invalid value '-1'") && !ran.stderr.contains("tip:"), "{}", ran.stderr);
    }
}

#[test]
fn members_beyond_the_limit_are_reported_once() {
    const MOST: usize = 100_000;
    let log = spark_start() + &stage(0, 0) + &spark_end();
    let folder = tempfile::tempdir().unwrap();
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::STORE);
    let mut zip = ZipWriter::new(BufWriter::new(File::create(folder.path().join("many.zip")).unwrap()));
    for member in 0..=MOST {
        zip.start_file(format!("app-{member}"), options).unwrap();
        if member == 7 || member == MOST {
            zip.write_all(log.as_bytes()).unwrap();
        }
    }
    zip.finish().unwrap().flush().unwrap();
    let (report, ran) = analyze(folder.path(), &[]);
    assert_eq!(report["applications"].as_array().unwrap().len(), 1, "{report:#}");
    assert_eq!(problem_codes_in(&report), ["limit-reached"], "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("more than 100000 members").count(), 1, "{}", ran.stderr);
}

#[test]
fn companion_files_are_size_limited() {
    for arguments in [&["check", "--baseline", "/dev/zero"][..], &["rules", "check", "/dev/zero"]] {
        if !Path::new("/dev/zero").exists() {
            return;
        }
        let mut command = elephant();
        command.args(arguments);
        if arguments[0] == "check" {
            command.arg("testdata/hadoop1");
        }
        let ran = run(&mut command);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("larger than"), "{arguments:?}: {}", ran.stderr);
        assert!(ran.peak_mib < 200, "{arguments:?}: {} MiB", ran.peak_mib);
    }
}

#[test]
fn two_outputs_need_different_paths() {
    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one");
    let other = folder.path().join(".").join("one");
    let mut command = elephant();
    command.args(["nodes", "testdata/hadoop1", "-o"]).arg(&one).arg("--exclude-list").arg(&other);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("twice"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn archive_damage_before_a_history_is_reported() {
    let log = spark_start() + &stage(0, 0) + &spark_end();
    let mut unreadable = elephant_testing::make::tar("app-1", log.as_bytes(), log.len() as u64);
    unreadable[124..136].copy_from_slice(b"zzzzzzzzzzz\0");
    let sum: u64 =
        (0..512).map(|at| u64::from(if (148..156).contains(&at) { b' ' } else { unreadable[at] })).sum();
    unreadable[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut cut = elephant_testing::make::tar("notes.txt", b"nothing", 7);
    cut.truncate(1024);
    cut.extend(&unreadable);
    for bytes in [unreadable, cut] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("logs.tar"), bytes).unwrap();
        let (report, ran) = analyze(folder.path(), &[]);
        assert_eq!(codes(&report), ["unreadable"], "{}", ran.stderr);
        assert!(ran.stderr.contains("truncated"), "{}", ran.stderr);
    }
}

#[test]
fn trailing_data_after_compressed_data_is_reported() {
    let log = spark_start() + &stage(0, 0) + &spark_end();
    let job = jhist(2);
    for pack in [elephant_testing::make::gzip, elephant_testing::make::zstd, elephant_testing::make::lz4] {
        for (name, text) in [("app-1", &log), ("job_1500000000000_0001.jhist", &job)] {
            let mut damaged = pack(log.as_bytes());
            damaged[0] ^= 0xff;
            let behind_zeros = [vec![0; 3000], damaged.clone()].concat();
            for (tail, problems) in [(damaged, 1), (behind_zeros, 1), (vec![0; 3000], 0)] {
                let folder = tempfile::tempdir().unwrap();
                fs::write(folder.path().join(name), [pack(text.as_bytes()), tail].concat()).unwrap();
                let (report, ran) = analyze(folder.path(), &[]);
                assert_eq!(
                    problem_codes_in(&report),
                    vec!["trailing-bytes"; problems],
                    "{name}: {}",
                    ran.stderr
                );
                assert_eq!(report["applications"][0]["complete"], true);
            }
        }
    }
}

/// A log with cached blocks on executors, and with the driver's metric updates for a query.
fn with_details(rounds: u64, blocks: u64, updates: u64) -> String {
    let id = json!({"Executor ID": "1", "Host": "h1", "Port": 1});
    let block = |round: u64, block: u64, memory: u64| {
        json!({"Event": "SparkListenerBlockUpdated", "Block Updated Info": {"Block Manager ID": id,
            "Block ID": format!("rdd_{round}_{block}"), "Storage Level": {"Use Memory": true}, "Memory Size": memory,
            "Disk Size": 0}})
    };
    let mut log = spark_start() + &stage(0, 0);
    log += &lines(&[json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
        "executionId": 0, "description": "q", "details": "", "physicalPlanDescription": "", "time": 1_700_000_000_000_u64,
        "sparkPlanInfo": {"nodeName": "Scan", "simpleString": "", "children": [], "metadata": {}, "metrics": []}})]);
    for round in 0..rounds {
        for memory in [1000, 0] {
            log += &lines(&(0..blocks).map(|at| block(round, at, memory)).collect::<Vec<_>>());
        }
    }
    let values: Vec<_> = (0..updates).map(|id| json!([id, 1])).collect();
    log += &lines(&[json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates",
        "executionId": 0, "accumUpdates": values})]);
    log + &spark_end()
}

#[test]
fn cached_blocks_and_driver_values_are_limited() {
    // Rounds of blocks that were dropped again take no memory.
    for (rounds, blocks, updates, problems) in
        [(20, 90, 90, 0), (1, 101, 0, 1), (1, 100, 0, 0), (0, 0, 101, 1), (0, 0, 100, 0)]
    {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("app-1"), with_details(rounds, blocks, updates)).unwrap();
        let (report, ran) = analyze(folder.path(), &["--max-tasks=100"]);
        assert_eq!(
            problem_codes_in(&report),
            vec!["limit-reached"; problems],
            "{rounds} {blocks} {updates}: {}",
            ran.stderr
        );
        assert_eq!(report["applications"][0]["complete"], problems == 0, "{}", ran.stderr);
    }
}

#[test]
fn deflated_member_is_complete_wherever_its_blocks_end() {
    let mut zip = Zip::new();
    for length in 0..200 {
        // Copies of one application would count once.
        let start = spark_start().replace("app-1", &format!("app-{length}"));
        let log = start + &(0..9).map(|id| stage(id, 0)).collect::<String>() + &spark_end();
        let text = log.trim_end().to_owned() + &" ".repeat(120_000 + length * 331) + "\n";
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        zip = zip.deflated(&format!("{length}/app-{length}"), &encoder.finish().unwrap(), text.as_bytes());
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("logs.zip"), zip.finish()).unwrap();
    let (report, ran) = analyze(folder.path(), &[]);
    assert_eq!(report["applications"].as_array().unwrap().len(), 200);
    assert_eq!(problem_codes_in(&report), [""; 0], "{}", ran.stderr);
}

#[test]
fn logs_with_the_same_name_keep_their_archive_order() {
    // Long and short logs alternate, so that threads finish in another order than they started.
    let stages = |count: u64| (0..count).map(|id| stage(id, 0)).collect::<String>();
    let log = |member: u64| {
        // Copies would count once, and other users are other applications.
        let start = spark_start().replace("\"User\":\"u\"", &format!("\"User\":\"u{member}\""));
        assert!(start.contains(&format!("u{member}")));
        start + &stages(if member.is_multiple_of(2) { 300 } else { 1 + member }) + &spark_end()
    };
    let mut archive = Vec::new();
    for member in 0..8 {
        let log = log(member);
        let packed = tar("app-1", log.as_bytes(), log.len() as u64);
        // Everything except the two zero blocks at the end of the archive.
        archive.extend(&packed[..packed.len() - 1024]);
    }
    archive.resize(archive.len() + 1024, 0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.tar");
    fs::write(&path, archive).unwrap();
    let (expected, _) = analyze(&path, &["--jobs=1"]);
    assert_eq!(expected["applications"].as_array().unwrap().len(), 8, "{expected:#}");
    for options in [["--jobs=2", "--top=100"], ["--jobs=8", "--top=100"], ["--jobs=2", "--top=3"]].repeat(4) {
        let (report, _) = analyze(&path, &options);
        let shown = report["applications"].as_array().unwrap();
        assert_eq!(shown, &expected["applications"].as_array().unwrap()[..shown.len()], "{options:?}");
    }
}

#[test]
fn compressed_log_is_recognised_by_content_not_name() {
    let log = spark_start() + &stage(0, 0) + &spark_end();
    let conf = "<configuration><property><name>a</name><value>1</value></property></configuration>";
    let contents = [
        zstd(log.as_bytes()),
        snappy(log.as_bytes()),
        zstd(&gzip(log.as_bytes())),
        zstd(&log.as_bytes()[..log.len() - 9]),
        log.clone().into_bytes(),
        zstd(jhist(2).as_bytes()),
        zstd(conf.as_bytes()),
        zstd(&tar("app-1", log.as_bytes(), log.len() as u64)),
        zstd(&Zip::new().member("app-1", log.as_bytes()).finish()),
        zstd(b""),
        zstd(log.as_bytes())[..20].to_vec(),
        Vec::new(),
    ];
    for (number, content) in contents.iter().enumerate() {
        let outcome = |name: &str, names_file: bool| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            let (report, ran) = analyze(if names_file { &path } else { folder.path() }, &[]);
            let at = folder.path().display().to_string();
            let output = serde_json::to_string_pretty(&report).unwrap() + &ran.stderr;
            (ran.code, output.replace(&at, "").replace(name, "NAME"))
        };
        for names_file in [true, false] {
            let expected = outcome("some.packed", names_file);
            assert_eq!(outcome("application_1700000000000_0001.zstd", names_file), expected, "{number}");
        }
    }
    // What is named like a history and holds none has failed, so that no damage goes unnoticed.
    for content in [zstd(b"nothing of the kind\n"), zstd(b"\0\x01\x02")] {
        for (name, [skipped, failed]) in
            [("some.packed", [1, 0]), ("application_1700000000000_0001.zstd", [0, 1])]
        {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            fs::write(&path, &content).unwrap();
            let (report, _) = analyze(&path, &[]);
            let files = &report["summary"]["files"];
            assert_eq!((&files["skipped"], &files["failed"]), (&skipped.into(), &failed.into()), "{name}");
        }
    }
}
