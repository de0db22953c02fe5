//! Reads single values of an event: times, kinds, texts.

use std::borrow::Cow;

use super::ids::{IdSpace, TaskId};
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::table::{Locality, TaskKind};

/// Longer texts are truncated: they are only shown to people, and a hostile history may repeat them.
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

/// The end of the year 2199. Later times are damaged, and spans to them are meaningless.
const LAST_MOMENT: i64 = 7_258_118_399_999;

/// Reads times. Hadoop writes 0 or −1 for an unknown time; a synthetic history may count from 0, which shows
/// in the job's submission time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    pub(super) zero_is_one: bool,
}

/// Whether a number is valid as a time: a moment, or Hadoop's mark for an unknown time.
pub(super) fn is_moment(ms: i64) -> bool {
    (-1..=LAST_MOMENT).contains(&ms)
}

impl Moments {
    pub(super) fn read(self, ms: Option<i64>) -> Option<Timestamp> {
        let first = i64::from(!self.zero_is_one);
        ms.filter(|ms| (first..=LAST_MOMENT).contains(ms)).map(Timestamp::from_millis)
    }
}

/// The latest time of a history is believed only if another time lies within this span before it.
const LONG_SILENCE: Millis = Millis::from_secs(24 * 60 * 60);

/// After such a silence, times are believed only if they are at least as many as those before it: no history is written
/// for so long, because the tokens of its application end. Clocks are set, and histories are edited.
const LONGEST_SILENCE: Millis = Millis::from_secs(7 * 24 * 60 * 60);

/// An upper bound for the times of a history that lacks its end, if its latest times come so long after all others that
/// they must be wrong. `None` otherwise.
pub(super) fn latest_believed(times: impl Iterator<Item = Timestamp>) -> Option<Timestamp> {
    let mut times: Vec<Timestamp> = times.collect();
    times.sort_unstable();
    let count = times.len();
    let gaps = (1..).zip(times.iter().zip(times.iter().skip(1)));
    let unbelieved = |&(before, (one, next)): &(usize, (&Timestamp, &Timestamp))| {
        let after = count - before;
        (after == 1 && *next > *one + LONG_SILENCE) || (after < before && *next > *one + LONGEST_SILENCE)
    };
    let (_, (last, _)) = gaps.into_iter().find(unbelieved)?;
    Some(*last + LONG_SILENCE)
}

pub(super) fn set_text(slot: &mut Option<String>, text: Option<&Cow<'_, str>>) {
    if let Some(text) = text
        && !text.is_empty()
    {
        *slot = Some(truncate(text, MAX_TEXT_LEN).to_owned());
    }
}

/// The first `max` bytes of `text`, shortened to a character boundary.
pub(super) fn truncate(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_long_after_all_others_is_not_believed() {
        const DAY: i64 = 86_400_000;
        let bound = |times: &[i64]| latest_believed(times.iter().copied().map(Timestamp::from_millis));
        assert_eq!(bound(&[5, 11 * DAY, 7, 6]), Some(Timestamp::from_millis(7 + DAY)));
        // Two times confirm each other, whatever their order, unless more are against them.
        assert_eq!(bound(&[11 * DAY, 5, 11 * DAY + 1]), None);
        assert_eq!(bound(&[11 * DAY, 5, 7, 6, 11 * DAY + 1]), Some(Timestamp::from_millis(7 + DAY)));
        assert_eq!(bound(&[3 * DAY, 5, 7, 6, 3 * DAY + 1]), None);
        assert_eq!(bound(&[5, DAY]), None);
        assert_eq!(bound(&[5]), None);
        assert_eq!(bound(&[]), None);
    }
}
