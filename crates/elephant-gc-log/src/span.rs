//! The time that a log covers.

use std::time::Duration;

use elephant_base::units::Timestamp;

use crate::stamp::Stamp;

/// Uptime that falls by more than this belongs to another run of the JVM: threads that write at the same time differ by
/// milliseconds.
const RESTART: Duration = Duration::from_secs(1);

/// A wall clock that falls by more than this many milliseconds was set back.
const SET_BACK: i64 = 1000;

/// From the first to the last stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The time covered: by uptime where it is logged, otherwise by the wall clock. A restart of the JVM is left out.
    pub length: Duration,
    /// The first date.
    pub start: Option<Timestamp>,
    /// The last date.
    pub end: Option<Timestamp>,
    /// Number of runs of the JVM: how often the uptime starts again, plus one.
    pub runs: u32,
    /// How often the wall clock was set back.
    pub clock_set_back: u32,
}

/// Collects stamps.
#[derive(Debug, Default)]
pub(crate) struct Stamps {
    uptime: Segments<Duration>,
    wall: Segments<Timestamp>,
    first_wall: Option<Timestamp>,
}

/// Stretches of time between which a clock fell back.
#[derive(Debug)]
struct Segments<T> {
    current: Option<(T, T)>,
    ended: Duration,
    falls: u32,
}

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Self { current: None, ended: Duration::ZERO, falls: 0 }
    }
}

impl<T: Copy + Ord> Segments<T> {
    /// Adds a time; returns whether the clock fell back.
    fn add(&mut self, at: T, between: impl Fn(T, T) -> Duration, limit: Duration) -> bool {
        match &mut self.current {
            None => self.current = Some((at, at)),
            Some((first, last)) if at < *last && between(at, *last) > limit => {
                self.ended = self.ended.saturating_add(between(*first, *last));
                self.falls = self.falls.saturating_add(1);
                self.current = Some((at, at));
                return true;
            }
            Some((first, last)) => {
                *first = at.min(*first);
                *last = at.max(*last);
            }
        }
        false
    }

    fn length(&self, between: impl Fn(T, T) -> Duration) -> Option<Duration> {
        self.current.map(|(first, last)| self.ended.saturating_add(between(first, last)))
    }
}

fn wall_between(from: Timestamp, to: Timestamp) -> Duration {
    let millis = i128::from(to.as_millis()) - i128::from(from.as_millis());
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

fn uptime_between(from: Duration, to: Duration) -> Duration {
    to.saturating_sub(from)
}

impl Stamps {
    /// Adds the stamp of a line; returns whether another run of the JVM begins with it.
    pub(crate) fn add(&mut self, stamp: Stamp) -> bool {
        if let Some(wall) = stamp.wall {
            self.first_wall = self.first_wall.or(Some(wall));
            let limit = Duration::from_millis(SET_BACK.unsigned_abs());
            self.wall.add(wall, wall_between, limit);
        }
        stamp.uptime.is_some_and(|uptime| self.uptime.add(uptime, uptime_between, RESTART))
    }

    pub(crate) fn span(&self) -> Option<Span> {
        let uptime = self.uptime.length(uptime_between);
        Some(Span {
            length: uptime.or_else(|| self.wall.length(wall_between))?,
            start: self.first_wall,
            end: self.wall.current.map(|(_, last)| last),
            runs: self.uptime.falls.saturating_add(1),
            clock_set_back: self.wall.falls,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(wall: Option<i64>, uptime: Option<u64>) -> Stamp {
        Stamp { wall: wall.map(Timestamp::from_millis), uptime: uptime.map(Duration::from_millis) }
    }

    fn span(stamps: &[Stamp]) -> Option<Span> {
        let mut all = Stamps::default();
        for stamp in stamps {
            all.add(*stamp);
        }
        all.span()
    }

    #[test]
    fn without_stamps_the_span_is_unknown() {
        assert_eq!(span(&[]), None);
        assert_eq!(span(&[Stamp::default()]), None);
    }

    #[test]
    fn uptime_wins_over_a_clock_that_was_set_back() {
        let span = span(&[at(Some(60_000), Some(5)), at(Some(0), Some(80_005))]).unwrap();
        assert_eq!(span.length, Duration::from_secs(80));
        assert_eq!((span.runs, span.clock_set_back), (1, 1));
    }

    #[test]
    fn a_restart_adds_its_own_time() {
        let span = span(&[
            at(None, Some(1_000)),
            at(None, Some(9_000)),
            at(None, Some(8_990)),
            at(None, Some(10)),
            at(None, Some(2_010)),
        ])
        .unwrap();
        assert_eq!(span.length, Duration::from_secs(10));
        assert_eq!(span.runs, 2);
    }

    #[test]
    fn dates_alone_give_a_span() {
        assert_eq!(
            span(&[at(Some(1_000), None), at(Some(4_000), None)]).unwrap().length,
            Duration::from_secs(3)
        );
        assert_eq!(
            span(&[at(Some(i64::MIN), None), at(Some(i64::MAX), None)]).unwrap().length,
            Duration::from_millis(u64::MAX)
        );
    }
}
