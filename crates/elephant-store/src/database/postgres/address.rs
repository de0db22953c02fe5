//! Addresses of databases on servers.

use std::fmt::Write as _;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::{ServerError, StoreError};

/// The default port of PostgreSQL.
const USUAL_PORT: u16 = 5432;
/// How long a server may take to answer, unless the address has a `connect_timeout`.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The connection is tested after this time without data.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// The settings in an address. If it has no password, `PGPASSWORD` is used.
pub(super) fn config(address: &str) -> Result<Config, StoreError> {
    let mut config: Config =
        address.parse().map_err(|error| ServerError::Address(super::failure::text(&error)))?;
    if config.get_hosts().is_empty() {
        return Err(ServerError::Address("it has no host".to_owned()).into());
    }
    if config.get_password().is_none()
        && let Ok(password) = std::env::var("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    config.keepalives_idle(KEEPALIVE);
    if config.get_application_name().is_none() {
        config.application_name("elephant-rs");
    }
    Ok(config)
}

/// An address for messages: without the password.
pub(crate) fn shown(address: &str) -> String {
    // Any text that is not understood may be part of a password.
    address.parse().map_or_else(|_| "postgres://…".to_owned(), |config| of(&config))
}

/// The address of a server and its database.
pub(super) fn of(config: &Config) -> String {
    let mut text = "postgres://".to_owned();
    if let Some(user) = config.get_user() {
        text += user;
        text.push('@');
    }
    for (at, host) in config.get_hosts().iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        match host {
            Host::Tcp(name) => text += name,
            #[cfg(unix)]
            Host::Unix(path) => text += &path.display().to_string(),
        }
        let ports = config.get_ports();
        if let Some(port) = ports.get(at).or(ports.first()).filter(|port| **port != USUAL_PORT) {
            let _ = write!(text, ":{port}");
        }
    }
    if let Some(database) = config.get_dbname() {
        text.push('/');
        text += database;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_has_a_password() {
        for (address, text) in [
            ("postgres://etl:secret@db.example.com/fleet", "postgres://etl@db.example.com/fleet"),
            (
                "postgresql://etl@db:5433/fleet?password=secret&sslmode=require",
                "postgres://etl@db:5433/fleet",
            ),
            ("postgres://etl:sec%2Fret@a:1,b:2/fleet", "postgres://etl@a:1,b:2/fleet"),
            ("postgres:///fleet?host=/run/postgresql&user=etl", "postgres://etl@/run/postgresql/fleet"),
            ("postgres://etl:sec/ret@db/fleet", "postgres://etl@db/fleet"),
            // Not an address.
            ("postgres://etl:secret@db/fleet?colour=red", "postgres://…"),
        ] {
            assert_eq!(shown(address), text);
        }
        let refused = config("postgres://etl:secret@db/fleet?colour=red").err().unwrap().to_string();
        assert!(refused.contains("colour") && !refused.contains("secret"), "{refused}");
        assert!(config("postgres://").is_err());
    }
}
