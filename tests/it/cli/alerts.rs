//! `--alerts` of `ingest`, `check` and `serve`: who is told what, and who is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use elephant_testing::spark_log::{App, Task};
use tempfile::TempDir;

use super::store::{on_each_database, printed, run, text};

const HOUR: i64 = 3_600_000;

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// A run of a job that ended so long ago, in which one task takes that many times as long as the others.
fn skewed(folder: &Path, number: u32, ended_before: i64, times: i64) {
    let usual = 60_000;
    let mut tasks: Vec<Task> = (0..40).map(|at| Task::new(&(at % 4 + 1).to_string(), usual)).collect();
    for (at, task) in tasks.iter_mut().enumerate() {
        task.launch = i64::try_from(at / 4).unwrap() * usual;
        let long = if at == 0 { times } else { 1 };
        task.duration = usual * long;
        let bytes = 1_000_000 * u64::try_from(long).unwrap();
        *task = task
            .clone()
            .metric("Shuffle Read Metrics.Local Bytes Read", bytes)
            .metric("Shuffle Read Metrics.Total Records Read", bytes);
    }
    let log = App::with(&[], 4, 1).stage(tasks).text();
    let mut end = log.lines().filter(|line| line.contains("SparkListenerApplicationEnd"));
    let end: i64 = digits(end.next_back().unwrap()).parse().unwrap();
    let shift = now() - ended_before - end;
    fs::create_dir_all(folder).unwrap();
    let id = format!("application_1700000000000_{number:04}");
    let log = shifted(&log, shift).replace("application_1700000000000_0001", &id);
    fs::write(folder.join(id), log).unwrap();
}

/// The first number with 13 digits.
fn digits(line: &str) -> String {
    let all = line.split(|c: char| !c.is_ascii_digit());
    all.filter(|digits| digits.len() == 13).map(str::to_owned).next().unwrap()
}

/// The log with all its moments so much later. Only moments are numbers with 13 digits that no letter is next to.
fn shifted(log: &str, shift: i64) -> String {
    let (mut shifted, mut digits, mut before) = (String::with_capacity(log.len()), String::new(), ' ');
    for letter in log.chars().chain(['\n']) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        match digits.parse::<i64>() {
            Ok(moment) if digits.len() == 13 && before != '_' => shifted += &(moment + shift).to_string(),
            _ => shifted += &digits,
        }
        digits.clear();
        shifted.push(letter);
        before = letter;
    }
    shifted
}

/// Receivers whose mails are added to a file.
struct Mails {
    folder: TempDir,
    file: PathBuf,
}

impl Mails {
    fn new(routes: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mails = folder.path().join("mails");
        let yaml = format!(
            "receivers:\n  team:\n    mail:\n      to: data@example.com\n      command: [/bin/sh, -c, 'cat >> {}', sh]\nroutes:\n  {routes}\n",
            mails.display()
        );
        let file = folder.path().join("alerts.yaml");
        fs::write(&file, yaml).unwrap();
        Self { folder, file }
    }

    /// The subjects of all mails so far, which are forgotten.
    fn subjects(&self) -> Vec<String> {
        let mails = self.folder.path().join("mails");
        let all = fs::read_to_string(&mails).unwrap_or_default();
        let _ = fs::remove_file(&mails);
        all.lines()
            .filter_map(|line| line.strip_prefix("Subject: [elephant-rs] "))
            .map(str::to_owned)
            .collect()
    }

    fn ingest(&self, store: &str, path: &Path, more: &[&str]) -> String {
        let (file, path) = (text(&self.file), text(path));
        printed(&[&["ingest", "--quiet", "--store", store, "--alerts", &file, &path], more].concat())
    }
}

#[test]
fn only_what_is_new_or_worse_is_told() {
    on_each_database(|place| {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        // A run is told once a day, so that each of these has its own store.
        for (earlier, now, expected) in [
            (Some(60), 60, None),
            (Some(30), 200, Some("worse")),
            (Some(200), 60, None),
            (Some(1), 200, Some("new")),
            (None, 200, Some("new")),
        ] {
            let _ = fs::remove_dir_all(&logs);
            let store = place(&folder.path().join(format!("{earlier:?}-{now}.db")));
            let mails = Mails::new("- {to: team, severity: low}");
            // It ended too long ago to be told.
            if let Some(times) = earlier {
                skewed(&logs, 1, 30 * HOUR, times);
                mails.ingest(&store, &logs, &[]);
                assert_eq!(mails.subjects(), Vec::<String>::new());
            }
            skewed(&logs, 2, HOUR, now);
            let dry = mails.ingest(&store, &logs, &["--alerts-dry-run"]);
            assert_eq!(mails.subjects(), Vec::<String>::new(), "a dry run sends nothing");
            mails.ingest(&store, &logs, &[]);
            let told = mails.subjects();
            match expected {
                None => assert!(
                    told.is_empty() && dry == "# nothing would be sent\n",
                    "{earlier:?} {now}: {told:?}\n{dry}"
                ),
                Some(change) => {
                    assert!(told.len() == 1 && told[0].contains("word count"), "{earlier:?} {now}: {told:?}");
                    assert!(dry.contains(&format!("({change}): ")), "{earlier:?} {now}: {dry}");
                }
            }
            // Nothing changed, and then all is read again with other rules.
            mails.ingest(&store, &logs, &[]);
            mails.ingest(&store, &logs, &["--rules", "dr-elephant"]);
            assert_eq!(mails.subjects(), Vec::<String>::new());
        }
    });
}

