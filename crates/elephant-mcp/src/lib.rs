//! The door for agents: questions about applications, by the Model Context Protocol.
//!
//! A tool is a row of the table in `tools`. Its arguments and its answer are types, from which its schemas are made; the
//! answer is chosen from the results of the other crates, and bounded. Nothing here judges. Texts from logs have the type
//! `Told`, which cleans and cuts them, and stand in a fence where an answer is text. An argument never opens a file: only
//! the user and the store name files.

mod about;
mod agent;
mod analyses;
mod door;
mod failure;
mod library;
mod page;
mod stdio;
mod told;
mod tool;
mod tools;

pub use agent::Turns;
pub use door::{Door, Reply};
pub use library::{Histories, Link, Options};
pub use page::MOST_BYTES;
pub use stdio::{McpError, Stopper, serve_on, serve_stdio};
