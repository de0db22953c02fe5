//! The commands as users run them.

#[cfg(all(feature = "store", unix))]
mod alerts;
mod analyze;
mod anonymise;
mod completions;
mod copies;
mod explain;
#[cfg(feature = "http")]
mod fake_server;
mod filters;
mod inputs;
mod manners;
#[cfg(feature = "mcp")]
mod mcp;
mod nodes;
mod order_and_summary;
mod parts;
#[cfg(feature = "remote")]
mod remote;
mod runs_of_a_job;
mod secrets;
#[cfg(feature = "serve")]
pub(super) mod serve;
mod simulate;
#[cfg(feature = "store")]
pub(super) mod store;
#[cfg(feature = "store")]
mod store_export;
#[cfg(feature = "store")]
mod store_filters;
#[cfg(feature = "store")]
mod store_gate;
#[cfg(all(feature = "postgres", unix))]
mod store_postgres;
mod stragglers;
mod watch;
#[cfg(feature = "http")]
mod watch_servers;
mod whatif;
mod words;
