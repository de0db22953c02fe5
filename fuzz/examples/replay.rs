use std::panic::{AssertUnwindSafe, catch_unwind};
fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap();
    elephant_rs_fuzz::init();
    let (_, target) = elephant_rs_fuzz::targets::TARGETS.iter().find(|(n, _)| *n == name).unwrap();
    let (mut n, mut slow, mut failed) = (0, (0.0, String::new()), 0);
    let start = std::time::Instant::now();
    for folder in args {
        for e in walkdir::WalkDir::new(folder) {
            let e = e.unwrap();
            if !e.file_type().is_file() {
                continue;
            }
            let bytes = std::fs::read(e.path()).unwrap();
            let t = std::time::Instant::now();
            if catch_unwind(AssertUnwindSafe(|| target(&bytes))).is_err() {
                failed += 1;
                println!("FAILED {}", e.path().display());
            }
            let s = t.elapsed().as_secs_f64();
            if s > slow.0 {
                slow = (s, e.path().display().to_string());
            }
            n += 1;
        }
    }
    println!(
        "{name}: {n} inputs, {failed} failed, {:.2} s, slowest {:.3} {}",
        start.elapsed().as_secs_f64(),
        slow.0,
        slow.1
    );
}
