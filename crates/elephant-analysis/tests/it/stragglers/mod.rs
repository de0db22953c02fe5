//! Stragglers.

mod oracle;
mod oracle_causes;
mod oracle_detectors;
mod oracle_labels_and_impact;
