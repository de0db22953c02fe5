//! Reports each thing once.

use std::io;
use std::sync::Arc;

use super::application::{Flag, Identity};
use super::state::{self, State};
use super::{Tell, Told};
use crate::units::Timestamp;

/// The record of what was reported, and the number of flags.
pub(super) struct Teller {
    pub(super) state: State,
    pub(super) flagged: u64,
}

/// Whether an application was reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Introduced(bool);

impl Teller {
    /// Reports a flag, unless this or an earlier run reported it. Only reported flags are withdrawn.
    pub(super) fn flag(&mut self, flag: Flag, source: &str, tell: &mut Tell<'_>) -> io::Result<()> {
        let mut key = state::key(&flag, source);
        let was_told = !self.state.is_new(&key);
        if flag.had_ended.is_some() != was_told {
            return Ok(());
        }
        if was_told {
            key.push_str(" withdrawn");
            if !self.state.is_new(&key) {
                return Ok(());
            }
        }
        tell(&Told::Flag(Box::new(flag)))?;
        self.flagged += u64::from(!was_told);
        self.state.record(key)
    }
}

impl Introduced {
    /// Reports that an application is watched, the first time.
    pub(super) fn introduce(
        &mut self,
        identity: &Arc<Identity>,
        source: &str,
        tell: &mut Tell<'_>,
    ) -> io::Result<()> {
        if std::mem::replace(&mut self.0, true) {
            return Ok(());
        }
        tell(&Told::Application { identity: Arc::clone(identity), source: source.to_owned() })
    }

    /// Reports that it has ended, if it was reported before.
    pub(super) fn end(
        &self,
        identity: Arc<Identity>,
        source: String,
        at: Option<Timestamp>,
        tell: &mut Tell<'_>,
    ) -> io::Result<()> {
        if self.0 { tell(&Told::End { identity, source, at }) } else { Ok(()) }
    }

    /// Whether it was reported.
    pub(super) const fn is_done(&self) -> bool {
        self.0
    }
}
