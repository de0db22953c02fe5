//! The event log parser on real logs.

mod corpus;
mod count;
mod history_server;
mod other_tools;
