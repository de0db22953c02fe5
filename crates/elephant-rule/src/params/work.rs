//! Counts steps in tests, which show that loading rule files takes linear time.

#[cfg(debug_assertions)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts steps of a search or a scan; does nothing in release builds.
#[cfg(debug_assertions)]
pub fn count(steps: usize) {
    STEPS.with(|all| all.set(all.get() + steps as u64));
}

/// Counts steps of a search or a scan; does nothing in release builds.
#[cfg(not(debug_assertions))]
pub const fn count(_: usize) {}

/// The steps that `work` takes on this thread; zero in release builds.
#[must_use]
pub fn steps_of(work: impl FnOnce()) -> u64 {
    #[cfg(debug_assertions)]
    let before = STEPS.with(std::cell::Cell::get);
    work();
    #[cfg(debug_assertions)]
    return STEPS.with(std::cell::Cell::get) - before;
    #[cfg(not(debug_assertions))]
    0
}
