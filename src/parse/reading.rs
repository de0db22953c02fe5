//! How single values of an event are read: moments, kinds, texts.

use std::borrow::Cow;

use super::ids::{IdSpace, TaskId};
use crate::model::table::{Locality, TaskKind};
use crate::units::Timestamp;

/// Texts longer than this are cut: they are for people, and a hostile history may repeat them.
pub(super) const MAX_TEXT_LEN: usize = 8 << 10;

pub(super) fn task_kind(task_type: Option<&str>, id: TaskId) -> TaskKind {
    match task_type {
        Some("SETUP" | "JOB_SETUP") => TaskKind::Setup,
        Some("CLEANUP" | "JOB_CLEANUP" | "TASK_CLEANUP") => TaskKind::Cleanup,
        Some("MAP") => TaskKind::Map,
        Some("REDUCE") => TaskKind::Reduce,
        _ => match id.space {
            IdSpace::Map => TaskKind::Map,
            IdSpace::Reduce => TaskKind::Reduce,
        },
    }
}

pub(super) fn locality(text: &str) -> Option<Locality> {
    match text {
        "NODE_LOCAL" | "DATA_LOCAL" => Some(Locality::NodeLocal),
        "RACK_LOCAL" => Some(Locality::RackLocal),
        "OFF_SWITCH" => Some(Locality::OffSwitch),
        _ => None,
    }
}

/// The end of the year 9999. What lies behind it is no time of day, and spans to it are longer than any clock ran.
const LAST_MOMENT: i64 = 253_402_300_799_999;

/// Reads moments. Hadoop writes 0 or −1 for one that it does not know; a history that was made up may count
/// its times from 0, which the submission of its job gives away.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    pub(super) zero_is_one: bool,
}

/// Whether a time may stand in a history: a moment, or what Hadoop writes for none.
pub(super) fn is_moment(ms: i64) -> bool {
    (-1..=LAST_MOMENT).contains(&ms)
}

impl Moments {
    pub(super) fn read(self, ms: Option<i64>) -> Option<Timestamp> {
        let first = i64::from(!self.zero_is_one);
        ms.filter(|ms| (first..=LAST_MOMENT).contains(ms)).map(Timestamp::from_millis)
    }
}

pub(super) fn set_text(slot: &mut Option<String>, text: Option<&Cow<'_, str>>) {
    if let Some(text) = text
        && !text.is_empty()
    {
        *slot = Some(cut(text, MAX_TEXT_LEN).to_owned());
    }
}

/// The first `max` bytes of `text`, never inside a character.
pub(super) fn cut(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}
