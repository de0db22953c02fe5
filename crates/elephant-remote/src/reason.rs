//! Why a storage did not answer a request, and what to do.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use elephant_input::storage::StorageFailure;

/// Addresses of the metadata services from which cloud machines get the credentials of their role.
pub(super) const METADATA: [&str; 3] = ["169.254.169.254", "metadata.google.internal", "/latest/api/token"];

/// What a server's answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// 404 and 410.
    NotFound(String),
    /// 401 and 403.
    Refused(String),
    /// The object is not the one that was listed.
    Changed,
    /// The server does not support ranges.
    NoRanges,
    /// Another attempt may succeed.
    Passing(String),
    /// As [`Self::Passing`], but the server asks for a pause.
    Busy(String, Duration),
    /// As [`Self::Passing`], after all attempts.
    Exhausted(String),
    /// Another attempt will fail, too.
    Lasting(String),
}

impl Reason {
    /// The meaning of an HTTP status other than success.
    pub(super) fn of_status(status: u16, said: &str) -> Self {
        let said =
            if said.is_empty() { format!("status {status}") } else { format!("status {status}: {said}") };
        match status {
            404 | 410 => Self::NotFound(said),
            401 | 403 => Self::Refused(said),
            408 | 429 | 500..=599 => Self::Passing(said),
            _ => Self::Lasting(said),
        }
    }

    /// With the pause that a server asks for, in seconds: the header Retry-After, which may also be a date.
    pub(super) fn after(self, told: Option<&str>) -> Self {
        match (self, told.and_then(|told| told.trim().parse().ok())) {
            (Self::Passing(said), Some(seconds)) => Self::Busy(said, Duration::from_secs(seconds)),
            (reason, _) => reason,
        }
    }

    /// As an error of the storage; `credentials` says where these come from.
    pub(super) fn error(self, credentials: &str) -> io::Error {
        let (kind, text) = match self {
            Self::NotFound(said) if said.contains("NoSuchBucket") || said.contains("ContainerNotFound") => {
                (ErrorKind::NotFound, format!("there is no such bucket or container ({said}); check its name"))
            }
            Self::NotFound(said) => {
                (ErrorKind::NotFound, format!("it does not exist ({said}); check the spelling"))
            }
            Self::Refused(said) => {
                (ErrorKind::PermissionDenied, format!("access was denied ({said}); {credentials}"))
            }
            Self::Changed => (
                ErrorKind::InvalidData,
                "it was replaced while it was being read, so the rest belongs to another version; run the command again"
                    .to_owned(),
            ),
            Self::NoRanges => return ErrorKind::Unsupported.into(),
            Self::Passing(said) | Self::Busy(said, _) | Self::Exhausted(said) => (
                ErrorKind::ConnectionAborted,
                format!("all attempts failed ({said}); try again later, or check the address and the network"),
            ),
            Self::Lasting(said) => (ErrorKind::Other, said),
        };
        StorageFailure::error(kind, text)
    }
}

/// The last causes of an error, which are the most specific.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut causes = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(next) = cause {
        causes.push(next.to_string());
        cause = next.source();
    }
    // A wrapper often repeats what it wraps.
    let mut kept: Vec<String> = Vec::new();
    for cause in causes.into_iter().rev() {
        if !kept.iter().any(|known| cause.contains(known.as_str())) {
            kept.insert(0, cause);
        }
    }
    short(&kept.join(": "))
}

/// Some servers answer with a whole page.
const LONGEST: usize = 300;

/// The code and the message of an error document, or the beginning of any other text.
pub(super) fn short(text: &str) -> String {
    let tag = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim().to_owned())
    };
    let told = match (tag("Code"), tag("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code,
        _ => text.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    told.trim_end_matches('.').chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_errors_are_told_in_short() {
        let document = "Error performing GET … in 1ms: <?xml?><Error><Code>NoSuchBucket</Code><Message>The specified \
                        bucket does not exist.</Message><RequestId>7</RequestId></Error>";
        assert_eq!(short(document), "NoSuchBucket: The specified bucket does not exist");
        assert_eq!(short("<html>\n  <b>no</b>\x1b[1m"), "<html> <b>no</b>[1m");
        assert_eq!(short(&"x".repeat(1000)).len(), LONGEST);
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for (status, is_passing) in
            [(400, false), (404, false), (403, false), (429, true), (500, true), (503, true)]
        {
            assert_eq!(matches!(Reason::of_status(status, ""), Reason::Passing(_)), is_passing, "{status}");
        }
        let busy = Reason::Busy("status 503".to_owned(), Duration::from_secs(7));
        assert_eq!(Reason::of_status(503, "").after(Some("7")), busy);
        let date = Some("Fri, 27 Nov 2026 05:00:00 GMT");
        assert_eq!(Reason::of_status(503, "").after(date), Reason::of_status(503, ""));
        assert_eq!(Reason::of_status(404, "").after(Some("7")), Reason::of_status(404, ""));
        let error = Reason::of_status(403, "AccessDenied").error("check the key");
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), "access was denied (status 403: AccessDenied); check the key");
        assert_eq!(Reason::NoRanges.error("").kind(), ErrorKind::Unsupported);
    }
}
