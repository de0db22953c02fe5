//! Report formats, and reports with any number of threads.

mod concurrency;
mod formats;
mod sides;
