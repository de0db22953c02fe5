//! Problems with a file before it reaches a parser.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::codec::Codec;
use super::reason::Reason;
use super::remote;
use super::storage::{StorageFailure, Storages};
use elephant_base::address::Address;
use elephant_base::limits::{self, LimitReached};

/// Why a path could not be used.
#[derive(Debug, Error)]
pub enum InputError {
    /// No such file or folder.
    #[error("cannot read {path}: there is no such file or folder; check the spelling and the current folder", path = Address::of(.path))]
    NotFound {
        /// As the user wrote it.
        path: PathBuf,
    },
    /// The address of a storage that is not read.
    #[error("cannot read {path}: it is an address, but {readable}; fetch it first: {command}", path = Address::of(.path))]
    Remote {
        /// As the user wrote it.
        path: PathBuf,
        /// The addresses that are read.
        readable: &'static str,
        /// How to fetch it.
        command: String,
    },
    /// The address of a file of this machine.
    #[error("cannot read {path}: it is an address; give the path instead: {local}", path = Address::of(.path), local = Address::of(.local))]
    FileAddress {
        /// As the user wrote it.
        path: PathBuf,
        /// The path in it.
        local: PathBuf,
    },
    /// A storage has no object of that name.
    #[error("cannot read {path}: there is no object of that name, and none below it; check the spelling", path = Address::of(.path))]
    NoObject {
        /// As the user wrote it.
        path: PathBuf,
    },
    /// A storage refused a request or failed; with advice.
    #[error("cannot read {path}: {failure}", path = Address::of(.path))]
    Storage {
        /// The object or the folder.
        path: PathBuf,
        /// The reason and the advice.
        failure: StorageFailure,
    },
    /// A path in a list.
    #[error("{error}; it is in line {line} of {list}")]
    Listed {
        /// What is wrong with it.
        error: Box<InputError>,
        /// The line.
        line: u64,
        /// The name of the list.
        list: String,
    },
    /// The file system refuses to open, list or read it.
    #[error("cannot read {path}: {cause}; {remedy}", path = Address::of(.path), cause = cause(source), remedy = remedy(source))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the file system says.
        source: io::Error,
    },
    /// The user named something that cannot be read from start to end.
    #[error("cannot read {path}: it is a socket or a block device; name a file, a folder, a pipe, or - for standard input", path = Address::of(.path))]
    NotReadableAsFile {
        /// As the user wrote it.
        path: PathBuf,
    },
    /// The compressed stream is damaged, and the data decoded before the damage is not a history.
    #[error("cannot decompress {path} as {codec}: {cause}; the file is truncated or damaged; copy it again", path = Address::of(.path), cause = cause(source))]
    Undecodable {
        /// The file.
        path: PathBuf,
        /// The compression that its first bytes announce.
        codec: Codec,
        /// The decoder's error.
        source: io::Error,
    },
    /// A file whose first bytes are almost those of a known format; it is probably damaged.
    #[error("cannot read {path}: it starts like {format}, but a byte is wrong or the rest is missing; the file is truncated or damaged, or compressed too many times; copy it again", path = Address::of(.path))]
    DamagedStart {
        /// The file.
        path: PathBuf,
        /// The compression or archive format.
        format: &'static str,
    },
    /// A file with the name of a history, and without its content.
    #[error("cannot read {path}: its name is that of a history, but it is {reason}{remedy}", path = Address::of(.path), remedy = missing_start(*.reason))]
    NamedLikeHistory {
        /// The file.
        path: PathBuf,
        /// What it is.
        reason: Reason,
    },
    /// A folder of a pseudo file system.
    #[error("{path} was not searched: {kind} is a virtual file system; to read a file in it, name the file", path = Address::of(.path))]
    PseudoFileSystem {
        /// The folder, or a link to a file.
        path: PathBuf,
        /// The type of the file system.
        kind: String,
    },
    /// A folder that was not searched to the end.
    #[error("{path} was searched only partly: {reached}", path = Address::of(.path))]
    SearchTooSlow {
        /// The folder that the user named.
        path: PathBuf,
        /// The limit.
        reached: LimitReached,
    },
    /// An archive in an archive.
    #[error("{path} was not read: archives inside archives are not opened; unpack the outer one and name the folder", path = Address::of(.path))]
    NestedArchive {
        /// The outer archive and the member.
        path: PathBuf,
    },
    /// A file or member in a format that may hold histories, but that this program does not read.
    #[error("{path} was not read: it is 7-Zip, RAR, LZMA or old LZ4; unpack it first", path = Address::of(.path))]
    OtherFormat {
        /// The file, or the archive and the member.
        path: PathBuf,
    },
    /// A member of a tar file that is not stored as one piece.
    #[error("cannot read {path}: the member is a sparse file or a part of a file that continues in another archive; unpack the archive with GNU tar and name the folder", path = Address::of(.path))]
    ScatteredMember {
        /// The archive and the member.
        path: PathBuf,
    },
    /// An archive member that cannot be unpacked.
    #[error("cannot read {path}: the member is encrypted, or compressed with a method other than deflate; unpack the archive and name the folder", path = Address::of(.path))]
    ForeignMember {
        /// The archive and the member.
        path: PathBuf,
    },
    /// An archive that is read only partly, because unpacking more would exceed a limit.
    #[error("{path} was read only partly: {reached}, or unpack it and name the folder", path = Address::of(.path))]
    ArchiveTooLarge {
        /// The archive.
        path: PathBuf,
        /// The limit.
        reached: LimitReached,
    },
    /// An archive with more members than are read.
    #[error("{path} was read only partly: it has more than {most} members, and the rest were ignored; unpack it and name the folder", path = Address::of(.path))]
    TooManyMembers {
        /// The archive.
        path: PathBuf,
        /// How many members were looked at.
        most: usize,
    },
    /// A stream that delivered too little in time.
    #[error("cannot read {path}: {reached}", path = Address::of(.path))]
    TooSlow {
        /// The pipe or terminal.
        path: PathBuf,
        /// The limit.
        reached: LimitReached,
    },
    /// The members of an archive cannot be listed.
    #[error("cannot read the archive {path}: {reason}; copy it again, or unpack it and name the folder", path = Address::of(.path))]
    BrokenArchive {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl InputError {
    /// For a path that the user named and that does not exist.
    #[must_use]
    pub(crate) fn not_found(path: &Path, storages: &Storages) -> Self {
        // A command with the secrets would repeat them.
        let shown = PathBuf::from(Address::of(path).to_string());
        let path = path.to_path_buf();
        match (remote::how_to_fetch(&shown), remote::local_path(&path)) {
            (Some(command), _) => Self::Remote { path, readable: storages.readable(), command },
            (None, Some(local)) => Self::FileAddress { path, local },
            (None, None) => Self::NotFound { path },
        }
    }

    /// Wraps an I/O error from opening or reading a path.
    #[must_use]
    pub fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match (limits::behind(&source), StorageFailure::behind(&source)) {
            (Some(reached), _) => Self::TooSlow { path, reached },
            (None, Some(failure)) => Self::Storage { failure: failure.clone(), path },
            (None, None) => Self::Unreadable { path, source },
        }
    }

    /// A stable code for the kind of problem.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Listed { error, .. } => error.code(),
            Self::NotFound { .. }
            | Self::Remote { .. }
            | Self::FileAddress { .. }
            | Self::NoObject { .. } => "not-found",
            Self::ArchiveTooLarge { .. }
            | Self::TooManyMembers { .. }
            | Self::TooSlow { .. }
            | Self::SearchTooSlow { .. } => limits::REACHED,
            Self::PseudoFileSystem { .. } => "not-searched",
            Self::NestedArchive { .. } => "nested-archive",
            Self::OtherFormat { .. } => "other-format",
            _ => "unreadable",
        }
    }

    /// The path in question.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Listed { error, .. } => error.path(),
            Self::NotFound { path }
            | Self::Remote { path, .. }
            | Self::FileAddress { path, .. }
            | Self::NoObject { path }
            | Self::Storage { path, .. }
            | Self::Unreadable { path, .. }
            | Self::NotReadableAsFile { path }
            | Self::Undecodable { path, .. }
            | Self::ForeignMember { path }
            | Self::ScatteredMember { path }
            | Self::NestedArchive { path }
            | Self::OtherFormat { path }
            | Self::PseudoFileSystem { path, .. }
            | Self::SearchTooSlow { path, .. }
            | Self::DamagedStart { path, .. }
            | Self::NamedLikeHistory { path, .. }
            | Self::ArchiveTooLarge { path, .. }
            | Self::TooManyMembers { path, .. }
            | Self::TooSlow { path, .. }
            | Self::BrokenArchive { path, .. } => path,
        }
    }
}

