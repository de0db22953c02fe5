//! Nodes.

mod failed;
mod oracle;
mod ranking;
