//! Runs one target on all files in some folders: `cargo run --example replay TARGET FOLDER...`. Prints failures and the
//! slowest input.

use std::panic::{AssertUnwindSafe, catch_unwind};

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap();
    elephant_rs_fuzz::init();
    let (_, target) = elephant_rs_fuzz::targets::TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    let (mut inputs, mut slowest, mut failed) = (0, (0.0, String::new()), 0);
    let start = std::time::Instant::now();
    for folder in args {
        for entry in walkdir::WalkDir::new(folder) {
            let entry = entry.unwrap();
            if !entry.file_type().is_file() {
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap();
            let started = std::time::Instant::now();
            if catch_unwind(AssertUnwindSafe(|| target(&bytes))).is_err() {
                failed += 1;
                println!("FAILED {}", entry.path().display());
            }
            let seconds = started.elapsed().as_secs_f64();
            if seconds > slowest.0 {
                slowest = (seconds, entry.path().display().to_string());
            }
            inputs += 1;
        }
    }
    println!(
        "{name}: {inputs} inputs, {failed} failed, {:.2} s, slowest {:.3} {}",
        start.elapsed().as_secs_f64(),
        slowest.0,
        slowest.1
    );
}
