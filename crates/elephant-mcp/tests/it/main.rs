//! The server as agents see it, through its protocol.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod answers;
mod client;
mod failures;
mod hostile;
mod library;
mod same;
mod tools;
