//! Counts steps in tests, which show that loading rule files takes linear time.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts steps of a search or a scan; does nothing outside of tests.
#[cfg(test)]
pub(crate) fn count(steps: usize) {
    STEPS.with(|all| all.set(all.get() + steps as u64));
}

/// Counts steps of a search or a scan; does nothing outside of tests.
#[cfg(not(test))]
pub const fn count(_: usize) {}

/// The steps that `work` takes on this thread.
#[cfg(test)]
pub(crate) fn steps_of(work: impl FnOnce()) -> u64 {
    let before = STEPS.with(std::cell::Cell::get);
    work();
    STEPS.with(std::cell::Cell::get) - before
}
