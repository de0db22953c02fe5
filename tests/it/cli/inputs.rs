//! Lists of paths, names of standard input, and copies of histories.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

const SKEW: &str = "testdata/spark/3.5.9/skew";
const COMMANDS: [&str; 4] = ["analyze", "nodes", "stragglers", "whatif"];

fn command(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("LC_ALL", "C.UTF-8").args(args);
    command
}

fn status_and_errors(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// The history of a job in the recordings.
fn history(job: &str) -> PathBuf {
    let files = elephant_testing::files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/done"));
    let wanted = format!("-{job}-");
    files.into_iter().find(|file| file.to_string_lossy().contains(&wanted)).unwrap()
}

/// The only log below a folder.
fn log(folder: &str) -> PathBuf {
    elephant_testing::files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).remove(0)
}

#[test]
fn lists_are_read_from_files_and_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let (list, job) = (folder.path().join("list"), history("healthy"));
    let lines = format!("{}\r\n\r\n{SKEW}\r\n", job.display());
    fs::write(&list, &lines).unwrap();
    let expected =
        json(&command(&["analyze", "--format", "json", SKEW, job.to_str().unwrap()]).output().unwrap());
    assert_eq!(expected["applications"].as_array().unwrap().len(), 2);
    let from = ["analyze", "--format", "json", "--files-from"];
    let of_file = command(&from).arg(&list).output().unwrap();
    assert_eq!(json(&of_file), expected);
    let of_stdin = command(&from).arg("-").write_stdin(lines).output().unwrap();
    assert_eq!(json(&of_stdin), expected);
    let separated = format!("{}\0{SKEW}\0", job.display());
    let of_nul = command(&from).arg("-").write_stdin(separated).output().unwrap();
    assert_eq!(json(&of_nul), expected);
    for name in COMMANDS {
        let status = command(&[name, "--files-from"]).arg(&list).output().unwrap().status;
        assert_eq!(status.code(), Some(0), "{name}");
    }
}

#[test]
fn missing_files_of_a_list_are_told_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    fs::write(&list, format!("{SKEW}\n\nnowhere.log\n")).unwrap();
    let output = command(&["analyze", "--format", "json", "--files-from"]).arg(&list).output().unwrap();
    let report = json(&output);
    assert_eq!(report["summary"]["files"]["failed"], 1);
    assert_eq!(report["applications"].as_array().unwrap().len(), 1);
    let expected = format!(
        "elephant-rs: error: cannot read nowhere.log: there is no such file or folder; check the spelling and the \
         current folder; it is in line 3 of {}\n",
        list.display()
    );
    assert_eq!(status_and_errors(&output), (Some(2), expected));
}

#[test]
fn an_empty_list_is_an_empty_folder() {
    let run = |args: &[&str]| {
        command(&[&["analyze", "--files-from", "-"], args].concat()).write_stdin("\n").output()
    };
    let (status, errors) = status_and_errors(&run(&[]).unwrap());
    assert!(status == Some(2) && errors.contains("no application was read"), "{errors}");
    assert_eq!(run(&["--allow-empty"]).unwrap().status.code(), Some(0));
}

#[test]
fn standard_input_has_one_use() {
    for args in [&["--files-from", "-", "-"][..], &["--files-from", "-"]] {
        let output = command(&[&["nodes"], args].concat()).write_stdin("-\n").output().unwrap();
        let (status, errors) = status_and_errors(&output);
        assert_eq!(status, Some(2), "{errors}");
        assert!(errors.contains("save the list to a file: --files-from FILE"), "{errors}");
    }
    let (status, errors) =
        status_and_errors(&command(&["analyze", "--stdin-name", "a", SKEW]).output().unwrap());
    assert!(status == Some(2) && errors.contains("add - to the paths"), "{errors}");
    let (status, errors) =
        status_and_errors(&command(&["analyze", "--files-from", "nowhere"]).output().unwrap());
    assert!(status == Some(2) && errors.contains("cannot read the list of paths nowhere"), "{errors}");
}

#[test]
fn standard_input_has_the_name_that_it_is_given() {
    let bytes = fs::read(log(SKEW)).unwrap();
    let name = "s3://logs/app-20261121094219-0001.lz4";
    let args = ["analyze", "--format", "json", "--stdin-name", name, "-"];
    let report = json(&command(&args).write_stdin(bytes).output().unwrap());
    assert_eq!(report["applications"][0]["sources"], serde_json::json!([name]));
    let archive = fs::read(log("testdata/spark/containers")).unwrap();
    let args = ["analyze", "--format", "json", "--stdin-name", "logs.zip", "-"];
    let report = json(&command(&args).write_stdin(archive).output().unwrap());
    let source = report["applications"][0]["sources"][0].as_str().unwrap();
    assert!(source.starts_with("logs.zip!"), "{source}");
}

