//! Moves bytes of objects to this machine: continues after a broken connection, and never mixes two versions of an
//! object.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio::time::{Instant, sleep, timeout};

use super::reason::Reason;
use super::{Patience, RETRIES, RETRIES_OF_NOBODY, runtime};
use elephant_base::limits::LimitReached;
use elephant_input::storage::Stat;

/// The beginning of a zip archive with members, and of the record at its end.
const ZIP_MEMBER: &[u8] = b"PK\x03\x04";
const ZIP_END: &[u8] = b"PK\x05\x06";
/// The longest such record: 22 bytes and a comment.
const LONGEST_ZIP_END: u64 = 22 + 65_535;

/// The beginning of an answer, with the bytes that follow.
pub(super) struct Answer {
    /// Where the bytes start in the object: 0 if the server ignored the range.
    pub(super) starts_at: u64,
    /// The facts about the object in the answer.
    pub(super) stat: Stat,
    /// The bytes. They may end early.
    pub(super) pieces: BoxStream<'static, Result<Vec<u8>, Reason>>,
}

/// A client for one kind of servers.
pub(super) trait Remote: Sync {
    /// Asks for a range, or for all of an object.
    fn get<'a>(
        &'a self,
        address: &'a str,
        range: Option<Range<u64>>,
    ) -> BoxFuture<'a, Result<Answer, Reason>>;

    /// Advice on where credentials come from.
    fn credentials(&self) -> &'static str;

    fn patience(&self) -> &Patience;
}

/// Why a transfer ended early.
pub(super) enum Stopped {
    Reason(Reason),
    Limit(LimitReached),
    /// The copy cannot be written.
    Disk(io::Error),
}

impl From<Reason> for Stopped {
    fn from(reason: Reason) -> Self {
        Self::Reason(reason)
    }
}

/// Waits for a transfer, at most as long as the user's limit on time.
pub(super) fn within<T>(
    remote: &impl Remote,
    transfer: impl Future<Output = Result<T, Stopped>>,
) -> io::Result<T> {
    let begun = Instant::now();
    let time = remote.patience().time;
    let limited = async {
        match time {
            None => transfer.await,
            Some(time) => timeout(Duration::from_millis(time.get()), transfer)
                .await
                .unwrap_or(Err(Stopped::Limit(LimitReached::Time(time)))),
        }
    };
    runtime::wait_for(limited)?.map_err(|stopped| match stopped {
        Stopped::Limit(reached) => reached.into(),
        Stopped::Disk(error) => error,
        Stopped::Reason(reason @ Reason::Exhausted(_)) => match remote.patience().reached(begun.elapsed()) {
            Some(reached) => reached.into(),
            None => reason.error(remote.credentials()),
        },
        Stopped::Reason(reason) => reason.error(remote.credentials()),
    })
}

/// Reads a range of an object of known size.
///
/// # Errors
/// As [`elephant_input::storage::Storage::read_at`].
pub(super) fn read_at(
    remote: &impl Remote,
    address: &str,
    stat: &Stat,
    (at, out): (u64, &mut [u8]),
) -> io::Result<usize> {
    let left = stat.size.map_or(u64::MAX, |size| size.saturating_sub(at));
    let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(out.len());
    let out = out.get_mut(..wanted).unwrap_or_default();
    within(remote, async {
        let mut filled = 0;
        let mut attempts = Attempts::new(remote.patience());
        while filled < out.len() {
            let before = filled;
            match range(remote, address, stat, (at, out, &mut filled)).await {
                Ok(()) => {}
                Err(reason) => attempts.after(reason, filled > before).await?,
            }
        }
        Ok(filled)
    })
}

/// One attempt to fill the rest of a range.
async fn range(
    remote: &impl Remote,
    address: &str,
    stat: &Stat,
    (at, out, filled): (u64, &mut [u8], &mut usize),
) -> Result<(), Reason> {
    let (start, end) = (at + *filled as u64, at + out.len() as u64);
    let mut answer = answer(remote, address, Some(start..end)).await?;
    is_same(stat, &answer.stat)?;
    if answer.starts_at != start {
        return Err(Reason::NoRanges);
    }
    while let Some(room) = out.get_mut(*filled..).filter(|room| !room.is_empty()) {
        let piece = next(remote, &mut answer).await?.ok_or_else(ended_early)?;
        // A server that ignores the end of a range sends more.
        let count = piece.len().min(room.len());
        if let Some((room, piece)) = room.get_mut(..count).zip(piece.get(..count)) {
            room.copy_from_slice(piece);
        }
        *filled += count;
    }
    Ok(())
}

