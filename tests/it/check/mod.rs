//! `elephant-rs check` as CI runs it: deliberately broken jobs, and runs that differ only in their ids.

mod accident;
mod files;
mod filters;
mod growth;
mod incomplete;
mod reports;
mod runs;
mod several;
mod troubles;

use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

use elephant_testing::spark_log::{App, Job, Stage, Task};

/// A folder with histories and a baseline.
struct Gate {
    folder: TempDir,
}

impl Gate {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("history")).unwrap();
        Self { folder }
    }

    /// A gate whose baseline accepts these runs.
    fn accepting(runs: &[String]) -> Self {
        let gate = Self::new();
        gate.put(runs);
        let output = gate.run(&["--update"]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        gate
    }

    fn baseline(&self) -> PathBuf {
        self.folder.path().join("baseline.yaml")
    }

    fn baseline_text(&self) -> String {
        std::fs::read_to_string(self.baseline()).unwrap()
    }

    /// Replaces all histories with these.
    fn put(&self, runs: &[String]) {
        let history = self.folder.path().join("history");
        std::fs::remove_dir_all(&history).unwrap();
        std::fs::create_dir(&history).unwrap();
        for (number, run) in runs.iter().enumerate() {
            std::fs::write(history.join(format!("log-{number}")), run).unwrap();
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::cargo_bin("elephant-rs")
            .unwrap()
            .current_dir(self.folder.path())
            .env_remove("NO_COLOR")
            .env("LC_ALL", "C.UTF-8")
            .args(["check", "--baseline", "baseline.yaml", "history"])
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Returns the exit status and standard output.
    fn check(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    /// Returns the exit status and the JSON report.
    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let (code, text) = self.check(&[&["--format", "json"], arguments].concat());
        (code, serde_json::from_str(&text).unwrap())
    }
}

/// An application of two stages whose tasks all take `ms`.
fn healthy(tasks: usize, ms: i64) -> App {
    let app = App::with(&[("spark.executor.memory", "1g")], 4, 1);
    app.stage(spread(tasks, ms)).stage(spread(tasks, ms / 2))
}

/// Tasks assigned to four executors in turn.
fn spread(tasks: usize, ms: i64) -> Vec<Task> {
    let task = |place: usize| {
        let mut task = Task::new(&(place % 4 + 1).to_string(), ms);
        task.launch = i64::try_from(place / 4).unwrap() * ms;
        task
    };
    (0..tasks).map(task).collect()
}

/// The same application; one task of its first stage takes ten minutes.
fn skewed(mut app: App) -> App {
    let tasks = &mut app.jobs[0].stages[0].tasks;
    tasks[0].duration = 600_000;
    app
}

/// The same application after a stage with another name, so that stage ids differ.
fn shifted(mut app: App) -> App {
    for (place, job) in app.jobs.iter_mut().enumerate() {
        let id = u32::try_from(place).unwrap() + 1;
        job.id = id;
        job.stages[0].id = id + 4;
    }
    let mut first = Stage::new(0, spread(4, 100));
    "load at Other.scala:3".clone_into(&mut first.name);
    app.jobs.insert(0, Job { id: 0, stages: vec![first], ..Job::default() });
    app
}

/// The log of the application's run on this day of November, with its own id, name and times.
fn on_day(app: &App, day: u32) -> String {
    named(app, &format!("nightly 2026-11-{day:02}"), day)
}

/// The same with a given name.
fn named(app: &App, name: &str, day: u32) -> String {
    let name = Value::from(name).to_string();
    let text = app.text().replace("\"word count\"", &name);
    let text =
        text.replace("application_1700000000000_0001", &format!("application_18{day:02}000000000_{day:04}"));
    text.replace("170000", &format!("17{day:02}00"))
}
