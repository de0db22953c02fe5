//! The progress bar: on standard error, only on a terminal, and only for long runs.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::{interrupt, locale, logging};
use elephant_base::units::Bytes;
use elephant_engine::engine::{Progress, SoFar};

/// Shorter runs show no bar.
const DELAY: Duration = Duration::from_millis(500);
/// Time between two updates.
const TICK: Duration = Duration::from_millis(100);

/// Whether standard error can show a bar.
pub(super) fn is_wanted() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && !dumb && !logging::is_on()
}

/// Runs `work` with a progress bar, which is cleared before this returns.
pub(super) fn show_while<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (running, ended) = channel::<()>();
        scope.spawn(move || draw(progress, &ended));
        let result = work();
        drop(running);
        result
    })
}

fn draw(progress: &Progress, ended: &Receiver<()>) {
    let still_running = |wait| ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
    if !still_running(DELAY) {
        return;
    }
    // Every change may draw the bar, so it has its message from the start.
    let bar = ProgressBar::new(u64::MAX).with_message(message(progress.so_far()));
    interrupt::clear_on_interrupt(&bar);
    // The message comes last, so a narrow terminal cuts it and the bar stays on one line.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {bar:20} {wide_msg}") {
        bar.set_style(if locale::is_ascii() {
            style.tick_chars("|/-\\ ").progress_chars("=>-")
        } else {
            style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ").progress_chars("━╸─")
        });
    }
    loop {
        let so_far = progress.so_far();
        let (done, all) = share(so_far);
        bar.set_length(all.max(1));
        bar.set_position(done);
        bar.set_message(message(so_far));
        bar.tick();
        if !still_running(TICK) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// Done and total, in bytes if known, because sizes of histories differ by factors of thousands.
fn share(so_far: SoFar) -> (u64, u64) {
    match so_far {
        SoFar { bytes_found: 0, .. } => (so_far.histories_read, so_far.histories_found.unwrap_or_default()),
        SoFar { bytes_read, bytes_found, .. } => (bytes_read, bytes_found),
    }
}

fn message(so_far: SoFar) -> String {
    let SoFar { histories_found, histories_read, bytes_found, bytes_read, findings } = so_far;
    let Some(found) = histories_found else { return "looking for histories".to_owned() };
    let bytes =
        (bytes_found > 0).then(|| format!("{} of {}", Bytes::new(bytes_read), Bytes::new(bytes_found)));
    let findings = match findings {
        0 => None,
        1 => Some("1 finding".to_owned()),
        2.. => Some(format!("{findings} findings")),
    };
    let parts = [Some(format!("{histories_read}/{found} histories")), bytes, findings];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_contains_the_known_counts() {
        assert_eq!(message(SoFar::default()), "looking for histories");
        let stream = SoFar { histories_found: Some(1), ..SoFar::default() };
        assert_eq!(message(stream), "0/1 histories");
        assert_eq!(share(stream), (0, 1));
        let busy = SoFar {
            histories_found: Some(12),
            histories_read: 3,
            bytes_found: 4096,
            bytes_read: 1024,
            findings: 1,
        };
        assert_eq!(message(busy), "3/12 histories, 1 KiB of 4 KiB, 1 finding");
        assert_eq!(share(busy), (1024, 4096));
    }

    #[test]
    fn result_of_the_work_is_returned() {
        assert_eq!(show_while(&Progress::default(), || 7), 7);
    }
}