/// Copies a whole object to an empty file.
///
/// # Errors
/// As [`elephant_input::storage::Storage::fetch`].
pub(super) fn fetch(remote: &impl Remote, address: &str, stat: &Stat, to: &mut File) -> io::Result<()> {
    within(remote, async {
        let mut attempts = Attempts::new(remote.patience());
        loop {
            to.set_len(0).and_then(|()| to.rewind()).map_err(Stopped::Disk)?;
            match whole(remote, address, stat, to).await {
                // A partial copy is of no use: an object that a server creates on request may differ the next time.
                Err(Stopped::Reason(reason)) => attempts.after(reason, false).await?,
                ended => return ended,
            }
        }
    })
}

/// One attempt to copy an object.
async fn whole(remote: &impl Remote, address: &str, stat: &Stat, to: &mut File) -> Result<(), Stopped> {
    let mut answer = answer(remote, address, None).await?;
    is_same(stat, &answer.stat)?;
    let mut copied = 0;
    while let Some(piece) = next(remote, &mut answer).await? {
        copied += piece.len() as u64;
        if let Some(most) = remote.patience().most.filter(|most| copied > most.get()) {
            return Err(Stopped::Limit(LimitReached::Decoded(most)));
        }
        to.write_all(&piece).map_err(Stopped::Disk)?;
    }
    match answer.stat.size.or(stat.size) {
        Some(size) if size != copied => return Err(ended_early().into()),
        _ => {}
    }
    // No length was announced for an object that a server makes on request, so only its end shows that it is whole.
    if stat.size.is_none() && is_cut_archive(to, copied).map_err(Stopped::Disk)? {
        return Err(Reason::Passing("the archive that it sent has no end".to_owned()).into());
    }
    Ok(())
}

/// Whether a file is the beginning of a zip archive: it lacks the record that follows the last member.
fn is_cut_archive(file: &mut File, len: u64) -> io::Result<bool> {
    let read = |file: &mut File, at, most| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        file.take(most).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(bytes)
    };
    let beginning = read(file, 0, ZIP_MEMBER.len() as u64)?;
    if !ZIP_MEMBER.starts_with(&beginning) {
        return Ok(false);
    }
    let end = read(file, len.saturating_sub(LONGEST_ZIP_END), LONGEST_ZIP_END)?;
    Ok(!end.windows(ZIP_END.len()).any(|bytes| bytes == ZIP_END))
}

/// What is known of an object.
///
/// # Errors
/// As [`elephant_input::storage::Storage::stat`].
pub(super) fn stat(remote: &impl Remote, address: &str) -> io::Result<Stat> {
    within(remote, async {
        let mut attempts = Attempts::new(remote.patience());
        loop {
            match answer(remote, address, Some(0..1)).await {
                Ok(answer) => return Ok(answer.stat),
                Err(reason) => attempts.after(reason, false).await?,
            }
        }
    })
}

async fn answer(remote: &impl Remote, address: &str, range: Option<Range<u64>>) -> Result<Answer, Reason> {
    match timeout(remote.patience().failing, remote.get(address, range)).await {
        Ok(answer) => answer,
        Err(_) => Err(Reason::Passing("no answer in time".to_owned())),
    }
}

async fn next(remote: &impl Remote, answer: &mut Answer) -> Result<Option<Vec<u8>>, Reason> {
    match timeout(remote.patience().silence, answer.pieces.next()).await {
        Ok(piece) => piece.transpose(),
        Err(_) => Err(Reason::Passing("no data arrived in time".to_owned())),
    }
}

fn ended_early() -> Reason {
    Reason::Passing("the connection ended early".to_owned())
}

