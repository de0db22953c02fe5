//! Storages across a network: object stores, Hadoop's file system, web servers, and Spark's history servers.
//!
//! The clients are asynchronous. One small runtime drives them, which is hidden from the code outside this folder: each
//! call blocks its thread. [`transfer`] continues after a broken connection, and compares what arrives with what was
//! listed.

mod address;
mod cloud;
mod hadoop;
#[cfg(feature = "hdfs")]
mod hdfs;
mod pages;
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

/// How long a server may send nothing.
const SILENCE: Duration = Duration::from_secs(20);
/// How long a server may fail before it is given up.
const FAILING: Duration = Duration::from_secs(60);
/// How often a request that returned no data is repeated.
const RETRIES: usize = 5;

/// All storages across a network.
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

/// Limits on time and size.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// The longest wait for the next bytes.
    silence: Duration,
    /// The longest wait for an answer, with all retries.
    failing: Duration,
    /// The user's time limit for one history.
    time: Option<Millis>,
    /// The most bytes that are copied from an object.
    most: Option<Bytes>,
}

impl Patience {
    fn within(limits: &Limits) -> Self {
        let limited =
            |most: Duration| limits.time.map_or(most, |time| most.min(Duration::from_millis(time.get())));
        Self { silence: limited(SILENCE), failing: limited(FAILING), time: limits.time, most: limits.decoded }
    }

    /// The user's limit, if it ended the wait.
    fn reached(&self, waited: Duration) -> Option<LimitReached> {
        let time = self.time?;
        (waited >= Duration::from_millis(time.get())).then_some(LimitReached::Time(time))
    }
}
