//! The date, machine and versions of a measurement.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::DateTime;

/// The date, machine, system, compiler and program version, in one line.
pub(crate) fn describe(program: &Path) -> String {
    let parts = [
        date(),
        Some(processor()),
        system(),
        output("rustc", ["--version"]).map(|text| text.split(" (").next().unwrap_or_default().to_owned()),
        version(program),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn date() -> Option<String> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    let time = DateTime::from_timestamp(i64::try_from(seconds).ok()?, 0)?;
    Some(time.format("%Y-%m-%d %H:%M UTC").to_string())
}

fn processor() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map(|(_, name)| name.trim().to_owned());
    let model = model.or_else(|| output("sysctl", ["-n", "machdep.cpu.brand_string"]));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next());
    let memory = memory.and_then(|kib| kib.parse::<f64>().ok());
    let memory = memory.map_or_else(String::new, |kib| format!(", {:.0} GB of memory", kib * 1024.0 / 1e9));
    format!("{}, {cores} cores{memory}", model.unwrap_or_else(|| "unknown processor".to_owned()))
}

fn system() -> Option<String> {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let kernel = output("uname", ["-s", "-r"])?;
    Some(name.map_or_else(|| kernel.clone(), |name| format!("{}, {kernel}", name.trim_matches('"'))))
}

/// The program's version; for the program just built also the commit that is checked out.
fn version(program: &Path) -> Option<String> {
    let version = output(program, ["--version"])?;
    let just_built = program == Path::new(env!("CARGO_BIN_EXE_elephant-rs"));
    let commit = || output("git", ["describe", "--always", "--dirty", "--exclude", "*"]);
    let commit = just_built.then(commit).flatten();
    Some(commit.map_or_else(|| version.clone(), |commit| format!("{version} ({commit})")))
}

/// The machine's load average; `None` if the system has no Linux-style `/proc`.
pub(crate) fn load() -> Option<String> {
    let loadavg = fs::read_to_string("/proc/loadavg").ok()?;
    Some(loadavg.split_whitespace().next()?.to_owned())
}

/// Peak memory of this process, as Linux reports it.
pub(crate) fn own_peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

fn output<const N: usize>(program: impl AsRef<OsStr>, arguments: [&str; N]) -> Option<String> {
    let run = Command::new(program).args(arguments).output().ok().filter(|run| run.status.success())?;
    Some(String::from_utf8(run.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}
