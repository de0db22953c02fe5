//! Parsers, on real histories and generated ones.

// Clippy does not recognise test helpers as test code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub
)]

mod avro_binary;
mod corpus_hadoop1;
mod corpus_jobconf;
mod nanos;
mod queries;
