//! Event logs of Spark 1.0 to 4.x: JSON, one event a line (`JsonProtocol`), in one file or several parts.
//!
//! Blocks of whole lines are read at the same time on several threads ([`block`]) and taken over in the order of the
//! log ([`build`]), so the result does not depend on the threads.

mod block;
mod build;
mod event;
mod executors;
mod feed;
mod numbered;
mod outcomes;
mod plan;
mod strings;
mod task;
mod twice_told;
mod verify;

pub use feed::Feed;
pub use verify::Wholeness;

use std::io;

use super::{Level, Parsed, Position, Problems};
use crate::model::conf::ConfKey;
use crate::units::Bytes;
use build::Builder;
use feed::{Batch, Pipeline};

/// A log as it lies on disk.
pub struct Log<'a> {
    /// Its parts in the order of writing: name, and what opens it.
    pub parts: Vec<Part<'a>>,
    /// What the names of its files tell.
    pub names: Names,
    /// What markers and names tell of its wholeness.
    pub wholeness: Wholeness,
}

/// A part of a log.
pub struct Part<'a> {
    /// For problems.
    pub name: String,
    /// Opens it; the error is a sentence.
    pub open: Box<dyn Fn() -> Result<Feed, String> + Send + Sync + 'a>,
}

/// What file names tell where events do not.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The application's id.
    pub application_id: Option<String>,
    /// The application's attempt.
    pub attempt: Option<String>,
    /// Spark's version.
    pub spark_version: Option<String>,
    /// Bytes as stored, over all parts.
    pub stored: Option<Bytes>,
    /// Whether the log is written in parts.
    pub rolling: bool,
}

/// Reads a log. What is broken is in the problems; whatever can be read is used.
#[must_use]
pub fn parse(log: &Log<'_>) -> Parsed {
    let mut builder = Builder::new();
    let mut part_problems = Vec::new();
    for part in &log.parts {
        let mut problems = Problems::default();
        match (part.open)() {
            Ok(feed) => read_part(feed, &mut builder, &mut problems),
            Err(message) => {
                builder.spark.gaps.unread += 1;
                problems.add(Level::Error, "unreadable", None, || message);
            }
        }
        part_problems.push((part.name.clone(), problems));
    }
    let mut problems = Problems::default();
    let mut parsed = Parsed::default();
    if builder.seen.events > 0 {
        builder.assemble();
        verify::verify(&mut builder, &log.wholeness, &mut problems);
        builder.spark.attempt = builder.spark.attempt.take().or_else(|| log.names.attempt.clone());
        builder.spark.log.stored = log.names.stored;
        builder.spark.log.rolling = log.names.rolling;
        builder.spark.log.compacted = log.wholeness.compacted;
        let mut app = builder.finish();
        app.engine_version = app.engine_version.take().or_else(|| log.names.spark_version.clone());
        if app.id.is_empty() {
            let configured = app.conf.text(ConfKey::SparkAppId);
            app.id = configured.or_else(|| log.names.application_id.clone()).unwrap_or_default();
        }
        app.name = app.name.take().or_else(|| app.conf.text(ConfKey::SparkAppName));
        app.queue = app.conf.text(ConfKey::SparkQueue);
        parsed.applications.push(app);
    }
    parsed.problems = problems;
    parsed.part_problems = part_problems;
    parsed
}

fn read_part(feed: Feed, builder: &mut Builder, problems: &mut Problems) {
    let mut lines = 0;
    let take = |batch: &mut Batch| {
        for block in batch.blocks() {
            builder.take(block, lines, problems);
            lines += block.lines;
        }
    };
    if let Err(error) = Pipeline::new(feed).run(take) {
        let position = Some(Position::Line(lines + 1));
        let cut = error.kind() == io::ErrorKind::UnexpectedEof;
        let code = if cut { "truncated" } else { "damaged" };
        if !(cut && builder.seen.application_end) {
            builder.spark.gaps.unread += u64::from(!cut);
            problems.warn(code, position, || {
                format!("the log cannot be read to its end: {error}; what comes before was used")
            });
        }
    }
}
