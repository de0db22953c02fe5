//! What the head of a request says of its sender, and of a body.

use std::net::IpAddr;

use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};

use super::failure::Failure;

/// Refuses a body.
pub(crate) fn no_body(headers: &HeaderMap) -> Result<(), Failure> {
    let has_length = headers.get(CONTENT_LENGTH).is_some_and(|length| length.as_bytes() != b"0");
    if has_length || headers.contains_key(TRANSFER_ENCODING) { Err(Failure::Body) } else { Ok(()) }
}

/// Whether a request was sent to a name of this machine. A page of another site may have let its name lead here, to read
/// with the eyes of its visitor.
pub(crate) fn is_own_name(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return true };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        let is_own =
            |host: &'static str| is_own_name(&[(HOST, HeaderValue::from_static(host))].into_iter().collect());
        for host in ["localhost", "LOCALHOST:8750", "127.0.0.1:8750", "[::1]:8750", "[::1]", "127.1.2.3"] {
            assert!(is_own(host), "{host}");
        }
        for host in ["evil.example", "evil.example:8750", "localhost.evil.example", "10.0.0.1:8750", ""] {
            assert!(!is_own(host), "{host}");
        }
    }
}
