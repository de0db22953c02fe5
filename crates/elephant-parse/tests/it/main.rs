//! Parsers, on real histories and generated ones.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod avro_binary;
mod corpus_hadoop1;
mod corpus_jobconf;
mod nanos;
mod queries;
