//! What garbage collection and spilling add to the time of a task: upper bounds, because logs do not tell what a task
//! would have done without them.

use super::Micros;
use elephant_base::whole::Whole;

/// A share in thousandths, which has a total order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PerMille(u32);

impl PerMille {
    /// Rounds a share; from 0 to 1.
    #[must_use]
    pub fn of_share(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * 1000.0).round().as_u32())
    }

    fn share(self) -> f64 {
        f64::from(self.0) / 1000.0
    }

    /// This part of a time.
    pub(super) fn of(self, time: Micros) -> Micros {
        Micros::from_f64(time.as_f64() * self.share())
    }
}

/// The highest assumed speed at which spilled data are written to the disk, and read back from it, in bytes per second.
/// They are serialized and compressed on the way, so a fast disk helps little.
pub(super) const DISK_SPEED: f64 = 200.0 * 1024.0 * 1024.0;

/// A task would take at least this share of its time if it did not spill, because it also reads, computes and writes.
const OTHER_WORK: f64 = 0.5;

/// How much shorter a task of `time` is if its garbage collections, which took `collections`, take at most the share
/// `limit` of the remaining time.
pub(super) fn beyond_limit(time: Micros, collections: Micros, limit: PerMille) -> Micros {
    let collections = collections.min(time).as_f64();
    let work = time.as_f64() - collections;
    let rest = 1.0 - limit.share();
    let allowed = if rest > 0.0 { work * limit.share() / rest } else { f64::INFINITY };
    Micros::from_f64((collections - allowed).max(0.0))
}

/// How much shorter a task of `time` is if it does not write `bytes` to the disk and read them again at `speed`, in
/// bytes per second.
pub(super) fn spill_time(time: Micros, bytes: u64, speed: f64) -> Micros {
    let moved = 2.0 * bytes as f64 / speed.max(1.0) * 1e6;
    Micros::from_f64(moved.min(time.as_f64() * (1.0 - OTHER_WORK)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_collections_is_within_the_limit() {
        let ms = Micros::from_millis;
        // 50 of 80 seconds: 30 are work, and a tenth of 33.3 is left.
        let saved = beyond_limit(ms(80_000), ms(50_000), PerMille::of_share(0.1));
        let (time, left) = (80_000_000.0 - saved.as_f64(), 50_000_000.0 - saved.as_f64());
        assert!((left / time - 0.1).abs() < 1e-6, "{saved:?}");
        assert_eq!(beyond_limit(ms(100), ms(10), PerMille::of_share(0.1)), Micros::ZERO);
        assert_eq!(beyond_limit(ms(100), ms(10), PerMille::of_share(0.0)), ms(10));
        assert_eq!(beyond_limit(ms(100), ms(100), PerMille::of_share(1.0)), Micros::ZERO);
        // Collections of a JVM that runs several tasks may be longer than one of them.
        assert_eq!(beyond_limit(ms(100), ms(500), PerMille::of_share(0.1)), ms(100));
        assert_eq!(PerMille::of_share(f64::NAN), PerMille::of_share(0.0));
    }

    #[test]
    fn spilled_bytes_pass_twice_and_leave_time_for_work() {
        let ms = Micros::from_millis;
        assert_eq!(spill_time(ms(10_000), 100, 100.0), ms(2000));
        assert_eq!(spill_time(ms(3000), 100, 100.0), ms(1500));
        assert_eq!(spill_time(ms(3000), 0, 100.0), Micros::ZERO);
    }
}
