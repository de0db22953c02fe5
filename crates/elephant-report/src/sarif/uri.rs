//! Paths as URI references (RFC 3986).

use std::fmt::Write as _;

/// `path` as a reference: relative paths stay relative, absolute ones get the scheme `file`.
pub(super) fn of(path: &str) -> String {
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for &byte in path.as_bytes() {
        match byte {
            // Colons are escaped: before the first slash they would end a scheme.
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'/'
            | b'='
            | b'+'
            | b'!' => {
                uri.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(of("history/job_1 2.jhist"), "history/job_1%202.jhist");
        assert_eq!(of("/mr-history/ä"), "file:///mr-history/%C3%A4");
        assert_eq!(of("logs.zip!app-1"), "logs.zip!app-1");
        assert_eq!(of("https://example.com"), "https%3A//example.com");
        assert_eq!(of("a%20?b#c"), "a%2520%3Fb%23c");
        assert_eq!(of(""), "");
    }
}
