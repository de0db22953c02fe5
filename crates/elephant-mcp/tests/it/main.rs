//! The server as agents see it, through its protocol.

// Clippy does not recognise test helpers as test code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub
)]

mod answers;
mod client;
mod failures;
mod hostile;
mod library;
mod same;
mod tools;
