//! Errors of a PostgreSQL server, with advice.

use std::error::Error as _;

use thiserror::Error;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::super::super::StoreError;

/// Why a server of PostgreSQL cannot be used. No message contains a password.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The text is not an address.
    #[error(
        "the address is not understood: {0}; write postgres://USER@HOST:PORT/DATABASE, with %40 for @ in a password"
    )]
    Address(String),
    /// Nothing answers.
    #[error("no connection: {0}; is the server running, and does it listen on this host and port?")]
    Unreachable(String),
    /// TLS cannot be established.
    #[error(
        "no encrypted connection: {0}; name the certificate of the authority in SSL_CERT_FILE, or add ?sslmode=disable \
         to the address if the network is safe"
    )]
    Tls(String),
    /// The user or the password is wrong, or missing.
    #[error("the server refuses the user: {0}; set PGPASSWORD, or name another user in the address")]
    Refused(String),
    /// There is no such database.
    #[error("{0}; an administrator makes it with `createdb --encoding UTF8 NAME`")]
    NoDatabase(String),
    /// The database has another encoding.
    #[error(
        "the database has the encoding {0}; make one with `createdb --encoding UTF8 --template template0 NAME`"
    )]
    Encoding(String),
    /// Rights are missing.
    #[error("{0}; the owner of the database can grant the right")]
    Denied(String),
    /// Another program held the lock of writers for too long.
    #[error("another program has written to it for more than a minute; try again later")]
    Locked,
    /// The transaction conflicts with another one.
    #[error("{0}; run the command again")]
    Conflict(String),
    /// The connection broke off.
    #[error("the connection broke off: {0}; what was stored before is kept, so run the command again")]
    Lost(String),
    /// A query is still being read.
    #[error("a question was asked while another was being answered; please report this")]
    Busy,
    /// Anything else that the server says.
    #[error("{0}")]
    Other(String),
}

/// The failure of a statement.
pub(in crate::database) fn failure(error: &Error) -> StoreError {
    let text = text(error);
    let is_lost = error.is_closed() || io_error(error).is_some();
    let Some(state) = error.code() else {
        return if is_lost { ServerError::Lost(text) } else { ServerError::Other(text) }.into();
    };
    let class = state.code().get(..2).unwrap_or_default();
    if is_lost || class == "08" || class == "57" {
        // Class 57: an administrator stops the server or the session.
        ServerError::Lost(text)
    } else if class == "40" {
        ServerError::Conflict(text)
    } else if *state == SqlState::LOCK_NOT_AVAILABLE {
        ServerError::Locked
    } else if *state == SqlState::INSUFFICIENT_PRIVILEGE {
        ServerError::Denied(text)
    } else {
        ServerError::Other(text)
    }
    .into()
}

/// The failure to connect.
pub(super) fn of_connecting(error: &Error, place: &str) -> StoreError {
    let text = text(error);
    let Some(state) = error.code() else {
        let is_network = io_error(error).is_some_and(|error| error.get_ref().is_none());
        let words = text.to_lowercase();
        return if words.contains("tls") || words.contains("certificate") {
            ServerError::Tls(text)
        } else if is_network || words.contains("connecting") || words.contains("lookup") {
            ServerError::Unreachable(text)
        } else if words.contains("password") {
            ServerError::Refused(text)
        } else {
            ServerError::Other(format!("{text} ({place})"))
        }
        .into();
    };
    if state.code().starts_with("28") {
        ServerError::Refused(text)
    } else if *state == SqlState::INVALID_CATALOG_NAME {
        ServerError::NoDatabase(text)
    } else if state.code().starts_with("57") || state.code().starts_with("53") {
        ServerError::Lost(text)
    } else {
        ServerError::Other(text)
    }
    .into()
}

fn io_error(error: &Error) -> Option<&std::io::Error> {
    error.source()?.downcast_ref()
}

/// What the server or the system says.
pub(super) fn text(error: &Error) -> String {
    if let Some(told) = error.as_db_error() {
        return told.message().to_owned();
    }
    match error.source() {
        Some(source) => format!("{error}: {source}").replace(": : ", ": "),
        None => error.to_string(),
    }
}
