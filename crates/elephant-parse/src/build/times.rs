//! The times of attempts.

use elephant_base::units::Timestamp;
use elephant_model::model::table::{TaskGroup, TimePoint};

/// The starts and ends of all attempts.
pub(super) fn times(group: &TaskGroup) -> impl Iterator<Item = Timestamp> {
    let attempts = &group.attempts;
    let of_row = |row| [TimePoint::Start, TimePoint::Finish].map(|point| attempts.time(row, point));
    (0..attempts.len()).flat_map(of_row).flatten()
}
