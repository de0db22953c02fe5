//! Parts that most owners lack.

use std::ops::{Deref, DerefMut};

/// A value that is the same for everything of which the log says nothing.
pub trait Unsaid: Clone + 'static {
    /// That value.
    const UNSAID: &'static Self;
}

/// A part that takes space only once it is written to: a log may name a million executors and say no more of them.
#[derive(Debug, Clone)]
pub struct Rare<T>(Option<Box<T>>);

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<T> for Rare<T> {
    fn from(value: T) -> Self {
        Self(Some(Box::new(value)))
    }
}

impl<T: Unsaid> Deref for Rare<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::UNSAID)
    }
}

impl<T: Unsaid> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_with(|| Box::new(T::UNSAID.clone()))
    }
}

#[cfg(test)]
mod tests {
    use crate::model::spark::{Executor, ExecutorMetric};

    #[test]
    fn executor_of_which_little_is_known_is_small() {
        assert!(size_of::<Executor>() <= 160, "{}", size_of::<Executor>());
    }

    #[test]
    fn reading_what_is_unsaid_takes_no_space() {
        let executor = Executor::default();
        assert_eq!((executor.totals.tasks, executor.peaks.heap()), (0, None));
        assert!(executor.totals.0.is_none() && executor.peaks.0.is_none());
    }

    #[test]
    fn what_is_written_is_read() {
        let mut executor = Executor::default();
        executor.peaks.raise(ExecutorMetric::JvmHeapMemory, 7);
        assert_eq!(executor.peaks.get(ExecutorMetric::JvmHeapMemory), Some(7));
    }
}
