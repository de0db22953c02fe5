//! Tells at the end of `cargo test` how many tests were skipped, and why. Cargo runs test programs in the order of their
//! names, so that this one is the last.

// The same file is used by the tests, which only note what they skip.
#![allow(dead_code, unreachable_pub, clippy::print_stdout, clippy::unwrap_used)]

#[path = "common/skipped.rs"]
mod skipped;

fn main() {
    // Tools that list tests before they run them find none here.
    if !std::env::args().any(|argument| argument == "--list") {
        println!("\n{}\n", skipped::take_summary());
    }
}
