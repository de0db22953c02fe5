//! Finding, recognising and decompressing histories.

mod archives;
mod blocks;
mod codec;
mod corpus;
#[cfg(unix)]
mod discover;
mod flips;
mod log_folders;
mod storage;
