//! A window that grows geometrically, so that retries stay cheap, and remembers why it stopped growing.

use std::io::{self, Read};

use elephant_input::window::ByteWindow;

pub(super) struct Source<R> {
    window: ByteWindow<R>,
    failure: Option<io::Error>,
}

impl<R: Read> Source<R> {
    pub(super) fn new(window: ByteWindow<R>) -> Self {
        Self { window, failure: None }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.window.bytes()
    }

    pub(super) fn offset(&self) -> u64 {
        self.window.offset()
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.window.consume(count);
    }

    /// The error that ended the stream, if any. The bytes before it are in the window.
    pub(super) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// At least doubles the window unless the stream ends, so that the cost of restarting with each longer
    /// window stays proportional to the final length. Returns whether the window grew.
    pub(super) fn grow(&mut self) -> bool {
        let before = self.bytes().len();
        while self.bytes().len() < before.saturating_mul(2).max(1) {
            match self.window.extend() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        self.bytes().len() > before
    }
}
