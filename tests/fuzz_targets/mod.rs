//! What the fuzz targets do with bytes: parse, decode, judge, render, and hold the results to what must be true of them.
//!
//! `tests/internal/damage/fuzz_corpus.rs` replays seeds and regressions with it, the package in `fuzz` includes it for its
//! programs.

// As helpers of tests do, targets fail by panics.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod archives;
pub mod codecs;
pub mod configuration;
pub mod histories;
pub mod mend;
pub mod same;
pub mod samples;
pub mod whole;

/// What a target does with bytes. It panics if something that must be true is not.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also that of its program, of its folder in `seeds`, and in `regressions`.
pub const TARGETS: [(&str, Target); 23] = [
    ("baseline", configuration::baseline),
    ("diff", configuration::diff),
    ("expression", configuration::expression),
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
    ("rules", configuration::rules),
    ("snappy", codecs::snappy),
    ("spark", histories::spark),
    ("surveys", whole::surveys),
    ("tar", archives::tar),
    ("whole", whole::whole),
    ("zip", archives::zip),
    ("zstd", codecs::zstd),
];
