//! Object stores: Amazon S3 and what speaks its protocol, Google Cloud Storage, Azure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{
    ClientOptions, Error, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig,
};
use tokio::time::timeout;

use super::address::Address;
use super::pages::{Lists, NO_LIST, Pages};
use super::reason::{METADATA, Reason, causes, short};
use super::transfer::{self, Answer, Attempts, Remote, Stopped};
use super::{Patience, runtime};
use elephant_base::units::Timestamp;
use elephant_input::storage::{Listing, Stat, Storage, StorageFailure};

/// The provider of a store.
#[derive(Debug, Clone, Copy)]
pub(super) enum Provider {
    Amazon,
    Google,
    Azure,
}

/// The client of a bucket.
#[derive(Debug, Clone)]
struct Bucket {
    client: Arc<dyn ObjectStore>,
    /// What was wrong with its lists.
    lists: Lists,
}

/// The stores of one scheme.
#[derive(Debug)]
pub(super) struct Cloud {
    scheme: &'static str,
    provider: Provider,
    patience: Patience,
    buckets: Mutex<BTreeMap<String, Bucket>>,
    /// Buckets of servers that ignore ranges.
    without_ranges: Mutex<BTreeSet<String>>,
}

impl Cloud {
    pub(super) fn new(scheme: &'static str, provider: Provider, patience: Patience) -> Self {
        Self { scheme, provider, patience, buckets: Mutex::default(), without_ranges: Mutex::default() }
    }

    fn bucket(&self, authority: &str) -> Result<Bucket, Reason> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = buckets.get(authority) {
            return Ok(known.clone());
        }
        let lists = Lists::default();
        let client = self.client(authority, Pages { lists: lists.clone(), patience: self.patience });
        let client = client.map_err(|error| Reason::Lasting(causes(&error)))?;
        let bucket = Bucket { client, lists };
        buckets.insert(authority.to_owned(), bucket.clone());
        Ok(bucket)
    }

    /// A client with the settings and credentials of the environment.
    fn client(&self, authority: &str, pages: Pages) -> object_store::Result<Arc<dyn ObjectStore>> {
        runtime::choose_tls();
        let options = ClientOptions::new()
            .with_connect_timeout(self.patience.silence)
            .with_read_timeout(self.patience.silence)
            .with_timeout_disabled()
            .with_allow_http(allows_http());
        // Requests are repeated below the client, which does not wait as long as a store asks for.
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        Ok(match self.provider {
            Provider::Amazon => {
                let builder =
                    AmazonS3Builder::from_env().with_bucket_name(authority).with_http_connector(pages);
                Arc::new(builder.with_client_options(options).with_retry(retry).build()?)
            }
            Provider::Google => {
                let builder = GoogleCloudStorageBuilder::from_env()
                    .with_bucket_name(authority)
                    .with_http_connector(pages);
                Arc::new(builder.with_client_options(options).with_retry(retry).build()?)
            }
            Provider::Azure => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(format!("abfss://{authority}/"));
                let builder = builder.with_http_connector(pages);
                Arc::new(builder.with_client_options(options).with_retry(retry).build()?)
            }
        })
    }

    async fn answer(&self, address: &str, range: Option<Range<u64>>) -> Result<Answer, Reason> {
        let wrong = |error: io::Error| Reason::Lasting(error.to_string());
        let Address { authority, key, .. } = Address::of(Path::new(address)).map_err(wrong)?;
        let bucket = self.bucket(authority)?.client;
        let starts_later = range.as_ref().is_some_and(|range| range.start > 0);
        let range = range.filter(|_| !self.ignores_ranges(authority));
        let ranged = GetOptions { range: range.map(GetRange::Bounded), ..GetOptions::default() };
        if ranged.range.is_none() && starts_later {
            return Err(Reason::NoRanges);
        }
        let result = match bucket.get_opts(&key, ranged).await {
            // The client rejects a whole object as the answer to a range. Without a range it accepts the object, whose
            // beginning serves as well. Remember that, because a rejected answer costs a request.
            Err(error) if causes(&error).contains("non-partial") => {
                self.without_ranges().insert(authority.to_owned());
                if starts_later {
                    return Err(Reason::NoRanges);
                }
                bucket.get_opts(&key, GetOptions::default()).await
            }
            result => result,
        };
        let result = result.map_err(|error| reason(&error))?;
        let (starts_at, stat) = (result.range.start, stat(&result.meta));
        let pieces = result.into_stream().map(|piece| match piece {
            Ok(piece) => Ok(piece.to_vec()),
            Err(error) => Err(Reason::Passing(causes(&error))),
        });
        Ok(Answer { starts_at, stat, pieces: pieces.boxed() })
    }

    fn ignores_ranges(&self, authority: &str) -> bool {
        self.without_ranges().contains(authority)
    }

    fn without_ranges(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.without_ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next object of a list. Requests that fail were repeated, but not those whose answer is cut.
    async fn next(
        &self,
        objects: &mut BoxStream<'static, object_store::Result<ObjectMeta>>,
    ) -> Result<Option<ObjectMeta>, Reason> {
        match timeout(self.patience.failing, objects.next()).await {
            Ok(object) => object
                .transpose()
                .map_err(|error| cut_list(&error).map_or_else(|| reason(&error), Reason::Passing)),
            Err(_) => Err(Reason::Passing("no answer in time".to_owned())),
        }
    }

    fn error(&self, reason: Reason) -> io::Error {
        reason.error(self.credentials())
    }
}

