//! Replay of Spark applications.
