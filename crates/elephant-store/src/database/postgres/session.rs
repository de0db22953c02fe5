//! A connection to a server, and the statements on their way there.
//!
//! A statement that only writes is sent without waiting for its result, which is checked before the next answer is
//! used. So a transaction takes as many round trips as it has queries, however much it writes.

use std::future::{Future, poll_fn, ready};
use std::mem::take;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::StreamExt as _;
use rustc_hash::FxHashMap;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::{Client, Config, Error, Statement};

use super::super::super::StoreError;
use super::super::{Interrupter, Row, Value, Visit};
use super::{ServerError, address, failure, tls};

/// How long a server may take to stop a statement.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many statements are sent before their results are checked.
const MOST_SENT: usize = 1000;

type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

pub(super) struct Session {
    runtime: Runtime,
    client: Arc<Client>,
    /// Sends and receives for the client; `None` when it has ended.
    connection: Option<Answer<()>>,
    statements: FxHashMap<String, Statement>,
    /// The answers to come, in the order in which their statements were sent.
    sent: Vec<Answer<u64>>,
}

impl Session {
    pub(super) fn connect(config: &Config) -> Result<Self, StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ServerError::Other(error.to_string()))?;
        let (client, connection) = runtime
            .block_on(config.connect(tls::Tls))
            .map_err(|error| failure::of_connecting(&error, &address::of(config)))?;
        Ok(Self {
            runtime,
            client: Arc::new(client),
            connection: Some(Box::pin(connection)),
            statements: FxHashMap::default(),
            sent: Vec::new(),
        })
    }

    /// What asks the server, by a connection of its own, to stop the statement that runs.
    pub(super) fn interrupter(&self) -> Interrupter {
        let token = self.client.cancel_token();
        Box::new(move || {
            let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
            // A server that does not answer, or has ended the statement already, is as good.
            let asked = async { timeout(PATIENCE, token.cancel_query(tls::Tls)).await };
            let _ = runtime.block_on(asked);
        })
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(super) fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let statement = self.statement(sql)?;
        let client = Arc::clone(&self.client);
        self.answer(async move { client.execute_raw(&statement, values).await })
    }

    /// Sends a statement. If it fails, so does a later call, at the latest the end of the transaction.
    pub(super) fn send(&mut self, sql: &str, values: &[Value<'_>]) -> Result<(), StoreError> {
        let statement = self.statement(sql)?;
        let (client, values) =
            (Arc::clone(&self.client), values.iter().map(Value::to_owned).collect::<Vec<_>>());
        self.queue(Box::pin(async move { client.execute_raw(&statement, values).await }))
    }

    /// Sends statements without values.
    pub(super) fn send_batch(&mut self, sql: String) -> Result<(), StoreError> {
        let client = Arc::clone(&self.client);
        self.queue(Box::pin(async move { client.batch_execute(&sql).await.map(|()| 0) }))
    }

    /// Runs statements without values.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        let client = Arc::clone(&self.client);
        self.answer(async move { client.batch_execute(sql).await })
    }

    /// Passes the rows of a query to `visit`.
    pub(super) fn visit(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        visit: Visit<'_>,
    ) -> Result<(), StoreError> {
        let statement = self.statement(sql)?;
        let client = Arc::clone(&self.client);
        self.answer(async move {
            let mut rows = pin!(client.query_raw(&statement, values).await?);
            while let Some(row) = rows.next().await {
                match visit(&Row::Postgres(&row?)) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => return Ok(Err(error)),
                }
            }
            Ok(Ok(()))
        })?
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let client = Arc::clone(&self.client);
        // No text of a statement contains a question mark.
        let text = sql.replace('?', "$");
        let statement = self.answer(async move { client.prepare(&text).await })?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn queue(&mut self, mut answer: Answer<u64>) -> Result<(), StoreError> {
        let answer = match send(answer.as_mut()) {
            Poll::Pending => answer,
            Poll::Ready(done) => Box::pin(ready(done)),
        };
        self.sent.push(answer);
        if self.sent.len() < MOST_SENT { Ok(()) } else { self.answer(ready(Ok(()))) }
    }

    /// Sends a request, and waits for its answer and all earlier ones. Returns the first failure.
    fn answer<T>(&mut self, last: impl Future<Output = Result<T, Error>>) -> Result<T, StoreError> {
        let mut last = pin!(last);
        let early = send(last.as_mut());
        let sent = take(&mut self.sent);
        let mut all = pin!(async move {
            for earlier in sent {
                earlier.await?;
            }
            match early {
                Poll::Ready(done) => done,
                Poll::Pending => last.await,
            }
        });
        let connection = &mut self.connection;
        let done = self.runtime.block_on(poll_fn(|context| {
            if let Some(running) = connection
                && let Poll::Ready(ended) = running.as_mut().poll(context)
            {
                *connection = None;
                if let Err(error) = ended {
                    return Poll::Ready(Err(error));
                }
            }
            all.as_mut().poll(context)
        }));
        done.map_err(|error| failure(&error))
    }
}

/// Hands a request to the connection. Requests are sent in this order.
fn send<T>(request: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Poll<T> {
    request.poll(&mut Context::from_waker(Waker::noop()))
}
