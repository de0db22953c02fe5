//! Reports as other programs read them.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod reports;
mod storage;
mod survey;
mod traces;
