//! The commands as users run them.

mod analyze;
mod completions;
#[cfg(feature = "http")]
mod fake_server;
mod filters;
mod inputs;
mod manners;
mod nodes;
mod order_and_summary;
mod parts;
mod simulate;
mod stragglers;
mod watch;
#[cfg(feature = "http")]
mod watch_servers;
mod whatif;
