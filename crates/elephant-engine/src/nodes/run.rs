//! Attempts that are compared, and their hosts.

use elephant_base::state::State;
use elephant_base::units::{Millis, Timestamp};

/// A host, as an index into [`Hosts`](super::collect::Hosts).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, State)]
pub struct Host(u32);

impl Host {
    pub(super) const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its index.
    #[must_use]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A successful attempt, or an original that its copy overtook.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// The host it ran on.
    pub host: Option<Host>,
    /// Its start.
    pub start: Option<Timestamp>,
    /// Time from start to end.
    pub time: Millis,
    /// Whether a copy won: then the attempt would have taken longer than `time`.
    pub overtaken: bool,
}
