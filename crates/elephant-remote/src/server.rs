//! Spark's history server: its addresses, and its list of applications.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::{Response, Url};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use tokio::time::timeout;

use super::reason::short;
use super::runtime;
use elephant_base::units::Timestamp;
use elephant_input::storage::{Announced, LeftOut, Listing, Stat, StorageFailure};

/// What an address of a web server stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A file, or the root of a history server.
    File(Url),
    /// A history server, by an address below which it lists its applications.
    Server(Url),
    /// The logs of an application.
    Application(Url),
}

const API: [&str; 2] = ["api", "v1"];

impl Place {
    /// By the form of the address alone.
    pub(super) fn of(url: &Url) -> Self {
        let parts = parts(url);
        let place = |at: usize| parts.get(..at).zip(parts.get(at..)).unwrap_or_default();
        // A gateway may put its own folders first.
        let api = parts.windows(2).position(|pair| pair == API);
        let history = parts.iter().position(|part| *part == "history");
        // Hadoop's servers have this part, too.
        let history = history.filter(|_| !is_of_hadoop(url));
        let (before, rest) = match (api, history) {
            (Some(at), _) => {
                let (before, rest) = place(at);
                match rest.get(2..) {
                    Some(["applications", rest @ ..]) => (before, rest),
                    _ => (before, [].as_slice()),
                }
            }
            // Pages of an application have no extension; a file may be in a folder of that name.
            (None, Some(at)) if parts.get(at + 1).is_none_or(|id| is_id(id)) => {
                let (before, rest) = place(at);
                (before, rest.get(1..).unwrap_or_default())
            }
            _ => return Self::File(url.clone()),
        };
        let base = joined(url, before);
        match rest {
            [] => Self::Server(base),
            [id, attempt, ..] if attempt.parse::<u32>().is_ok() => Self::Application(joined(
                &base,
                &[before, &API, &["applications", id, attempt, "logs"]].concat(),
            )),
            [id, ..] => {
                Self::Application(joined(&base, &[before, &API, &["applications", id, "logs"]].concat()))
            }
        }
    }
}

/// The parts of an address that are not empty.
pub(super) fn parts(url: &Url) -> Vec<&str> {
    url.path_segments().map(|parts| parts.filter(|part| !part.is_empty()).collect()).unwrap_or_default()
}

/// Whether an address has the form of a REST API of Hadoop's own servers.
pub(super) fn is_of_hadoop(url: &Url) -> bool {
    let has = |form: [&str; 3]| parts(url).windows(3).any(|parts| parts == form);
    has(["ws", "v1", "history"]) || has(["ws", "v1", "cluster"])
}

/// The ids that cluster managers give to applications.
fn is_id(text: &str) -> bool {
    ["application_", "app-", "local-", "spark-"].iter().any(|start| text.starts_with(start))
        && !text.contains('.')
}

/// The same server with these folders.
pub(super) fn joined(url: &Url, folders: &[&str]) -> Url {
    let mut joined = url.clone();
    joined.set_query(None);
    joined.set_fragment(None);
    // Parts of a parsed address need no further escaping.
    joined.set_path(&folders.join("/"));
    joined
}

/// Whether an address can only be a folder.
pub(super) fn is_folder(url: &Url) -> bool {
    url.path().ends_with('/')
}

/// The address at which a history server returns its version.
pub(super) fn version(base: &Url) -> Url {
    joined(base, &[parts(base).as_slice(), &API, &["version"]].concat())
}

/// The address at which a history server lists its applications. The server does not filter, because applications that
/// are left out are counted.
pub(super) fn list(base: &Url) -> Url {
    joined(base, &[parts(base).as_slice(), &API, &["applications"]].concat())
}

/// Names of query parameters that hold secrets: signatures and tokens of storages and gateways.
const SECRETS: [&str; 8] = ["sig", "token", "credential", "key", "secret", "pass", "auth", "code"];

