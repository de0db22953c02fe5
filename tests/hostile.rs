//! Input and surroundings that mean harm, built on the fly: each costs no more than its share, says once what is wrong,
//! and leaves the numbers that are still right.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::assertions_on_constants,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

mod common;

#[path = "hostile/avro.rs"]
mod avro;
#[path = "hostile/bombs.rs"]
mod bombs;
#[path = "hostile/edges.rs"]
mod edges;
#[cfg(unix)]
#[path = "hostile/files.rs"]
mod files;
#[path = "hostile/limits.rs"]
mod limits;
#[path = "hostile/make.rs"]
mod make;
#[path = "hostile/numbers.rs"]
mod numbers;
#[cfg(unix)]
#[path = "hostile/output.rs"]
mod output;
#[path = "hostile/run.rs"]
mod run;
#[path = "hostile/structure.rs"]
mod structure;
