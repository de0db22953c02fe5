//! Storages across a network: object stores, Hadoop's file system, web servers, and Spark's history servers.
//!
//! The clients are asynchronous. One small runtime drives them, and nothing outside of this folder knows: each call blocks
//! its thread. [`transfer`] reads on where a connection broke, and compares what arrives with what was listed.

mod address;
mod cloud;
mod hadoop;
#[cfg(feature = "hdfs")]
mod hdfs;
mod reason;
mod runtime;
mod server;
mod transfer;
mod web;

use std::sync::Arc;
use std::time::Duration;

use super::Storage;
use crate::limits::{LimitReached, Limits};
use crate::units::{Bytes, Millis};
use cloud::{Cloud, Provider};
use web::Web;

/// The longest silence of a server.
const SILENCE: Duration = Duration::from_secs(20);
/// How long a server may fail until it is given up.
const FAILING: Duration = Duration::from_secs(60);
/// How often a request is sent again that brought nothing.
const RETRIES: usize = 5;

/// All of them.
pub(super) fn all(limits: &Limits) -> Vec<Arc<dyn Storage>> {
    let patience = Patience::within(limits);
    let cloud = |scheme, provider| Arc::new(Cloud::new(scheme, provider, patience)) as Arc<dyn Storage>;
    let web = |scheme| Arc::new(Web::new(scheme, patience)) as Arc<dyn Storage>;
    vec![
        cloud("s3", Provider::Amazon),
        cloud("s3a", Provider::Amazon),
        cloud("gs", Provider::Google),
        cloud("abfs", Provider::Azure),
        cloud("abfss", Provider::Azure),
        web("https"),
        web("http"),
        #[cfg(feature = "hdfs")]
        Arc::new(hdfs::Hdfs::new("hdfs", patience)),
        #[cfg(feature = "hdfs")]
        Arc::new(hdfs::Hdfs::new("viewfs", patience)),
    ]
}

/// How long to wait, and how much to take.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// For the next bytes.
    silence: Duration,
    /// For an answer, with all retries.
    failing: Duration,
    /// The limit of the user on one history.
    time: Option<Millis>,
    /// The most bytes that are copied of an object.
    most: Option<Bytes>,
}

impl Patience {
    fn within(limits: &Limits) -> Self {
        let limited =
            |most: Duration| limits.time.map_or(most, |time| most.min(Duration::from_millis(time.get())));
        Self { silence: limited(SILENCE), failing: limited(FAILING), time: limits.time, most: limits.decoded }
    }

    /// The limit of the user, if it is what ended the wait.
    fn reached(&self, waited: Duration) -> Option<LimitReached> {
        let time = self.time?;
        (waited >= Duration::from_millis(time.get())).then_some(LimitReached::Time(time))
    }
}
