//! Nodes.

mod oracle;
mod ranking;
