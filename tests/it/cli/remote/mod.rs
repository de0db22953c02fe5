//! Histories of object stores, web servers and history servers: fake ones on this machine that fail as real ones do, and
//! a server that speaks the protocol of S3 (`moto_server`), and Hadoop.

#[cfg(feature = "hdfs")]
mod fake_hadoop;
#[cfg(feature = "hdfs")]
mod hadoop;
#[cfg(feature = "hdfs")]
mod hdfs;
#[cfg(feature = "store")]
mod ingest;
mod range_server;
mod s3;
mod server;
mod web;

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use range_server::{RangeServer, Reply, Request};

/// Far more than any machine needs.
const PATIENCE: Duration = Duration::from_secs(120);
/// A history of MapReduce, without a configuration beside it in requests.
const HISTORY: &str = "testdata/hadoop1/jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions";

fn history() -> Vec<u8> {
    std::fs::read(HISTORY).unwrap()
}

/// Runs a command that reads only servers of this machine.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    for variable in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(variable);
    }
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("LC_ALL", "C.UTF-8").env("NO_PROXY", "*");
    command.env("ELEPHANT_RETRY_PAUSE", "50");
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Ends a command that hangs.
fn output(mut command: Command) -> Output {
    let mut child = command.spawn().unwrap();
    let out = child.stdout.take().unwrap();
    let read = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut { out }, &mut bytes).unwrap();
        bytes
    });
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    Output { stdout: read.join().unwrap(), ..output }
}

fn analyze(args: &[&str]) -> Output {
    output(command(&[&["analyze", "--format", "json", "--no-progress"], args].concat()))
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The report, with the place of the histories replaced.
fn report(output: &Output, place: &str) -> String {
    assert!(!output.stdout.is_empty(), "{}", errors(output));
    String::from_utf8(output.stdout.clone()).unwrap().replace(place, "PLACE")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", errors(output)))
}

/// The only problem of a report.
fn problem(output: &Output) -> (String, String) {
    let report = json(output);
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    let text = |key: &str| problems[0][key].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}
