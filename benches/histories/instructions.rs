//! Counts the instructions of two versions of the program. Unlike times, they do not depend on the machine's
//! load.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::input::{Content, Folder};
use crate::markdown::{Table, thousands};
use elephant_generate::spark::SparkJob;
use elephant_generate::spark::codec::Codec;
use elephant_generate::spark::recorded::Recorded;
use elephant_generate::{Format, Job};

const JOB: Job = Job { maps: 500, reduces: 20 };
const SPARK: SparkJob = SparkJob::of(1_000);
const CONTENTS: [Content; 9] = [
    Content::Spark(SparkJob::of(1), Codec::Plain),
    Content::Spark(SPARK, Codec::Plain),
    Content::Spark(SPARK, Codec::Zstd),
    Content::Spark(SPARK, Codec::Lz4),
    Content::Recorded(Recorded::Tasks, 32),
    Content::Recorded(Recorded::Queries, 10),
    Content::MapReduce(Format::AvroJson, JOB),
    Content::MapReduce(Format::AvroBinary, JOB),
    Content::MapReduce(Format::Hadoop1, JOB),
];
const FOLDER: Folder = Folder { histories: 100 };

/// Millions of instructions of two versions on the same small logs. Threads that wait for each other make the
/// counts vary between runs, by less than one in a thousand except for the smallest log.
pub(crate) fn compare(before: &str, after: &Path, data: &Path) -> io::Result<Table> {
    let before = if Path::new(before).is_file() { before.into() } else { build(before, data)? };
    CONTENTS.iter().try_for_each(|content| content.prepare(data))?;
    FOLDER.prepare(data)?;
    let single = CONTENTS
        .iter()
        .map(|content| (format!("{}, {} tasks", content.name(), content.tasks()), vec![content.path(data)]));
    let folder = (format!("{} small logs", FOLDER.histories), FOLDER.paths(data));
    let mut rows = Vec::new();
    for (name, paths) in single.chain([folder]) {
        eprintln!("{name}");
        let (old, new) = (count(&before, &paths)?, count(after, &paths)?);
        let millions = |count: u64| thousands(count as f64 / 1e6);
        rows.push(vec![name, millions(old), millions(new), format!("{:.4}", new as f64 / old as f64)]);
    }
    Ok(Table { head: vec!["input", "million instructions before", "after", "ratio"], rows })
}

/// Instructions of one run on one thread.
fn count(program: &Path, paths: &[PathBuf]) -> io::Result<u64> {
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["analyze", "--quiet", "--format", "json", "--jobs", "1"])
        .args(paths)
        // The stack address and the size of the environment would affect the count.
        .env_clear()
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("valgrind: {error}")))?;
    let output = String::from_utf8_lossy(&run.stderr);
    let count = output.lines().find_map(|line| line.rsplit_once("Collected : ")?.1.trim().parse().ok());
    count.filter(|_| run.status.success()).ok_or_else(|| io::Error::other(format!("valgrind: {output}")))
}

/// Builds a git revision, unless an earlier run has built it.
fn build(revision: &str, data: &Path) -> io::Result<PathBuf> {
    let commit = git(&["rev-parse", "--verify", "--short", &format!("{revision}^{{commit}}")])?;
    let executable = data.join(format!("elephant-rs-{commit}"));
    if executable.exists() {
        return Ok(executable);
    }
    let (tree, target) = (data.join(format!("tree-{commit}")), data.join("target"));
    git(&["worktree", "add", "--detach", "--force", &tree.to_string_lossy(), &commit])?;
    // Older revisions have no profile for packagers: there, `release` was built that way.
    let manifest = fs::read_to_string(tree.join("Cargo.toml"))?;
    let profile = if manifest.contains("[profile.dist]") { "dist" } else { "release" };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--profile", profile, "--bin", "elephant-rs", "--target-dir"])
        .arg(&target)
        .current_dir(&tree)
        .status();
    git(&["worktree", "remove", "--force", &tree.to_string_lossy()])?;
    if !status?.success() {
        return Err(io::Error::other(format!("{revision} cannot be built")));
    }
    fs::copy(target.join(profile).join("elephant-rs"), &executable)?;
    Ok(executable)
}

fn git(arguments: &[&str]) -> io::Result<String> {
    let run = Command::new("git").args(arguments).output()?;
    if !run.status.success() {
        let message = format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&run.stderr));
        return Err(io::Error::other(message));
    }
    Ok(String::from_utf8_lossy(&run.stdout).trim().to_owned())
}
