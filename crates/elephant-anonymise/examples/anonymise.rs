//! Rewrites a history: `cargo run -p elephant-anonymise --example anonymise IN OUT KEY`.
#![allow(missing_docs, clippy::print_stdout)]
use elephant_anonymise::{Key, Options, anonymise};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, input, output, key] = args.as_slice() else { return };
    let options = Options {
        key: Some(Key::of_text(key.as_bytes())),
        force: true,
        limits: elephant_base::limits::Limits::default(),
    };
    match anonymise(input.as_ref(), output.as_ref(), &options) {
        Ok(report) => println!("{report}"),
        Err(error) => println!("error: {error}"),
    }
}
