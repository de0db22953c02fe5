//! A server as clients see it, through a socket.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

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
