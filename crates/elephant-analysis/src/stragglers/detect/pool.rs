//! The tasks over which a detector takes an average.

/// The tasks the average is computed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// All tasks: a finished one counts as 1, a waiting one as 0 (the N of S0 eq 5; Hadoop up to 0.20).
    All,
    /// All launched tasks: a finished one counts as 1.
    Launched,
    /// The running tasks.
    Running,
}

#[doc(hidden)]
impl Pool {
    /// The name in reports.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Launched => "launched",
            Self::Running => "running",
        }
    }

    /// The average progress score; `None` if the pool is empty.
    pub fn average(self, finished: usize, pending: usize, running: impl Iterator<Item = f64>) -> Option<f64> {
        let (count, sum) = running.fold((0, 0.0), |(count, sum), progress| (count + 1, sum + progress));
        let (sum, count) = match self {
            Self::All => (sum + finished as f64, count + finished + pending),
            Self::Launched => (sum + finished as f64, count + finished),
            Self::Running => (sum, count),
        };
        (count > 0).then(|| sum / count as f64)
    }
}
