//! Complete reports on the recordings in `testdata/spark`, as a user sees them.

use std::process::Command;

/// Recordings, and the names of their snapshots. The files in `containers` are written by Spark 4.3 with default
/// settings.
const RECORDINGS: [(&str, &str); 9] = [
    ("3.5.9/skew", "skew"),
    ("3.5.9/gc", "gc"),
    ("3.5.9/failures", "failures"),
    ("3.5.9/execkill", "execkill"),
    ("3.5.9/healthy", "healthy"),
    ("3.5.9/inprogress-lz4", "inprogress-lz4"),
    ("3.1.3/failures", "failures-3.1.3"),
    ("2.4.8/failures", "failures-2.4.8"),
    ("containers", "defaults-4.3.0"),
];

/// Standard output and standard error of the tool.
fn analyze(folder: &str, format: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_elephant-rs"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("LC_ALL", "C.UTF-8")
        .args(["analyze", "--format", format])
        .arg(["testdata/spark/", folder].concat())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let warnings = String::from_utf8(output.stderr).unwrap();
    if warnings.is_empty() || format == "json" {
        return printed;
    }
    [&printed, "--- standard error\n", &warnings].concat()
}

#[test]
fn reports() {
    elephant_testing::with_snapshots("reports/spark", || {
        for (folder, name) in RECORDINGS {
            insta::assert_snapshot!([name, ".txt"].concat(), analyze(folder, "text"));
            insta::assert_snapshot!([name, ".json"].concat(), analyze(folder, "json"));
        }
    });
}

#[test]
fn every_recording_has_a_snapshot() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/spark");
    let files = walkdir::WalkDir::new(&root).into_iter().map(Result::unwrap);
    for file in files.filter(|entry| entry.file_type().is_file()) {
        let below = file.path().strip_prefix(&root).unwrap();
        assert!(RECORDINGS.iter().any(|(folder, _)| below.starts_with(folder)), "{}", below.display());
    }
}
