//! Files of web servers, and logs of Spark's history servers.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED,
    RANGE, RETRY_AFTER,
};
use reqwest::{Client, Response, StatusCode, Url};

use super::cloud::text;
use super::reason::{Reason, causes, short};
use super::server::{self, Place};
use super::transfer::{self, Answer, Attempts, Remote, Stopped};
use super::{Patience, hadoop, runtime};
use elephant_base::units::Timestamp;
use elephant_input::storage::{Listing, Stat, Storage, StorageFailure};

/// The message for a page that is made for people.
const PAGE: &str = "it is a web page, not a history; name a file, Spark's history server (http://HOST:18080), or for \
                    MapReduce the folder of job histories (mapreduce.jobhistory.done-dir)";

/// The message for a folder.
const NO_LIST: &str = "it is neither a file nor Spark's history server, and web servers do not list their files; \
                       name the files, or give a list of them with --files-from";

/// Web servers of one scheme.
#[derive(Debug)]
pub(super) struct Web {
    scheme: &'static str,
    patience: Patience,
    client: OnceLock<Result<Client, String>>,
}

impl Web {
    pub(super) fn new(scheme: &'static str, patience: Patience) -> Self {
        Self { scheme, patience, client: OnceLock::new() }
    }

    fn client(&self) -> Result<&Client, Reason> {
        let client = self.client.get_or_init(|| {
            runtime::choose_tls();
            let builder = Client::builder()
                .user_agent(concat!("elephant-rs/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(self.patience.silence)
                .read_timeout(self.patience.silence);
            builder.build().map_err(|error| causes(&error))
        });
        client.as_ref().map_err(|error| Reason::Lasting(error.clone()))
    }

    /// Asks for an address, and returns the answer if it is a success.
    pub(super) async fn ask(&self, url: Url, range: Option<Range<u64>>) -> Result<Response, Reason> {
        // A compressed response would have another length.
        let mut request = self.client()?.get(url).header(ACCEPT_ENCODING, "identity");
        if let Some(range) = range {
            request = request.header(RANGE, format!("bytes={}-{}", range.start, range.end.saturating_sub(1)));
        }
        let answer = request.send().await.map_err(reason)?;
        let status = answer.status();
        // An empty object has no first byte.
        if status.is_success() || is_empty(&answer) {
            return Ok(answer);
        }
        let pause = answer.headers().get(RETRY_AFTER).cloned();
        let said = answer.text().await.unwrap_or_default();
        // A page for people says no more than the status.
        let said = if said.trim_start().starts_with('<') && !said.contains("<Code>") {
            String::new()
        } else {
            short(&said)
        };
        let pause = pause.as_ref().and_then(|pause| pause.to_str().ok());
        Err(Reason::of_status(status.as_u16(), &said).after(pause))
    }

    async fn answer(&self, address: &str, range: Option<Range<u64>>) -> Result<Answer, Reason> {
        let url = match Place::of(&url(address)?) {
            Place::File(url) => url,
            Place::Application(logs) => logs,
            Place::Server(_) => return Err(Reason::NotFound("a history server, not a file".to_owned())),
        };
        let answer = self.ask(url, range).await?;
        let headers = answer.headers();
        let (starts_at, size) = match answer.status() {
            StatusCode::PARTIAL_CONTENT => content_range(headers).ok_or_else(|| {
                Reason::Lasting(
                    "its answer contains a part of the file but does not say which (no valid Content-Range)"
                        .to_owned(),
                )
            })?,
            StatusCode::RANGE_NOT_SATISFIABLE => (0, Some(0)),
            _ => (0, number(headers, &CONTENT_LENGTH)),
        };
        let etag = headers.get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
        let stat = Stat { size, modified: modified(headers), etag };
        let pieces = answer.bytes_stream().map(|piece| match piece {
            Ok(piece) => Ok(piece.to_vec()),
            Err(error) => Err(reason(error)),
        });
        Ok(Answer { starts_at, stat, pieces: pieces.boxed() })
    }

    /// As [`Self::ask`], with all attempts.
    async fn ask_again(&self, url: Url) -> Result<Response, Stopped> {
        let mut attempts = Attempts::new(&self.patience);
        loop {
            match self.ask(url.clone(), None).await {
                Ok(answer) => return Ok(answer),
                Err(reason) => attempts.after(reason, false).await?,
            }
        }
    }

    /// Whether `base` is the root of a history server. An error if the server refuses or fails, because it might be
    /// one.
    async fn is_server(&self, base: &Url) -> Result<bool, Stopped> {
        match self.ask_again(server::version(base)).await {
            Ok(answer) => Ok(answer.text().await.is_ok_and(|text| text.contains("\"spark\""))),
            Err(Stopped::Reason(Reason::NotFound(_) | Reason::Lasting(_))) => Ok(false),
            Err(stopped) => Err(stopped),
        }
    }

    /// Whether a file is a page for people, which a history server has at its root.
    async fn is_page(&self, url: &Url) -> bool {
        let Ok(answer) = self.ask(url.clone(), Some(0..1)).await else { return false };
        answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
    }

    /// What to read instead of a server of Hadoop.
    fn instead(&self, url: &Url) -> Option<String> {
        hadoop::instead(url, &self.patience, &|url| transfer::within(self, self.ask_again(url)).ok())
    }

    /// The history server at an address, if there is one.
    async fn server(&self, place: Place) -> Result<Option<Url>, Stopped> {
        Ok(match place {
            Place::Server(base) => Some(base),
            Place::File(url) if server::is_folder(&url) || self.is_page(&url).await => {
                self.is_server(&url).await?.then_some(url)
            }
            Place::File(_) | Place::Application(_) => None,
        })
    }
}

/// Whether a server says that an object has no bytes.
fn is_empty(answer: &Response) -> bool {
    let total = |value: &str| value.strip_prefix("bytes */").map(|size| size == "0");
    let told = answer.headers().get(CONTENT_RANGE).and_then(|value| value.to_str().ok()).and_then(total);
    answer.status() == StatusCode::RANGE_NOT_SATISFIABLE && told == Some(true)
}

fn reason(error: reqwest::Error) -> Reason {
    // The address may have a password in it.
    let error = error.without_url();
    let said = causes(&error);
    if error.is_builder() || error.is_redirect() { Reason::Lasting(said) } else { Reason::Passing(said) }
}

pub(super) fn url(address: &str) -> Result<Url, Reason> {
    Url::parse(address).map_err(|error| Reason::Lasting(format!("the address is not valid: {error}")))
}

fn number(headers: &HeaderMap, name: &HeaderName) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// The first byte of a range, and the size of the whole.
fn content_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let (range, size) =
        headers.get(CONTENT_RANGE)?.to_str().ok()?.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.trim().parse().ok()?, size.trim().parse().ok()))
}

