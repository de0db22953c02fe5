//! Stragglers: detectors, causes, replays.

mod causes;
mod oracle;
mod oracle_causes;
mod oracle_detectors;
mod oracle_labels_and_impact;
mod replay;
mod slow_nodes;
mod survey;
mod watch;
mod watch_progress;