/// An address without user, password, and signatures.
pub(super) fn without_secrets(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else {
        // The error in the address will be reported, and the address may contain a password.
        return address.split_once('@').map_or_else(|| address.to_owned(), |(_, rest)| format!("…@{rest}"));
    };
    let is_secret = url.query_pairs().any(|(name, _)| {
        let name = name.to_ascii_lowercase();
        SECRETS.iter().any(|secret| name.contains(secret))
    });
    let has_user = !url.username().is_empty() || url.password().is_some();
    if !has_user && !is_secret {
        return address.to_owned();
    }
    if is_secret {
        url.set_query(None);
    }
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

/// An application in the list.
#[derive(Debug, Deserialize)]
struct Listed {
    id: String,
    name: Option<String>,
    #[serde(default)]
    attempts: Vec<Attempt>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attempt {
    spark_user: Option<String>,
    start_time_epoch: Option<i64>,
    last_updated_epoch: Option<i64>,
}

/// Passes the logs of each application to `found` while the list arrives.
pub(super) fn read_list(
    answer: Response,
    (base, listing): (&Url, Listing<'_>),
    silence: Duration,
    found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
) -> io::Result<()> {
    let base_folders = parts(base);
    let mut take = |app: Listed| {
        let is_wanted = app.attempts.is_empty()
            || listing.wanted.is_none_or(|wanted| {
                app.attempts.iter().any(|attempt| wanted.may_be(app.announced(attempt)))
            });
        if !is_wanted {
            let mut left_out = listing.left_out.get();
            left_out += LeftOut { files: 1, applications: app.attempts.len() as u64 };
            listing.left_out.set(left_out);
            return ControlFlow::Continue(());
        }
        let folders = base_folders.iter().copied();
        let folders: Vec<&str> =
            folders.chain(API).chain(["applications", app.id.as_str(), "logs"]).collect();
        let updated = app.attempts.iter().filter_map(|attempt| attempt.last_updated_epoch).max();
        let modified = updated.filter(|at| *at > 0).map(Timestamp::from_millis);
        found(PathBuf::from(String::from(joined(base, &folders))), Stat { size: None, modified, etag: None })
    };
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(Body::of(answer, silence)));
    let mut ended = false;
    let read = json.deserialize_seq(EachOf { take: &mut take, ended: &mut ended });
    match read {
        Err(error) if !ended => Err(StorageFailure::error(
            ErrorKind::InvalidData,
            format!(
                "its list of applications cannot be read to the end ({error}); try again, or shorten the list with --since"
            ),
        )),
        _ => Ok(()),
    }
}

/// The beginnings of zip archives with and without members.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// Bytes of another answer that a message may show.
const BEGINNING: u64 = 60;

/// Checks that a server sent the logs of an application, which are a zip archive. A proxy may send its login page.
///
/// # Errors
/// If it is another answer.
pub(super) fn check_logs(copy: &mut File) -> io::Result<()> {
    let mut beginning = Vec::new();
    copy.rewind()?;
    copy.take(BEGINNING).read_to_end(&mut beginning)?;
    if ZIP.iter().any(|zip| beginning.starts_with(zip)) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&beginning);
    let came = match text.trim_start() {
        text if text.starts_with('<') => "a web page came".to_owned(),
        text => format!("{:?} came", short(text)),
    };
    Err(StorageFailure::error(
        ErrorKind::InvalidData,
        format!(
            "the history server was asked for the logs of this application, a zip archive, but {came}; open the address \
             in a browser to see what answers, and if it asks for a user and a password, write USER:PASSWORD@ before the \
             host"
        ),
    ))
}

impl Listed {
    fn announced<'a>(&'a self, attempt: &'a Attempt) -> Announced<'a> {
        Announced {
            id: &self.id,
            name: self.name.as_deref(),
            user: attempt.spark_user.as_deref(),
            start: attempt.start_time_epoch.filter(|at| *at > 0).map(Timestamp::from_millis),
        }
    }
}

/// Takes the applications of a list one by one, so that a long list needs no memory.
struct EachOf<'t, F> {
    take: &'t mut F,
    /// Whether no more of them are wanted.
    ended: &'t mut bool,
}

impl<'de, F: FnMut(Listed) -> ControlFlow<()>> Visitor<'de> for EachOf<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of applications")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(app) = list.next_element()? {
            if (self.take)(app).is_break() {
                *self.ended = true;
                break;
            }
        }
        Ok(())
    }
}

/// The body of an answer, as a reader.
pub(super) struct Body {
    pieces: BoxStream<'static, reqwest::Result<Vec<u8>>>,
    piece: Vec<u8>,
    taken: usize,
    silence: Duration,
}

impl Body {
    pub(super) fn of(answer: Response, silence: Duration) -> Self {
        let pieces = answer.bytes_stream().map(|piece| piece.map(|piece| piece.to_vec())).boxed();
        Self { pieces, piece: Vec::new(), taken: 0, silence }
    }
}

impl Read for Body {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.piece.len() {
            match runtime::wait_for(async { timeout(self.silence, self.pieces.next()).await })? {
                Ok(Some(Ok(piece))) => (self.piece, self.taken) = (piece, 0),
                Ok(Some(Err(error))) => return Err(io::Error::other(error.without_url())),
                Ok(None) => return Ok(0),
                Err(_) => return Err(io::Error::new(ErrorKind::TimedOut, "no data arrived in time")),
            }
        }
        let count = self.piece.get(self.taken..).unwrap_or_default().read(out)?;
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_history_servers_are_known_by_their_form() {
        let of = |text: &str| Place::of(&Url::parse(text).unwrap());
        let url = |text: &str| Url::parse(text).unwrap();
        let logs = "https://h:18080/api/v1/applications/app-1/logs";
        for page in [
            "https://h:18080/history/app-1",
            "https://h:18080/history/app-1/jobs/job/?id=2",
            "https://h:18080/api/v1/applications/app-1",
            "https://h:18080/api/v1/applications/app-1/logs",
        ] {
            assert_eq!(of(page), Place::Application(url(logs)), "{page}");
        }
        let attempt = "http://u:p@h/api/v1/applications/application_1_2/2/logs";
        assert_eq!(of("http://u:p@h/history/application_1_2/2/stages/"), Place::Application(url(attempt)));
        let behind = "https://gate/spark/api/v1/applications/app-1/logs";
        assert_eq!(of("https://gate/spark/history/app-1/"), Place::Application(url(behind)));
        for list in
            ["http://h/history", "http://h/history/?showIncomplete=true", "http://h/api/v1/applications"]
        {
            assert_eq!(of(list), Place::Server(url("http://h/")), "{list}");
        }
        for file in [
            "http://h/",
            "http://h/logs/app-1",
            "http://h/history/app-1.zstd",
            "http://h/history/done/x.jhist",
            "http://h:19888/ws/v1/history",
        ] {
            assert_eq!(of(file), Place::File(url(file)), "{file}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        for (address, shown) in [
            ("https://h/x?id=1", "https://h/x?id=1"),
            ("https://bob:pw@h:8443/x", "https://h:8443/x"),
            ("https://h/x.zip?sv=1&sig=abc", "https://h/x.zip"),
            ("https://h/x?X-Amz-Signature=1&X-Amz-Date=2", "https://h/x"),
            ("http://bob:pw@[::1/x", "…@[::1/x"),
        ] {
            assert_eq!(without_secrets(address), shown);
        }
    }
}
