//! The file of a partial result: a line of JSON that says what it is part of, the compressed result, and a checksum at
//! the end, by which a file that was cut off is recognised.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use twox_hash::XxHash3_128;

use super::visit::{Gathered, Unfit};
use elephant_base::address::Address;
use elephant_base::state::{Reader, State};

/// The format of the line. It changes with the line, and with what [`State`] writes between two versions of the program.
const FORMAT: u32 = 3;
const BEGINNING: &[u8] = b"{\"elephant_rs_partial\":";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const COMPRESSION: i32 = 3;
const CHECKSUM: usize = size_of::<u128>();

/// What a partial result is part of. Only results of one kind can be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartKind<'a> {
    /// The command that writes it.
    pub command: &'static str,
    /// The hash of the rules in force.
    pub rules_hash: &'a str,
    /// The options that change what is found, by what they are about.
    pub options: Vec<(&'static str, String)>,
}

/// The part of the line that all versions have.
#[derive(Deserialize)]
struct Version {
    elephant_rs_partial: u32,
    version: String,
}

#[derive(Serialize, Deserialize)]
struct Header {
    elephant_rs_partial: u32,
    version: String,
    command: String,
    rules_hash: String,
    options: Vec<(String, String)>,
}

/// Partial results that cannot be merged.
#[derive(Debug, Error)]
pub enum PartError {
    /// It cannot be read.
    #[error("cannot read the partial result {path}: {source}", path = Address::of(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is another file.
    #[error(
        "{path} is not a partial result; --merge takes files that were written with --partial",
        path = Address::of(path)
    )]
    NoPart {
        /// The file.
        path: PathBuf,
    },
    /// It is not whole.
    #[error("{path} is cut off or damaged; write this partial result again", path = Address::of(path))]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Another version wrote it, in another format.
    #[error(
        "{path} was written by elephant-rs {version}, which this elephant-rs {VERSION} cannot merge; use one version for \
         all parts",
        path = Address::of(path)
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The version that wrote it.
        version: String,
    },
    /// Another command wrote it.
    #[error(
        "{path} was written by elephant-rs {theirs}, not by {ours}; merge it with elephant-rs {theirs} --merge",
        path = Address::of(path)
    )]
    OtherCommand {
        /// The file.
        path: PathBuf,
        /// The command that wrote it.
        theirs: String,
        /// The command that merges.
        ours: &'static str,
    },
    /// It was written with other rules.
    #[error(
        "{path} was written with other rules (their hash is {theirs}, here {ours}); give --rules as for the parts",
        path = Address::of(path)
    )]
    OtherRules {
        /// The file.
        path: PathBuf,
        /// The hash of the rules that it was written with.
        theirs: String,
        /// The hash of the rules in force.
        ours: String,
    },
    /// It was written with other options.
    #[error(
        "{path} was written with other {what}; merge parts with the options that they were written with",
        path = Address::of(path)
    )]
    OtherOptions {
        /// The file.
        path: PathBuf,
        /// The options that differ.
        what: String,
    },
    /// Two parts have read the same history.
    #[error(
        "{one} and {other} have both read {history}, which would count twice; merge each part once, and give each history \
         to one part",
        one = Address::of(one),
        other = Address::of(other),
        history = Address::of(history)
    )]
    Overlap {
        /// A part.
        one: PathBuf,
        /// Another part.
        other: PathBuf,
        /// The history.
        history: PathBuf,
    },
    /// A history and a file that belongs to it are in two parts: the configuration of its job, or a log.
    #[error(
        "{history} is in {one}, but its {what} {file} is in {other}; give a job history and its {what} to one part",
        one = Address::of(one),
        other = Address::of(other),
        history = Address::of(history),
        file = Address::of(file)
    )]
    Apart {
        /// A part.
        one: PathBuf,
        /// Another part.
        other: PathBuf,
        /// The history.
        history: PathBuf,
        /// What the file is.
        what: &'static str,
        /// The file.
        file: PathBuf,
    },
    /// Files of one history are in two parts.
    #[error(
        "{one} and {other} have each read some files of {history}, which a run over both joins; give all of them to one part",
        one = Address::of(one),
        other = Address::of(other),
        history = Address::of(history)
    )]
    Split {
        /// A part.
        one: PathBuf,
        /// Another part.
        other: PathBuf,
        /// The folder of the history, or its application.
        history: PathBuf,
    },
    /// Its histories are a trace, of which there are no parts.
    #[error(
        "{path} is a cluster trace, whose jobs are spread over its files, so it cannot be read in parts; leave --partial out",
        path = Address::of(path)
    )]
    Trace {
        /// The file.
        path: PathBuf,
    },
}

