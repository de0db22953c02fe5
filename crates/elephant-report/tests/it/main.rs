//! Reports as other programs read them.

// Clippy does not recognise test helpers as test code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub
)]

mod reports;
mod storage;
mod survey;
mod traces;
