//! Examines streams; one may turn out to be an archive.

use std::path::PathBuf;

use rayon::prelude::*;

use super::archive::{self, Stored};
use super::codec::Decoded;
use super::error::InputError;
use super::inventory::{Failure, Inventory};
use super::kind::{Identify, Reason, SourceKind};
use super::sorter::inventory_of;
use super::source::{LogFolder, Source, SourcePath};
use elephant_base::limits::Limits;

/// The result of examining a stream.
enum Outcome {
    One(Source),
    Members(Source, Inventory),
    Unrelated(Source, Reason),
    Broken(Source, InputError),
}

impl Inventory {
    /// Examines the streams among the histories. [`discover`](super::discover::discover) skips them because
    /// reading blocks until something writes. Afterwards their kind is known, and archives are replaced by
    /// their members.
    pub fn look_at_streams(&mut self, limits: &Limits, identify: Identify) {
        let streams: Vec<Source> = self.histories.extract_if(.., |source| source.kind.is_none()).collect();
        // In parallel: the writer of one stream may wait until another is read.
        let outcomes: Vec<_> =
            streams.into_par_iter().map(|source| examine(source, limits, identify)).collect();
        for outcome in outcomes {
            match outcome {
                Outcome::One(source) => self.add(source),
                Outcome::Members(source, members) => {
                    self.take_members(members, source.path.as_path(), source.named_by_user);
                }
                Outcome::Unrelated(source, reason) => {
                    let path = shown(&source.path);
                    if reason == Reason::OtherFormat {
                        self.notice_other_format(&path);
                    }
                    self.skip(reason, &path, source.named_by_user);
                }
                Outcome::Broken(Source { path, named_by_user, .. }, error) => {
                    let file = path.as_path().to_path_buf();
                    self.failures.push(Failure { error, file, named_by_user, count: 1 });
                }
            }
        }
        self.sort();
    }
}

fn examine(source: Source, limits: &Limits, identify: Identify) -> Outcome {
    match source.open(identify) {
        Ok((decoded, SourceKind::Unrelated(Reason::Archive))) => members(source, decoded, limits, identify),
        Ok((_, SourceKind::Unrelated(reason))) => Outcome::Unrelated(source, reason),
        Ok((decoded, kind)) => {
            let codec = Some(decoded.codec());
            let log = match (&source.path, kind) {
                (SourcePath::Stdin(Some(name)), SourceKind::SparkEventLog) => LogFolder::of_path(name),
                _ => source.log.clone(),
            };
            if let Some(part) = source.parts.first() {
                part.put_back(decoded);
            }
            Outcome::One(Source { kind: Some(kind), codec, log, ..source })
        }
        Err(error) => Outcome::Broken(source, error),
    }
}

fn members(source: Source, decoded: Decoded, limits: &Limits, identify: Identify) -> Outcome {
    let file = source.path.as_path();
    let stored = Stored { file, size: None, copy: None };
    match archive::members(decoded, stored, &shown(&source.path), limits) {
        Ok(members) => {
            let inventory = inventory_of(members, source.named_by_user, identify);
            Outcome::Members(source, inventory)
        }
        Err(error) => Outcome::Broken(source, error),
    }
}

/// The path as messages name it.
fn shown(path: &SourcePath) -> PathBuf {
    match path {
        SourcePath::Stdin(None) => PathBuf::from(path.to_string()),
        path => path.as_path().to_path_buf(),
    }
}
