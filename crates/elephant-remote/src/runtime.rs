//! The runtime of the asynchronous clients.

use std::future::Future;
use std::io;
use std::sync::{Once, OnceLock};

use tokio::runtime::{Builder, Runtime};

static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();

/// Waits for a result.
///
/// # Errors
/// If the runtime cannot be started.
pub(super) fn wait_for<T>(future: impl Future<Output = T>) -> io::Result<T> {
    Ok(runtime()?.block_on(future))
}

/// The handle on which clients run their background tasks.
///
/// # Errors
/// If the runtime cannot be started.
#[cfg(feature = "hdfs")]
pub(super) fn handle() -> io::Result<tokio::runtime::Handle> {
    Ok(runtime()?.handle().clone())
}

/// Chooses the implementation of TLS, before the first client is made.
pub(super) fn choose_tls() {
    static CHOSEN: Once = Once::new();
    CHOSEN.call_once(|| {
        // Another part of the process may have chosen before.
        if rustls::crypto::ring::default_provider().install_default().is_err() {
            log::debug!("TLS was set up before");
        }
    });
}

fn runtime() -> io::Result<&'static Runtime> {
    let started = RUNTIME.get_or_init(|| {
        // The runtime only waits for sockets, so two threads are enough.
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_name("storage").enable_all().build();
        runtime.map_err(|error| error.to_string())
    });
    started
        .as_ref()
        .map_err(|error| io::Error::other(format!("the network client cannot be started: {error}")))
}