fn modified(headers: &HeaderMap) -> Option<Timestamp> {
    let text = headers.get(LAST_MODIFIED)?.to_str().ok()?;
    let at = chrono::DateTime::parse_from_rfc2822(text).ok()?;
    Some(Timestamp::from_millis(at.timestamp_millis()))
}

impl Remote for Web {
    fn get<'a>(
        &'a self,
        address: &'a str,
        range: Option<Range<u64>>,
    ) -> BoxFuture<'a, Result<Answer, Reason>> {
        self.answer(address, range).boxed()
    }

    fn credentials(&self) -> &'static str {
        "if it asks for a user and a password, write USER:PASSWORD@ before the host; Kerberos is not supported"
    }

    fn patience(&self) -> &Patience {
        &self.patience
    }
}

impl Storage for Web {
    fn scheme(&self) -> &'static str {
        self.scheme
    }

    fn shown(&self, address: &Path) -> PathBuf {
        address
            .to_str()
            .map_or_else(|| address.to_path_buf(), |text| PathBuf::from(server::without_secrets(text)))
    }

    fn list(
        &self,
        listing: Listing<'_>,
        found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let address = text(listing.folder)?;
        let place = transfer::within(self, async { Ok(Place::of(&url(address)?)) })?;
        let may_be_file = matches!(&place, Place::File(url) if !server::is_folder(url));
        let page = match &place {
            Place::File(url) | Place::Server(url) | Place::Application(url) => url.clone(),
        };
        let Some(base) = transfer::within(self, self.server(place))? else {
            if may_be_file {
                // Says why there is no such file.
                transfer::stat(self, address)?;
            }
            let instead = self.instead(&page).unwrap_or_else(|| NO_LIST.to_owned());
            return Err(StorageFailure::error(ErrorKind::NotFound, instead));
        };
        let list = server::list(&base);
        let applications = transfer::within(self, self.ask_again(list))?;
        server::read_list(applications, (&base, listing), self.patience.silence, found)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let address = text(path)?;
        let place = transfer::within(self, async { Ok(Place::of(&url(address)?)) })?;
        match place {
            // The server creates the log on request.
            Place::Application(_) => return Ok(Stat { size: None, modified: None, etag: None }),
            Place::Server(_) => return Err(ErrorKind::NotFound.into()),
            Place::File(url) if server::is_folder(&url) => return Err(ErrorKind::NotFound.into()),
            Place::File(url) if server::is_of_hadoop(&url) || runtime::wait_for(self.is_page(&url))? => {
                if transfer::within(self, self.is_server(&url))? {
                    return Err(ErrorKind::NotFound.into());
                }
                let instead = self.instead(&url).unwrap_or_else(|| PAGE.to_owned());
                return Err(StorageFailure::error(ErrorKind::InvalidData, instead));
            }
            Place::File(_) => {}
        }
        transfer::stat(self, address)
    }

    fn read_at(&self, path: &Path, stat: &Stat, at: u64, out: &mut [u8]) -> io::Result<usize> {
        transfer::read_at(self, text(path)?, stat, (at, out))
    }

    fn fetch(&self, path: &Path, stat: &Stat, to: &mut File) -> io::Result<()> {
        let address = text(path)?;
        transfer::fetch(self, address, stat, to)?;
        match url(address).map(|url| Place::of(&url)) {
            Ok(Place::Application(_)) => server::check_logs(to),
            _ => Ok(()),
        }
    }
}
