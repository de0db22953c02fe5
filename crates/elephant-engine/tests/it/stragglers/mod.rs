//! Stragglers.

mod causes;
mod replay;
mod slow_nodes;
mod watch;
mod watch_progress;
