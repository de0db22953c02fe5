use elephant_rs::{input::window::ByteWindow, model::{table::Outcome, counters::Counter}, parse::jhist::json};
fn main() {
    for path in std::env::args().skip(1) {
        let t = std::time::Instant::now();
        let parsed = json::parse(ByteWindow::new(std::fs::File::open(&path).unwrap()));
        let el = t.elapsed();
        for app in &parsed.applications {
            println!("{path}\n  {} {:?} {:?} complete={} {:?}", app.id, app.name, app.status, app.complete, el);
            for g in &app.groups {
                println!("   {:?} tasks {} ok {} attempts {} spec {} input {:?}", g.kind, g.tasks.len(), g.count_tasks(Outcome::Succeeded), g.attempts.len(), (0..g.attempts.len()).filter(|&r| g.attempts.is_speculative(r)==Some(true)).count(),
                  g.winners().filter_map(|r| g.attempts.counter(r, Counter::HdfsBytesRead)).sum::<i64>());
            }
        }
        for p in parsed.problems.into_vec() { println!("   {p:?}"); }
    }
}
