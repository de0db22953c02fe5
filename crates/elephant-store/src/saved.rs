//! What remedies save, in the units of the store.

use super::record::rounded;
use super::{MB_SECONDS_PER_GB_HOUR, MS_PER_HOUR};
use elephant_engine::results::ApplicationReport;
use elephant_verdict::savings::{Amounts, Range};
use elephant_verdict::troubles::{Recommended, Trouble};

/// Savings in the units of the tables.
#[derive(Default)]
pub(super) struct Saved {
    /// The time that is expected to be saved.
    pub(super) time: Option<i64>,
    /// What may be saved in addition, if only that is known of a trouble.
    pub(super) limit: Option<i64>,
    pub(super) memory: Option<i64>,
    pub(super) cores: Option<i64>,
}

/// What a setting saves: of each trouble that calls for it, an equal part with the other settings that it calls for.
pub(super) fn saved_by(recommended: &Recommended, app: &ApplicationReport) -> Saved {
    let calls_for = |trouble: &&Trouble| recommended.why.contains(&trouble.id);
    let mut sum = Saved::default();
    for trouble in app.troubles.iter().filter(calls_for) {
        let settings = app.recommended.iter().filter(|other| other.why.contains(&trouble.id)).count();
        let part = |saved: i64| saved / i64::try_from(settings.max(1)).unwrap_or(i64::MAX);
        let saved = Saved::by(trouble);
        let add = |sum: &mut Option<i64>, saved: Option<i64>| {
            if let Some(saved) = saved {
                *sum = Some(sum.unwrap_or_default().saturating_add(part(saved)));
            }
        };
        add(&mut sum.memory, saved.memory);
        add(&mut sum.time, saved.time);
    }
    sum
}

impl Saved {
    /// What the remedy of a trouble saves.
    pub(super) fn by(trouble: &Trouble) -> Self {
        let (limit, share) = (trouble.savings.limit_of_time(), trouble.savings.share);
        let expected = |share: Amounts| match limit {
            Some(limit) => (Amounts { wall_ms: Range::default(), ..share }, Some(limit.high)),
            None => (share, None),
        };
        Self::of(share.map(expected))
    }

    /// Amounts that are expected, and an upper limit of more time.
    pub(super) fn of(amounts: Option<(Amounts, Option<f64>)>) -> Self {
        amounts.map_or_else(Self::default, |(amounts, limit)| Self {
            time: Some(rounded(amounts.wall_ms.point)),
            limit: limit.map(rounded),
            memory: amounts.gb_hours.map(|range| rounded(range.point * MB_SECONDS_PER_GB_HOUR)),
            cores: amounts.core_hours.map(|range| rounded(range.point * MS_PER_HOUR)),
        })
    }
}
