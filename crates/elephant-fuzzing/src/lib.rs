//! The fuzz targets: they parse, decode, evaluate and render bytes, and check that the results are
//! consistent.
//!
//! The library includes them (`src/internals.rs`): `tests/internal/damage/fuzz_corpus.rs` replays seeds and regressions,
//! and the package in `fuzz` has a program for each.

// Like test helpers, targets fail by panicking.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod anonymise;
pub mod archives;
pub mod codecs;
pub mod configuration;
pub mod gc_log;
pub mod histories;
pub mod process_logs;
pub mod questions;
pub mod repair;
pub mod same;
pub mod samples;
pub mod whole;

/// A target. It panics if a check fails.
pub type Target = fn(&[u8]);

/// All targets by name, which is also the name of the program and of the folders in `seeds` and
/// `regressions`.
pub const TARGETS: [(&str, Target); 32] = [
    ("anonymise", anonymise::anonymise),
    ("answers", histories::answers),
    ("baseline", configuration::baseline),
    ("bzip2", codecs::bzip2),
    ("container_log", process_logs::container_log),
    ("diff", configuration::diff),
    ("expression", configuration::expression),
    ("gc_log", gc_log::gc_log),
    ("gzip", codecs::gzip),
    ("hadoop1", histories::hadoop1),
    ("heuristic_conf", configuration::heuristic_conf),
    ("jhist_binary", histories::jhist_binary),
    ("jhist_json", histories::jhist_json),
    ("jobconf", histories::jobconf),
    ("judge", whole::judge),
    ("kind", histories::kind),
    ("lz4", codecs::lz4),
    ("lz4_frame", codecs::lz4_frame),
    ("lzf", codecs::lzf),
    ("node_metrics", configuration::node_metrics),
    ("questions", questions::questions),
    ("rules", configuration::rules),
    ("snappy", codecs::snappy),
    ("snappy_frame", codecs::snappy_frame),
    ("spark", histories::spark),
    ("surveys", whole::surveys),
    ("tar", archives::tar),
    ("tez", histories::tez),
    ("whole", whole::whole),
    ("xz", codecs::xz),
    ("zip", archives::zip),
    ("zstd", codecs::zstd),
];
