//! The address under which others reach a server.

use std::fmt;
use std::str::FromStr;

use axum::http::Uri;
use thiserror::Error;

/// The address at which people reach the pages: a scheme and a name, such as `https://elephant.example`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

/// A text is no [`PublicUrl`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "it must be as https://elephant.example: http or https and a name, without a path, because pages are at its root"
)]
pub struct NoPublicUrl;

impl FromStr for PublicUrl {
    type Err = NoPublicUrl;

    fn from_str(written: &str) -> Result<Self, NoPublicUrl> {
        let url: Uri = written.parse().map_err(|_| NoPublicUrl)?;
        let (scheme, authority) = url.scheme_str().zip(url.authority()).ok_or(NoPublicUrl)?;
        let is_web = ["http", "https"].contains(&scheme);
        let is_root = matches!(url.path(), "" | "/") && url.query().is_none();
        if !is_web || !is_root || authority.as_str().contains('@') {
            return Err(NoPublicUrl);
        }
        Ok(Self(format!("{scheme}://{authority}")))
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_a_whole_site() {
        for (written, expected) in [
            ("https://elephant.example", Some("https://elephant.example")),
            ("http://10.0.0.7:8750/", Some("http://10.0.0.7:8750")),
            ("http://[::1]:8750", Some("http://[::1]:8750")),
            ("https://a|b", None),
            ("https://a>b", None),
            ("https://", None),
            ("https://elephant.example/fleet", None),
            ("https://elephant.example/?a=b", None),
            ("https://user:secret@elephant.example", None),
            ("ftp://elephant.example", None),
            ("elephant.example", None),
            ("https://a b", None),
            ("", None),
        ] {
            let read = written.parse::<PublicUrl>().ok().map(|url| url.to_string());
            assert_eq!(read.as_deref(), expected, "{written}");
        }
    }
}
