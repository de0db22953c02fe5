//! How histories are found, recognised and decompressed.

mod archives;
mod blocks;
mod codec;
mod corpus;
#[cfg(unix)]
mod discover;
mod log_folders;
