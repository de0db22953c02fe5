//! The progress bar: on a terminal, on standard error, and only on runs that last.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::{interrupt, logging};
use crate::engine::{Progress, SoFar};
use crate::units::Bytes;

/// Shorter runs show nothing.
const DELAY: Duration = Duration::from_millis(500);
/// Time between two looks at the counts.
const TICK: Duration = Duration::from_millis(100);

/// Whether standard error is a place for a bar.
pub(super) fn is_wanted() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && !dumb && !logging::is_on()
}

/// Does `work` and shows meanwhile how far it is. The bar is gone before this returns.
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
    let goes_on = |wait| ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
    if !goes_on(DELAY) {
        return;
    }
    // Each change may draw, so the first one has to be whole.
    let bar = ProgressBar::new(u64::MAX).with_message(words(progress.so_far()));
    interrupt::clear_on_interrupt(&bar);
    // The words come last: on a narrow terminal they are cut, and the line stays one.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {bar:20} {wide_msg}") {
        bar.set_style(style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ").progress_chars("━╸─"));
    }
    loop {
        let so_far = progress.so_far();
        let (done, all) = share(so_far);
        bar.set_length(all.max(1));
        bar.set_position(done);
        bar.set_message(words(so_far));
        bar.tick();
        if !goes_on(TICK) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// By bytes where they are known: histories differ in size by many thousand times.
fn share(so_far: SoFar) -> (u64, u64) {
    match so_far {
        SoFar { bytes_found: 0, .. } => (so_far.histories_read, so_far.histories_found.unwrap_or_default()),
        SoFar { bytes_read, bytes_found, .. } => (bytes_read, bytes_found),
    }
}

fn words(so_far: SoFar) -> String {
    let SoFar { histories_found, histories_read, bytes_found, bytes_read, findings } = so_far;
    let Some(found) = histories_found else { return "looking for histories".to_owned() };
    let bytes =
        (bytes_found > 0).then(|| format!("{} of {}", Bytes::new(bytes_read), Bytes::new(bytes_found)));
    let findings = match findings {
        0 => None,
        1 => Some("1 finding".to_owned()),
        2.. => Some(format!("{findings} findings")),
    };
    let words = [Some(format!("{histories_read}/{found} histories")), bytes, findings];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_what_is_known() {
        assert_eq!(words(SoFar::default()), "looking for histories");
        let stream = SoFar { histories_found: Some(1), ..SoFar::default() };
        assert_eq!(words(stream), "0/1 histories");
        assert_eq!(share(stream), (0, 1));
        let busy = SoFar {
            histories_found: Some(12),
            histories_read: 3,
            bytes_found: 4096,
            bytes_read: 1024,
            findings: 1,
        };
        assert_eq!(words(busy), "3/12 histories, 1 KiB of 4 KiB, 1 finding");
        assert_eq!(share(busy), (1024, 4096));
    }

    #[test]
    fn what_was_done_comes_back() {
        assert_eq!(show_while(&Progress::default(), || 7), 7);
    }
}