/// Whether an answer is about the object that was listed.
fn is_same(listed: &Stat, answered: &Stat) -> Result<(), Reason> {
    if listed.size.is_none() {
        // The server creates such an object on request, and its time is that of the application.
        return Ok(());
    }
    let differ = |a: Option<u64>, b: Option<u64>| a.zip(b).is_some_and(|(a, b)| a != b);
    // Listings and responses quote etags differently.
    let name = |etag: &Option<String>| {
        let etag = etag.as_deref()?;
        Some(etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"').to_owned())
    };
    // Answers have whole seconds.
    let second = |stat: &Stat| stat.modified.map(|at| at.as_millis().div_euclid(1000));
    let is_other = match name(&listed.etag).zip(name(&answered.etag)) {
        Some((listed, answered)) => listed != answered,
        None => second(listed).zip(second(answered)).is_some_and(|(listed, answered)| listed != answered),
    };
    if is_other || differ(listed.size, answered.size) { Err(Reason::Changed) } else { Ok(()) }
}

/// Counts attempts that returned no data.
pub(super) struct Attempts {
    patience: Patience,
    since: Instant,
    count: usize,
}

impl Attempts {
    pub(super) fn new(patience: &Patience) -> Self {
        Self { patience: *patience, since: Instant::now(), count: 0 }
    }

    /// Waits for the next attempt.
    ///
    /// # Errors
    /// The reason why there should be none.
    pub(super) async fn after(&mut self, reason: Reason, has_progress: bool) -> Result<(), Stopped> {
        if has_progress {
            (self.since, self.count) = (Instant::now(), 0);
        }
        let (said, told) = match reason {
            Reason::Passing(said) => (said, None),
            Reason::Busy(said, pause) => (said, Some(pause)),
            reason => return Err(reason.into()),
        };
        self.count += 1;
        let left = self.patience.failing.saturating_sub(self.since.elapsed());
        let retries = if is_nobody_there(&said) { RETRIES_OF_NOBODY } else { RETRIES };
        if self.count > retries || left.is_zero() {
            return Err(Reason::Exhausted(format!("{said}, {} attempts", self.count)).into());
        }
        log::debug!("attempt {} failed: {said}", self.count);
        sleep(self.patience.pause(self.count, told).min(left)).await;
        Ok(())
    }
}

/// Whether no server answered at all: the address is wrong more often than the server restarts.
fn is_nobody_there(said: &str) -> bool {
    ["Connection refused", "dns error"].iter().any(|reason| said.contains(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;

    #[test]
    fn a_busy_server_is_asked_more_often_than_none() {
        assert!(is_nobody_there("tcp connect error: Connection refused (os error 111)"));
        assert!(is_nobody_there("dns error: failed to lookup address information"));
        assert!(!is_nobody_there("status 503") && !is_nobody_there("the connection ended early"));
    }

    #[test]
    fn an_archive_without_its_end_is_cut() {
        let is_cut = |bytes: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            is_cut_archive(&mut file, bytes.len() as u64).unwrap()
        };
        let long = [ZIP_MEMBER, &vec![0; 100_000]].concat();
        for cut in [&b""[..], b"PK", ZIP_MEMBER, &long] {
            assert!(is_cut(cut), "{} bytes", cut.len());
        }
        let whole = [&long[..], ZIP_END, &[0; 18]].concat();
        for whole in [&b"{\"Event\":"[..], b"PX", &whole, &[ZIP_END, &[0; 18]].concat()] {
            assert!(!is_cut(whole), "{} bytes", whole.len());
        }
    }

    #[test]
    fn another_version_of_an_object_is_noticed() {
        let stat = |size, second: i64, etag: Option<&str>| Stat {
            size: Some(size),
            modified: Some(Timestamp::from_millis(second)),
            etag: etag.map(str::to_owned),
        };
        let listed = stat(5, 1700, Some("\"a\""));
        assert_eq!(is_same(&listed, &stat(5, 1000, Some("a"))), Ok(()));
        assert_eq!(is_same(&listed, &stat(5, 9000, Some("W/\"a\""))), Ok(()));
        assert_eq!(is_same(&listed, &stat(5, 1000, Some("b"))), Err(Reason::Changed));
        assert_eq!(is_same(&listed, &stat(6, 1000, Some("a"))), Err(Reason::Changed));
        assert_eq!(is_same(&listed, &stat(5, 1000, None)), Ok(()));
        assert_eq!(is_same(&listed, &stat(5, 2000, None)), Err(Reason::Changed));
        let unknown = Stat { size: None, modified: None, etag: None };
        assert_eq!(is_same(&unknown, &listed), Ok(()));
    }
}
