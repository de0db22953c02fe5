//! A server as clients see it, through a socket.

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
mod api;
mod client;
mod flows;
mod limits;
#[cfg(feature = "mcp")]
mod mcp;
mod pages;
mod posting;
mod rest;
mod stores;
mod viewers;
