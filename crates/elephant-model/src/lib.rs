//! What an application did: its task table, counters, configuration, stages and executors, and why it failed.

pub mod diagnosis;
pub mod engine_facts;
pub mod model;