/// The error text with a lower-case first letter, because it continues our sentence.
fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text,
    }
}

/// What to do with a file that should be a history. The reason for UTF-16 says it itself.
fn missing_start(reason: Reason) -> &'static str {
    match reason {
        Reason::Utf16 => "",
        _ => "; its first bytes may be lost; copy it again, or rename it if it is something else",
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "make it readable for this user, or exclude it",
        io::ErrorKind::NotFound => "a symbolic link may be broken, or the file was removed in the meantime",
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
            "it is truncated or damaged; copy it again"
        }
        io::ErrorKind::InvalidInput => "correct the path or address, such as file:///PATH",
        _ => "check the disk or mount, or exclude it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_path_the_reason_and_the_remedy() {
        let denied = io::Error::other("Permission denied");
        assert_eq!(
            InputError::from_io(Path::new("a b/x.jhist"), denied).to_string(),
            "cannot read a b/x.jhist: permission denied; check the disk or mount, or exclude it"
        );
        let cut = io::Error::from(io::ErrorKind::UnexpectedEof);
        let error = InputError::Undecodable { path: "x.gz".into(), codec: Codec::Gzip, source: cut };
        assert_eq!(
            error.to_string(),
            "cannot decompress x.gz as gzip: unexpected end of file; the file is truncated or damaged; copy it again"
        );
    }
}
