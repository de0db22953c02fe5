//! Host and rack names as written by all Hadoop versions.

/// Splits `/rack/host`, `host`, `tracker_host:localhost/127.0.0.1:57217` or `host:8041` into host and rack.
///
/// Source: `TaskAttemptFinishedEvent` (`hostname`, `rackname`), Hadoop 1 `JobHistory` (`HOSTNAME`,
/// `TRACKER_NAME`), `TaskStartedEvent` (`splitLocations`).
#[must_use]
pub(crate) fn host_and_rack(text: &str) -> (Option<&str>, Option<&str>) {
    let text = text.trim();
    let text = text.strip_prefix("tracker_").unwrap_or(text);
    let (rack, host) = match text.strip_prefix('/') {
        // A plain loop: names are too short for a library search to pay off, and every task has several.
        Some(path) => match path.bytes().rposition(|byte| byte == b'/') {
            Some(at) => (text.get(..=at), path.get(at + 1..)),
            None => (None, Some(path)),
        },
        None => (None, Some(text)),
    };
    let host = host.map(|host| {
        let end = host.bytes().position(|byte| matches!(byte, b':' | b'/'));
        end.and_then(|end| host.get(..end)).unwrap_or(host)
    });
    let host = host.filter(|host| !host.is_empty());
    (host, rack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        assert_eq!(host_and_rack("node4.example.com"), (Some("node4.example.com"), None));
        assert_eq!(host_and_rack("/rack1/node4"), (Some("node4"), Some("/rack1")));
        assert_eq!(host_and_rack("/76.13.186.64/node4"), (Some("node4"), Some("/76.13.186.64")));
        assert_eq!(host_and_rack("/dc/rack1/node4"), (Some("node4"), Some("/dc/rack1")));
        assert_eq!(host_and_rack("/localhost"), (Some("localhost"), None));
        assert_eq!(host_and_rack("tracker_n1.x:localhost/127.0.0.1:57217"), (Some("n1.x"), None));
        assert_eq!(host_and_rack("localhost/127.0.0.1:3333"), (Some("localhost"), None));
        assert_eq!(host_and_rack(""), (None, None));
        assert_eq!(host_and_rack("/"), (None, None));
    }
}