impl PartKind<'_> {
    /// Writes a partial result of this kind.
    pub fn write(&self, body: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let header = Header {
            elephant_rs_partial: FORMAT,
            version: VERSION.to_owned(),
            command: self.command.to_owned(),
            rules_hash: self.rules_hash.to_owned(),
            options: self.options.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
        };
        let mut file = serde_json::to_vec(&header)?;
        file.push(b'\n');
        file.extend_from_slice(&zstd::encode_all(body, COMPRESSION)?);
        let checksum = XxHash3_128::oneshot(&file);
        file.extend_from_slice(&checksum.to_le_bytes());
        out.write_all(&file)
    }

    /// Reads the partial results in these files, which must be of this kind, and merges what `gathered` makes of each.
    ///
    /// # Errors
    /// If a file is not a whole result of this kind, or two have read the same history.
    pub(crate) fn merge<S: State, T>(
        &self,
        files: &[&Path],
        mut gathered: impl FnMut(S) -> Option<Gathered<'static, T>>,
    ) -> Result<Gathered<'static, T>, PartError> {
        let parts: Result<Vec<_>, PartError> = files
            .iter()
            .map(|path| {
                let body = self.read(path)?;
                let mut from = Reader::new(&body);
                let state = S::take(&mut from).filter(|_| from.left() == 0).and_then(&mut gathered);
                state.ok_or_else(|| PartError::Damaged { path: path.to_path_buf() })
            })
            .collect();
        let path = |place: usize| files.get(place).map(|path| path.to_path_buf()).unwrap_or_default();
        Gathered::merge(parts?).map_err(|unfit| match unfit {
            Unfit::Overlap { history, parts: [one, other] } => {
                PartError::Overlap { one: path(one), other: path(other), history }
            }
            Unfit::Apart { history, what, file, parts: [one, other] } => {
                PartError::Apart { one: path(one), other: path(other), history, what, file }
            }
            Unfit::Split { history, parts: [one, other] } => {
                PartError::Split { one: path(one), other: path(other), history }
            }
        })
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, PartError> {
        let named = || path.to_path_buf();
        let unreadable = |source| PartError::Unreadable { path: named(), source };
        // A path may name an endless device: only a partial result is read to its end.
        let mut source = File::open(path).map_err(unreadable)?;
        let mut file = Vec::new();
        (&mut source).take(BEGINNING.len() as u64).read_to_end(&mut file).map_err(unreadable)?;
        if file != BEGINNING {
            return Err(PartError::NoPart { path: named() });
        }
        source.read_to_end(&mut file).map_err(unreadable)?;
        let damaged = || PartError::Damaged { path: named() };
        let (whole, checksum) = file
            .len()
            .checked_sub(CHECKSUM)
            .and_then(|end| file.split_at_checked(end))
            .ok_or_else(damaged)?;
        if XxHash3_128::oneshot(whole).to_le_bytes() != checksum {
            return Err(damaged());
        }
        let end = memchr::memchr(b'\n', whole).ok_or_else(damaged)?;
        let (line, body) = whole.split_at(end);
        let Version { elephant_rs_partial, version } = serde_json::from_slice(line).map_err(|_| damaged())?;
        if elephant_rs_partial != FORMAT || version != VERSION {
            return Err(PartError::OtherVersion { path: named(), version });
        }
        let header: Header = serde_json::from_slice(line).map_err(|_| damaged())?;
        self.accept(header, path)?;
        zstd::decode_all(body.get(1..).unwrap_or_default()).map_err(|_| damaged())
    }

    /// Fails if the result is of another kind.
    fn accept(&self, header: Header, path: &Path) -> Result<(), PartError> {
        let Header { command, rules_hash, options, .. } = header;
        let path = path.to_path_buf();
        if command != self.command {
            return Err(PartError::OtherCommand { path, theirs: command, ours: self.command });
        }
        if rules_hash != self.rules_hash {
            let ours = self.rules_hash.to_owned();
            return Err(PartError::OtherRules { path, theirs: rules_hash, ours });
        }
        let same = |(key, value): &&(&'static str, String)| {
            options.iter().any(|(other, theirs)| other == key && theirs == value)
        };
        match self.options.iter().find(|option| !same(option)) {
            Some((what, _)) => Err(PartError::OtherOptions { path, what: (*what).to_owned() }),
            None => Ok(()),
        }
    }
}
