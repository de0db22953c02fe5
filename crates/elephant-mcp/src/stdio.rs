//! Requests on standard input, answers on standard output, one message a line.

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use super::agent::{Agent, Threads};
use super::library::Options;

/// Why a server ended before its client did.
#[derive(Debug, Error)]
pub enum McpError {
    /// The system gives no threads.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
    /// The client does not speak the protocol.
    #[error("the client does not speak the Model Context Protocol: {0}")]
    Client(String),
}

/// Tells a server to end, from any thread.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<Notify>);

impl Stopper {
    /// No further request is answered.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

/// Answers until standard input is closed, or the server is told to stop.
///
/// # Errors
/// If the system gives no threads, or the first message is not one of the protocol.
pub fn serve_stdio(options: Options, stopper: &Stopper) -> Result<(), McpError> {
    serve_on(options, stopper, || (tokio::io::stdin(), tokio::io::stdout()))
}

/// The same on other streams, which are opened when the threads are there.
///
/// # Errors
/// As [`serve_stdio`].
pub fn serve_on<R, W>(
    options: Options,
    stopper: &Stopper,
    streams: impl FnOnce() -> (R, W),
) -> Result<(), McpError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("mcp")
        .enable_all()
        .build()
        .map_err(McpError::Threads)?;
    let served = runtime.block_on(async {
        tokio::select! {
            served = serve(Agent::new(options, Threads::default()), streams()) => served,
            () = stopper.0.notified() => Ok(()),
        }
    });
    // The thread that waits for standard input, and questions of a client that is gone, are not waited for.
    runtime.shutdown_background();
    served
}

async fn serve<R, W>(agent: Agent<Threads>, streams: (R, W)) -> Result<(), McpError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let service = match agent.serve(streams).await {
        Ok(service) => service,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => {
            return Err(McpError::Client(super::told::Sentence::of(&error.to_string()).to_string()));
        }
    };
    // However it ends, the client is gone.
    drop(service.waiting().await);
    Ok(())
}