/// A list of objects that goes on after an answer that was cut.
struct Objects<'c> {
    cloud: &'c Cloud,
    bucket: Bucket,
    prefix: Key,
    rest: BoxStream<'static, object_store::Result<ObjectMeta>>,
    last: Option<Key>,
    /// Whether objects came in the order of their names, so that the list can go on after the last one.
    is_sorted: bool,
    has_progress: bool,
    attempts: Attempts,
}

impl<'c> Objects<'c> {
    fn of(cloud: &'c Cloud, bucket: Bucket, prefix: Key) -> Self {
        bucket.lists.begin(&prefix);
        let (rest, attempts) = (bucket.client.list(Some(&prefix)), Attempts::new(&cloud.patience));
        Self { cloud, bucket, prefix, rest, last: None, is_sorted: true, has_progress: false, attempts }
    }

    async fn next(&mut self) -> Result<Option<ObjectMeta>, Stopped> {
        loop {
            let reason = match self.cloud.next(&mut self.rest).await {
                Ok(Some(object)) => {
                    self.is_sorted &= self.last.as_ref().is_none_or(|last| *last < object.location);
                    self.last = Some(object.location.clone());
                    self.has_progress = true;
                    return Ok(Some(object));
                }
                Ok(None) => return Ok(None),
                Err(Reason::Passing(said)) if !self.is_sorted => Reason::Exhausted(said),
                Err(reason) => reason,
            };
            self.attempts.after(reason, std::mem::take(&mut self.has_progress)).await?;
            self.rest = match &self.last {
                Some(last) => self.bucket.client.list_with_offset(Some(&self.prefix), last),
                None => self.bucket.client.list(Some(&self.prefix)),
            };
        }
    }

    /// The end of the list.
    ///
    /// # Errors
    /// If objects are missing.
    fn end(self) -> io::Result<()> {
        self.bucket.lists.end(&self.prefix).map_or(Ok(()), |reason| Err(self.cloud.error(reason)))
    }
}

/// Whether the environment allows connections without TLS: an endpoint begins with `http://`, or a variable allows
/// them.
fn allows_http() -> bool {
    let is_set =
        |name: &str, accepts: fn(&str) -> bool| std::env::var(name).is_ok_and(|value| accepts(&value));
    let endpoints = [
        "AWS_ENDPOINT_URL_S3",
        "GOOGLE_BASE_URL",
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT",
        "AZURE_STORAGE_ENDPOINT",
        "AZURE_ENDPOINT",
    ];
    let said = ["AWS_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP", "AZURE_ALLOW_HTTP"];
    endpoints.iter().any(|name| is_set(name, |url| url.starts_with("http://")))
        || said.iter().any(|name| is_set(name, |value| value == "true" || value == "1"))
}

fn stat(object: &ObjectMeta) -> Stat {
    let modified = Some(Timestamp::from_millis(object.last_modified.timestamp_millis()));
    // The client uses 0 for a missing time.
    let modified = modified.filter(|at| at.as_millis() > 0);
    Stat { size: Some(object.size), modified, etag: object.e_tag.clone() }
}

/// The meaning of an error if a list arrived only in part, or something else instead of a page.
fn cut_list(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let text = error.to_string();
    if text.contains(NO_LIST) {
        return Some(causes(error));
    }
    if ["invalid list response", "list response body"].iter().any(|said| text.contains(said)) {
        return Some(format!("the list of objects ended early: {}", causes(error)));
    }
    cut_list(error.source()?)
}