#[test]
fn a_named_history_finds_its_configuration() {
    let job = history("healthy");
    let report = json(&command(&["analyze", "--format", "json"]).arg(&job).output().unwrap());
    let sources = report["applications"][0]["sources"].as_array().unwrap();
    assert!(sources[1].as_str().unwrap().ends_with("job_1795255830918_0001_conf.xml"), "{sources:?}");
    assert_eq!(report["summary"]["files"]["found"], 2);
    // Above the folder of the history, too; and a configuration that the user names wins.
    let folder = tempfile::tempdir().unwrap();
    let (below, other) = (folder.path().join("below"), folder.path().join("job_1795255830918_0001_conf.xml"));
    fs::create_dir(&below).unwrap();
    let copy = below.join(job.file_name().unwrap());
    fs::copy(&job, &copy).unwrap();
    fs::copy(job.with_file_name("job_1795255830918_0001_conf.xml"), &other).unwrap();
    let report = json(&command(&["analyze", "--format", "json"]).arg(&copy).output().unwrap());
    assert_eq!(report["applications"][0]["sources"][1], other.to_str().unwrap());
    let report = json(&command(&["analyze", "--format", "json"]).arg(&job).arg(&other).output().unwrap());
    assert_eq!(report["applications"][0]["sources"][1], other.to_str().unwrap());
}

/// A folder with a log, a compressed copy under another name, and a copy that was cut.
fn copies() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = log("testdata/spark/3.5.9/skew");
    let stored = fs::read(&source).unwrap();
    let plain = zstd::decode_all(stored.as_slice()).unwrap();
    fs::write(folder.path().join("b.log"), &plain).unwrap();
    fs::write(folder.path().join(source.file_name().unwrap()), &stored).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&plain).unwrap();
    fs::write(folder.path().join("a.log.gz"), packed.finish().unwrap()).unwrap();
    let half = plain.len() / 2;
    fs::write(folder.path().join("0-cut.log"), &plain[..half]).unwrap();
    folder
}

#[test]
fn every_command_counts_a_history_once() {
    let folder = copies();
    for name in COMMANDS {
        for jobs in ["1", "4"] {
            let args = [name, "--format", "json", "--jobs", jobs];
            let report = json(&command(&args).arg(folder.path()).output().unwrap());
            let problems = report["problems"].as_array().unwrap();
            let copies = problems.iter().filter(|problem| problem["code"] == "duplicate").count();
            let count = report.get("applications_count").unwrap_or(&report["summary"]["applications"]);
            assert_eq!((count, copies), (&1.into(), 3), "{name} {jobs}: {problems:?}");
        }
    }
}

#[test]
fn the_first_complete_copy_counts_whatever_the_threads() {
    let folder = copies();
    let run =
        |jobs: &str| command(&["analyze", "--format", "json", "--jobs", jobs]).arg(folder.path()).output();
    let one = run("1").unwrap();
    assert_eq!(one.stdout, run("4").unwrap().stdout);
    let report = json(&one);
    let source = folder.path().join("a.log.gz");
    assert_eq!(report["applications"][0]["sources"][0], source.to_str().unwrap());
    let text = command(&["analyze"]).arg(folder.path()).output().unwrap();
    let shown = String::from_utf8(text.stdout.clone()).unwrap();
    assert!(shown.contains("1 application, without 3 copies"), "{shown}");
    let (_, errors) = status_and_errors(&text);
    assert!(errors.contains("is also in") && errors.contains("it is counted once"), "{errors}");
}

#[test]
fn the_same_id_with_another_start_is_another_application() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        elephant_testing::files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/hadoop1"));
    let text = fs::read_to_string(files.last().unwrap()).unwrap();
    let name = "job_201311192236_0042_user";
    fs::create_dir(folder.path().join("other")).unwrap();
    fs::write(folder.path().join(name), &text).unwrap();
    let submitted = text.split("SUBMIT_TIME=\"").nth(1).unwrap().split('"').next().unwrap();
    let later: u64 = submitted.parse::<u64>().unwrap() - 1000;
    fs::write(folder.path().join("other").join(name), text.replace(submitted, &later.to_string())).unwrap();
    let report = json(&command(&["analyze", "--format", "json"]).arg(folder.path()).output().unwrap());
    assert_eq!(report["summary"]["applications"], 2, "{}", report["problems"]);
}

#[test]
fn messages_say_what_is_wrong_once() {
    let (_, errors) = status_and_errors(&command(&["analyze", "nowhere"]).output().unwrap());
    assert!(errors.starts_with("elephant-rs: error: cannot read nowhere: there is no such"), "{errors}");
    let (_, errors) = status_and_errors(&command(&["analyze", "hdfs://nn/logs"]).output().unwrap());
    assert!(errors.contains("hdfs dfs -get") && errors.contains("no path can be read"), "{errors}");
    assert!(!errors.contains("has no files"), "{errors}");
    let folder = tempfile::tempdir().unwrap();
    let prices = folder.path().join("prices.yaml");
    fs::write(&prices, "core_hour: -1\nfoo: 2\n").unwrap();
    let output = command(&["analyze", SKEW, "--prices"]).arg(&prices).output().unwrap();
    let (status, errors) = status_and_errors(&output);
    assert_eq!(status, Some(2));
    assert!(errors.matches("\nerror: ").count() >= 2 && errors.contains("-->"), "{errors}");
}

#[test]
fn addresses_of_files_are_read_like_paths() {
    let folder = std::fs::canonicalize("testdata/hadoop1").unwrap();
    let report = |path: &str| {
        let output = Command::cargo_bin("elephant-rs")
            .unwrap()
            .args(["analyze", "--format", "json", path])
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let path = folder.to_str().unwrap();
    let (status, by_address) = report(&format!("file://{path}"));
    assert!(by_address.contains(&format!("\"file://{path}/")));
    assert_eq!((status, by_address.replace("file://", "")), report(path));
    assert_eq!(report("file:///no/such/folder").0, Some(2));
}
