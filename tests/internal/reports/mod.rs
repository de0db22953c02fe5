//! Formats of reports, and threads.

mod concurrency;
mod formats;
