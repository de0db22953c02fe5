//! Input.

mod archives;
mod corpus;
mod discover;
mod flips;
mod log_folders;
