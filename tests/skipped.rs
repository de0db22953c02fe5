//! Prints at the end of `cargo test` how many tests were skipped, and why. Cargo runs test programs in name order, so
//! this one is last.

// The other tests use the same file, but only to record skipped tests.
#![allow(dead_code, unreachable_pub, clippy::print_stdout, clippy::unwrap_used)]

#[path = "common/skipped.rs"]
mod skipped;

fn main() {
    // Tools that list tests before running them find none here.
    if !std::env::args().any(|argument| argument == "--list") {
        println!("\n{}\n", skipped::take_summary());
    }
}
