//! Storages across a network: object stores, Hadoop's file system, web servers, and Spark's history servers.
//!
//! The clients are asynchronous. One small runtime drives them, which is hidden from other crates: each
//! call blocks its thread. `transfer` continues after a broken connection, and compares what arrives with what was
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

use elephant_base::limits::{LimitReached, Limits};
use elephant_base::units::{Bytes, Millis};
use elephant_input::storage::Storage;

use cloud::{Cloud, Provider};
use web::Web;

/// How long a server may send nothing.
const SILENCE: Duration = Duration::from_secs(20);
/// How long a server may fail before it is given up.
const FAILING: Duration = Duration::from_secs(60);
/// How often a request that returned no data is repeated.
const RETRIES: usize = 5;
/// The same, if no server answers.
const RETRIES_OF_NOBODY: usize = 3;
/// The pause before the first retry. Each is three times as long as the one before.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause. A server may ask for a longer one, up to the longest silence.
const LONGEST_PAUSE: Duration = Duration::from_secs(16);
/// A variable with another first pause in milliseconds.
const PAUSE_VARIABLE: &str = "ELEPHANT_RETRY_PAUSE";

/// All storages across a network. Their requests observe the limits.
#[must_use]
pub fn all(limits: &Limits) -> Vec<Arc<dyn Storage>> {
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
    /// The pause before the first retry.
    pause: Duration,
    /// The user's time limit for one history.
    time: Option<Millis>,
    /// The most bytes that are copied from an object.
    most: Option<Bytes>,
}

impl Patience {
    fn within(limits: &Limits) -> Self {
        let limited =
            |most: Duration| limits.time.map_or(most, |time| most.min(Duration::from_millis(time.get())));
        let pause = std::env::var(PAUSE_VARIABLE).ok().and_then(|pause| pause.parse().ok());
        Self {
            silence: limited(SILENCE),
            failing: limited(FAILING),
            pause: pause.map_or(PAUSE, Duration::from_millis),
            time: limits.time,
            most: limits.decoded,
        }
    }

    /// How long to wait after this many failures, if the server asks for a pause or not.
    fn pause(&self, failures: usize, told: Option<Duration>) -> Duration {
        let own = (1..failures).fold(self.pause, |pause, _| LONGEST_PAUSE.min(pause * 3));
        told.map_or(own, |told| own.max(told.min(SILENCE)))
    }

    /// The user's limit, if it ended the wait.
    fn reached(&self, waited: Duration) -> Option<LimitReached> {
        let time = self.time?;
        (waited >= Duration::from_millis(time.get())).then_some(LimitReached::Time(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_servers_may_ask_for_longer_ones() {
        let patience = Patience { pause: PAUSE, ..Patience::within(&Limits::NONE) };
        let pause =
            |failures, told: Option<u64>| patience.pause(failures, told.map(Duration::from_secs)).as_millis();
        let pauses: Vec<u128> = (1..=RETRIES).map(|failures| pause(failures, None)).collect();
        assert_eq!(pauses, [500, 1500, 4500, 13_500, 16_000]);
        assert!(pauses.iter().sum::<u128>() < FAILING.as_millis());
        assert_eq!([pause(1, Some(3)), pause(3, Some(1)), pause(1, Some(3600))], [3000, 4500, 20_000]);
    }
}
