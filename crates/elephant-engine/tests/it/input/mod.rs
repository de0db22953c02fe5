//! Input.

mod answers;
mod archives;
mod corpus;
mod discover;
mod flips;
mod gc_logs;
mod log_folders;
