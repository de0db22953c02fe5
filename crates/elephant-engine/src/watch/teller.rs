//! Reports each thing once.

use std::io;
use std::sync::Arc;

use super::application::{Flag, Identity};
use super::state::{self, State};
use super::{Tell, Told};
use elephant_base::units::Timestamp;

/// The record of what was reported, and the number of flags.
pub(super) struct Teller {
    pub(super) state: State,
    pub(super) flagged: u64,
    /// The message that a flag is sent as; `None` if nothing is sent.
    #[cfg(feature = "http")]
    pub(super) to_message: Option<super::ToMessage>,
}

/// Whether an application was reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Introduced(bool);

impl Teller {
    pub(super) const fn of(state: State) -> Self {
        Self {
            state,
            flagged: 0,
            #[cfg(feature = "http")]
            to_message: None,
        }
    }

    /// Reports a flag, unless this or an earlier run reported it. Only reported flags are withdrawn. The state is
    /// written at once: a log that is caught up with has many flags, and a kill must not repeat more than the last one.
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
        let told = Told::Flag(Box::new(flag));
        tell(&told)?;
        self.flagged += u64::from(!was_told);
        #[cfg(feature = "http")]
        if let Some(to_message) = self.to_message {
            self.state.queue(to_message(&told)?)?;
        }
        self.state.record(key)?;
        self.state.flush()
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

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_analysis::stragglers::live::{Flagged, Launch};
    use elephant_base::units::Millis;
    use elephant_model::model::table::TaskKind;

    fn flag(task: u32) -> Flag {
        let at = Timestamp::from_millis(1_000);
        let launch =
            Launch { id: u64::from(task), task, attempt: Some(0), host: None, at, speculative: false };
        Flag {
            application: Arc::default(),
            detector: "late",
            group: TaskKind::Map,
            group_name: None,
            flagged: Flagged {
                detector: 0,
                launch,
                at: Timestamp::from_millis(9_000),
                elapsed: Millis::new(8_000),
                median: None,
                compared: None,
            },
            known_until: None,
            had_ended: None,
        }
    }

    #[test]
    fn each_flag_is_noted_in_the_file_before_the_next_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let mut teller = Teller::of(State::open(&path).unwrap());
        let noted = || std::fs::read_to_string(&path).unwrap().lines().count();
        let mut told = Vec::new();
        // The last is known.
        for task in [0, 1, 2, 1] {
            let mut tell = |_: &Told| {
                told.push(noted());
                Ok(())
            };
            teller.flag(flag(task), "log", &mut tell).unwrap();
        }
        assert_eq!((told, noted(), teller.flagged), (vec![0, 1, 2], 3, 3));
    }
}