#[test]
fn a_first_run_is_told_only_if_it_is_critical_unless_the_file_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    skewed(&logs, 1, HOUR, 15);
    let stored = |name: &str| text(&folder.path().join(name));
    let usual = Mails::new("- {to: team, severity: low}");
    let dry = usual.ingest(&stored("a.db"), &logs, &["--alerts-dry-run"]);
    assert_eq!(dry, "# nothing would be sent\n");
    assert!(!folder.path().join("a.db").exists(), "a dry run makes no store");
    let lower = Mails::new("- {to: team, severity: low}\nfirst_run: low");
    lower.ingest(&stored("b.db"), &logs, &[]);
    let told = lower.subjects();
    assert!(told.len() == 1 && !told[0].starts_with("critical"), "{told:?}");
}

#[test]
fn a_job_is_told_once_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let (logs, store) = (folder.path().join("logs"), text(&folder.path().join("x.db")));
    let mails = Mails::new("- {to: team}");
    for number in 1..4 {
        skewed(&logs, number, HOUR, 60 + 200 * i64::from(number));
        mails.ingest(&store, &logs, &[]);
    }
    assert_eq!(mails.subjects().len(), 1);
}

#[test]
fn a_gate_tells_what_fails_it() {
    let folder = tempfile::tempdir().unwrap();
    let (logs, store) = (folder.path().join("logs"), text(&folder.path().join("x.db")));
    skewed(&logs, 1, 30 * HOUR, 1);
    printed(&["ingest", "--quiet", "--store", &store, &text(&logs)]);
    let next = folder.path().join("next");
    skewed(&next, 2, HOUR, 200);
    let mails = Mails::new("- {to: team}");
    let (file, next) = (text(&mails.file), text(&next));
    let arguments = ["check", "--quiet", "--store", &store, "--alerts", &file, &next];
    let dry = run(&[&arguments[..], &["--alerts-dry-run"]].concat());
    assert_eq!(dry.status.code(), Some(1));
    let dry = String::from_utf8(dry.stdout).unwrap();
    assert!(dry.starts_with("# team (mail): /bin/sh -c") && dry.contains("Subject: [elephant-rs] "), "{dry}");
    assert!(mails.subjects().is_empty());
    let checked = run(&arguments);
    assert_eq!(checked.status.code(), Some(1));
    assert!(String::from_utf8(checked.stdout).unwrap().contains("word count"));
    assert_eq!(mails.subjects().len(), 1);
    // What ingest stores now was told already.
    mails.ingest(&store, Path::new(&next), &[]);
    assert!(mails.subjects().is_empty());
    let without = run(&["check", "--quiet", "--baseline", "x.yaml", "--alerts", &file, &next]);
    assert!(String::from_utf8(without.stderr).unwrap().contains("--alerts compares with a store"));
}

#[test]
fn a_receiver_that_does_not_work_is_one_warning_and_is_told_by_the_next_turn() {
    let folder = tempfile::tempdir().unwrap();
    let (logs, store) = (folder.path().join("logs"), text(&folder.path().join("x.db")));
    skewed(&logs, 1, HOUR, 200);
    let mails = Mails::new("- {to: team}");
    let yaml = fs::read_to_string(&mails.file).unwrap();
    let broken = folder.path().join("broken.yaml");
    fs::write(&broken, yaml.replace("/bin/sh", "/no/such/program")).unwrap();
    let failed = run(&["ingest", "--store", &store, "--alerts", &text(&broken), &text(&logs)]);
    assert_eq!(failed.status.code(), Some(0), "{failed:?}");
    let told = String::from_utf8(failed.stderr).unwrap();
    let expected =
        "alerts: team: /no/such/program cannot be started: entity not found; 1 alert waits for the next turn";
    assert_eq!(told.matches("warning").count(), 1, "{told}");
    assert!(told.contains(expected), "{told}");
    // Nothing is new in this turn.
    mails.ingest(&store, &logs, &[]);
    assert_eq!(mails.subjects().len(), 1);
    mails.ingest(&store, &logs, &[]);
    assert!(mails.subjects().is_empty());
}

