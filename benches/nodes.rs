//! Ranks the nodes of a cluster as large as S1's: 12,500 nodes and ten million tasks in jobs of 117,
//! including all fits.
//!
//! `cargo bench --bench nodes` prints CPU seconds and peak memory; `-- --quick` uses a tenth of the tasks and
//! nodes. Nothing is asserted, because machines differ.

#![allow(clippy::print_stdout)] // the tables go to the terminal

use std::fs;
use std::time::Instant;

use elephant_base::units::{Millis, Timestamp};
use elephant_base::whole::Whole;
use elephant_engine::nodes::cluster::Cluster;
use elephant_engine::nodes::collect::{Hosts, Sample};
use elephant_engine::nodes::run::{Host, Run};
use elephant_engine::nodes::settings::Settings;
use elephant_engine::nodes::{NodeTypes, rank};
use rayon::prelude::*;

/// Tasks per job: S1 has 10,894,461 tasks in 92,848 jobs.
const TASKS_OF_A_JOB: u64 = 117;
/// Number of days that the jobs cover.
const DAYS: u64 = 29;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("nodes: runs with `cargo bench` only");
        return;
    }
    let tenth = if arguments.iter().any(|argument| argument == "--quick") { 10 } else { 1 };
    let (nodes, tasks) = (12_500 / tenth, 10_000_000 / tenth);
    let (started, before) = (Instant::now(), cpu_seconds());
    let settings = Settings::default();
    let hosts = Hosts::default();
    let known: Vec<Option<Host>> =
        (0..nodes).map(|node| hosts.host(&format!("node{node:05}.example.com"), None)).collect();
    let jobs = tasks / TASKS_OF_A_JOB;
    let samples: Vec<Sample> = (0..jobs)
        .into_par_iter()
        .map(|job| {
            let mut sample = Sample::default();
            sample.add_group(&runs(job, jobs, &known), &settings);
            sample
        })
        .collect();
    let mut cluster = Cluster::default();
    for sample in samples {
        cluster.add(&sample);
    }
    let collected = cpu_seconds();
    let ranking = rank(cluster, hosts, &NodeTypes::default(), &settings);
    let done = cpu_seconds();
    let summary = &ranking.summary;
    println!("{} tasks on {} nodes, {} levels", summary.groups.tasks, summary.nodes, summary.levels.len());
    let span = |from: Option<f64>, to: Option<f64>| {
        from.zip(to).map_or_else(|| "unknown".to_owned(), |(from, to)| format!("{:.1} s", to - from))
    };
    println!(
        "CPU: {} to generate and score tasks, {} to fit and rank",
        span(before, collected),
        span(collected, done)
    );
    println!("CPU total: {}, wall time {:.1} s", span(before, done), started.elapsed().as_secs_f64());
    let peak =
        status("VmHWM:").map_or_else(|| "unknown".to_owned(), |kib| format!("{:.0} MiB", kib / 1024.0));
    println!("peak memory: {peak}");
}

/// The tasks of a job: lognormal durations on random nodes, some nodes slightly slower or faster than others.
fn runs(job: u64, jobs: u64, hosts: &[Option<Host>]) -> Vec<Run> {
    let start = Timestamp::from_millis((1_700_000_000_000 + job * DAYS * 86_400_000 / jobs).cast_signed());
    let mut state = job;
    let mut uniform = move || {
        // `SplitMix64` (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state ^ (job << 32);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
    };
    (0..TASKS_OF_A_JOB)
        .map(|_| {
            let place = uniform() * hosts.len() as f64;
            let host = hosts.get(place.as_usize()).copied().flatten();
            let slowness = (place.floor() * 0.618_034).fract() - 0.5;
            let normal = (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
            let run_time = Millis::from_f64(60_000.0 * (0.35 * normal + 0.1 * slowness).exp());
            Run { host, start: Some(start), time: run_time.unwrap_or_default(), overtaken: false }
        })
        .collect()
}

/// CPU time of this process so far; `None` if the system has no Linux-style `/proc`.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<f64>().ok();
    // User and system time, in hundredths of a second on every Linux that Rust supports.
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// A number from `/proc/self/status`.
fn status(key: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}
