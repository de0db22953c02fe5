//! Certificates for servers of tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A certificate for 127.0.0.1 in `folder`, and its key; `None` without openssl.
#[track_caller]
pub fn certificate(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-out".as_ref(), certificate.as_os_str(), "-keyout".as_ref(), key.as_os_str()])
        .output();
    if made.is_ok_and(|output| output.status.success()) {
        return Some((certificate, key));
    }
    super::skipped::note("openssl makes no certificate for the test of TLS");
    None
}