/// The meaning of an error. Requests that failed for a transient reason were repeated.
fn reason(error: &Error) -> Reason {
    match error {
        Error::Precondition { .. } => return Reason::Changed,
        Error::InvalidPath { source } => {
            let said =
                format!("an object below it has a name that cannot be read ({source}); name other folders");
            return Reason::Lasting(said);
        }
        _ => {}
    }
    // Without credentials, the client asks the metadata service of the machine.
    if METADATA.iter().any(|place| error.to_string().contains(place)) {
        return Reason::Refused("no credentials were found".to_owned());
    }
    let reason = match status(error) {
        Some((status, said)) => Reason::of_status(status, &said),
        None => match causes(error) {
            // Another answer may have the whole range.
            said if said.contains("Requested ") && said.contains(", got ") => return Reason::Passing(said),
            said if said.contains("error sending request") => Reason::Passing(said),
            said => Reason::Lasting(said),
        },
    };
    match reason {
        Reason::Passing(said) => Reason::Exhausted(said),
        reason => reason,
    }
}

/// The status that a server answered with, and the body of the answer. The client returns both only as text.
fn status(error: &(dyn std::error::Error + 'static)) -> Option<(u16, String)> {
    let text = error.to_string();
    let Some((_, rest)) = text.split_once("status code: ") else { return status(error.source()?) };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, said) = rest.split_at_checked(digits)?;
    Some((number.parse().ok()?, short(said.trim_start().trim_end_matches([':', ' ']))))
}

impl Remote for Cloud {
    fn get<'a>(
        &'a self,
        address: &'a str,
        range: Option<Range<u64>>,
    ) -> BoxFuture<'a, Result<Answer, Reason>> {
        self.answer(address, range).boxed()
    }

    fn credentials(&self) -> &'static str {
        match self.provider {
            Provider::Amazon => {
                "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION, and whether they may \
                 list and read the bucket"
            }
            Provider::Google => {
                "check GOOGLE_APPLICATION_CREDENTIALS, and whether that account may list and read the bucket"
            }
            Provider::Azure => {
                "check AZURE_STORAGE_ACCOUNT_KEY, or AZURE_CLIENT_ID, AZURE_CLIENT_SECRET and AZURE_TENANT_ID, and \
                 whether they may list and read the container"
            }
        }
    }

    fn patience(&self) -> &Patience {
        &self.patience
    }
}

impl Storage for Cloud {
    fn scheme(&self) -> &'static str {
        self.scheme
    }

    fn list(
        &self,
        listing: Listing<'_>,
        found: &mut dyn FnMut(PathBuf, Stat) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let Address { scheme, authority, key, .. } = Address::of(listing.folder)?;
        let bucket = self.bucket(authority).map_err(|reason| self.error(reason))?;
        let mut objects = Objects::of(self, bucket, key.clone());
        let address =
            |object: &ObjectMeta| PathBuf::from(format!("{scheme}://{authority}/{}", object.location));
        // Some tools represent a folder by an empty object with other objects below it.
        let mut empty: Option<ObjectMeta> = None;
        loop {
            let object = transfer::within(self, objects.next())?;
            if let Some(before) = empty.take() {
                let is_folder = object.as_ref().is_some_and(|object| {
                    object.location != before.location && object.location.prefix_matches(&before.location)
                });
                if !is_folder && before.location != key && found(address(&before), stat(&before)).is_break() {
                    return Ok(());
                }
            }
            let Some(object) = object else { return objects.end() };
            if object.size == 0 {
                empty = Some(object);
            } else if found(address(&object), stat(&object)).is_break() {
                return Ok(());
            }
        }
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let Address { authority, key, is_folder, .. } = Address::of(path)?;
        if is_folder {
            return Err(ErrorKind::NotFound.into());
        }
        let found = transfer::within(self, async {
            let bucket = self.bucket(authority)?.client;
            let mut attempts = Attempts::new(&self.patience);
            loop {
                match bucket.head(&key).await {
                    Ok(object) => return Ok(object),
                    Err(error) => attempts.after(reason(&error), false).await?,
                }
            }
        });
        Ok(stat(&found?))
    }

    fn read_at(&self, path: &Path, stat: &Stat, at: u64, out: &mut [u8]) -> io::Result<usize> {
        transfer::read_at(self, text(path)?, stat, (at, out))
    }

    fn fetch(&self, path: &Path, stat: &Stat, to: &mut File) -> io::Result<()> {
        transfer::fetch(self, text(path)?, stat, to)
    }
}

/// The text of an address.
pub(super) fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| StorageFailure::error(ErrorKind::InvalidInput, "it is not a valid address"))
}