#[test]
fn problems_of_the_file_are_shown_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("alerts.yaml");
    fs::write(&file, "receivers: {team: {slack: {url_env: ELEPHANT_NO_SUCH}}}\nrouts: [{to: team}]\n")
        .unwrap();
    let ingest = |more: &[&str]| {
        let store = text(&folder.path().join("x.db"));
        let output = run(&[
            &["ingest", "--quiet", "--store", &store, "--alerts", &text(&file), "testdata/hadoop1"],
            more,
        ]
        .concat());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, told) = ingest(&[]);
    assert_eq!(status, Some(2));
    assert!(
        told.contains("there is no key \"routs\"") && told.contains("did you mean \"routes\"?"),
        "{told}"
    );
    assert!(told.contains("alerts.yaml:2:1"), "{told}");
    fs::write(&file, "receivers: {team: {slack: {url_env: ELEPHANT_NO_SUCH}}}\nroutes: [{to: team}]\n")
        .unwrap();
    let (status, told) = ingest(&[]);
    assert_eq!(status, Some(2));
    assert!(
        told.contains(
            "the receiver team cannot be used: the environment variable ELEPHANT_NO_SUCH is not set"
        ),
        "{told}"
    );
    // A dry run needs no secrets.
    assert_eq!(ingest(&["--alerts-dry-run"]).0, Some(0));
}

/// The example of the manual.
#[test]
fn the_example_of_the_manual_is_a_file_of_receivers() {
    let page = fs::read_to_string("docs/alerts.md").unwrap();
    let example = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("alerts.yaml");
    fs::write(&file, example).unwrap();
    let store = text(&folder.path().join("x.db"));
    let arguments = [
        "ingest",
        "--quiet",
        "--store",
        &store,
        "--alerts",
        &text(&file),
        "--alerts-dry-run",
        "testdata/hadoop1",
    ];
    assert_eq!(printed(&arguments), "# nothing would be sent\n");
}

#[cfg(feature = "serve")]
#[test]
fn a_server_that_reads_histories_tells_what_it_finds() {
    use super::serve::Served;
    let folder = tempfile::tempdir().unwrap();
    let (logs, store) = (folder.path().join("logs"), text(&folder.path().join("x.db")));
    skewed(&logs, 1, HOUR, 200);
    let mails = Mails::new("- {to: team}");
    let (file, logs) = (text(&mails.file), text(&logs));
    let arguments =
        ["--store", &store, "--alerts", &file, "--public-url", "https://e.example.com", "--ingest", &logs];
    let server = Served::start(&arguments);
    let begin = std::time::Instant::now();
    let mail = loop {
        let mail = fs::read_to_string(mails.folder.path().join("mails")).unwrap_or_default();
        if mail.contains("Page of the application") {
            break mail;
        }
        assert!(begin.elapsed() < std::time::Duration::from_secs(60), "{mail}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert!(mail.contains("https://e.example.com/application/application_1700000000000_0001"), "{mail}");
    drop(server);
    let alone = run(&["serve", "--listen", "127.0.0.1:0", "--store", &store, "--alerts", &file]);
    assert!(String::from_utf8(alone.stderr).unwrap().contains("--alerts tells what --ingest finds"));
}

#[cfg(feature = "serve")]
#[test]
fn a_history_that_is_sent_is_told_once() {
    use super::serve::{Served, TOKEN, post};
    let folder = tempfile::tempdir().unwrap();
    let (logs, store) = (folder.path().join("logs"), text(&folder.path().join("x.db")));
    skewed(&logs, 1, HOUR, 200);
    let (mails, token) = (Mails::new("- {to: team}"), text(&folder.path().join("token")));
    fs::write(&token, TOKEN).unwrap();
    let server = Served::start(&["--store", &store, "--alerts", &text(&mails.file), "--token-file", &token]);
    let history = fs::read(logs.join("application_1700000000000_0001")).unwrap();
    let sent = || fs::read_to_string(mails.folder.path().join("mails")).unwrap_or_default();
    for _ in 0..2 {
        // Receivers are told before the answer.
        assert!(post(&server, "", &history).starts_with("HTTP/1.1 201"));
        assert_eq!(sent().matches("Message-ID:").count(), 1, "{}", sent());
    }
}
