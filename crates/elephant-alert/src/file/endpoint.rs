//! Where a receiver is: its address, and a token. Secrets are in the environment or in files, never in the file of
//! receivers, and no message repeats them.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use super::entries::{Entry, Reader};
use elephant_rule::params::yaml::Span;

/// The keys of an endpoint.
pub(super) const KEYS: [&str; 5] = ["url", "url_env", "url_file", "token_env", "token_file"];
/// Larger files are no secrets.
const MAX_SECRET: u64 = 16 << 10;

/// Where a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// In the file of receivers.
    Written(String),
    /// In this environment variable.
    Env(String),
    /// In this file.
    File(PathBuf),
}

/// An address, and a token that is sent along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) url: Source,
    pub(crate) token: Option<Source>,
}

impl Source {
    /// The value. The error says what is missing, and never a part of the value.
    pub(crate) fn value(&self) -> Result<String, String> {
        let value = match self {
            Self::Written(value) => value.clone(),
            Self::Env(name) => std::env::var(name)
                .map_err(|_| format!("the environment variable {name} is not set, or is not text"))?,
            Self::File(path) => {
                let mut text = String::new();
                File::open(path)
                    .and_then(|file| file.take(MAX_SECRET).read_to_string(&mut text))
                    .map_err(|error| format!("{} cannot be read: {}", path.display(), error.kind()))?;
                text
            }
        };
        let value = value.trim();
        if value.is_empty() || value.chars().any(char::is_control) {
            return Err(format!("the value in {} is empty, or has several lines", self.name()));
        }
        Ok(value.to_owned())
    }

    /// What a message calls it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Written(value) => value.clone(),
            Self::Env(name) => format!("${name}"),
            Self::File(path) => path.display().to_string(),
        }
    }
}

impl Endpoint {
    /// The address with what follows it, such as `/api/v2/alerts`.
    pub(crate) fn address(&self, path: &str) -> Result<String, String> {
        let url = self.url.value()?;
        if host(&url).is_none() {
            return Err(format!(
                "the value in {} is no address that begins with http:// or https://",
                self.url.name()
            ));
        }
        Ok(format!("{}{path}", if path.is_empty() { &url } else { url.trim_end_matches('/') }))
    }

    /// Whether messages can be sent there.
    pub(super) fn check(&self) -> Result<(), String> {
        let address = self.address("")?;
        self.token.as_ref().map_or(Ok(()), |token| token.value().map(drop))?;
        if !cfg!(feature = "http") {
            return Err("this build cannot send by HTTP; install it with --features http,remote".to_owned());
        }
        if address.starts_with("https://") && !cfg!(feature = "remote") {
            return Err("this build has no TLS; install it with --features http,remote".to_owned());
        }
        Ok(())
    }
}

/// The host of an address with its port, and with a login if it has one.
fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next()?;
    let is_plain = !url.chars().any(|c| c.is_whitespace() || c.is_control());
    (is_plain && !host.is_empty()).then_some(host)
}

/// Reads an endpoint from the entries of a receiver. `is_secret` if whoever knows the address may send to it.
pub(super) fn read(
    (entries, span): (&[Entry<'_>], &Span),
    is_secret: bool,
    reader: &mut Reader<'_>,
) -> Option<Endpoint> {
    let (mut urls, mut tokens) = (Vec::new(), Vec::new());
    for (key, node) in entries {
        let name = key.value.as_str();
        if !KEYS.contains(&name) {
            continue;
        }
        let Some(text) = reader.text(node) else { continue };
        let source = match name {
            "url" => Source::Written(text),
            "url_env" | "token_env" => Source::Env(text),
            _ => Source::File(text.into()),
        };
        if let Source::Written(url) = &source {
            if is_secret {
                let help = "put it into an environment variable, and write url_env: NAME; or into a file, and url_file";
                reader.error(&key.span, "whoever knows this address can send to it", Some(help.to_owned()));
            } else if host(url).is_none() {
                let help = Some("write for example http://alertmanager:9093".to_owned());
                reader.error(&node.span, "this is no address of a server", help);
            } else if host(url).is_some_and(|host| host.contains('@')) {
                let help = "remove it, and name where the token is: token_env or token_file; or the whole address: url_env";
                reader.error(&node.span, "the address has a login", Some(help.to_owned()));
            }
        }
        let list = if name.starts_with("url") { &mut urls } else { &mut tokens };
        list.push((key.span.clone(), source));
    }
    for (span, _) in urls.iter().skip(1).chain(tokens.iter().skip(1)) {
        reader.error(span, "the same is given in two ways", Some("keep one of them".to_owned()));
    }
    let Some((_, url)) = urls.into_iter().next() else {
        let help =
            if is_secret { "add url_env: NAME, or url_file: PATH" } else { "add url, url_env or url_file" };
        reader.error(span, "the address is missing", Some(help.to_owned()));
        return None;
    };
    Some(Endpoint { url, token: tokens.into_iter().next().map(|(_, token)| token) })
}
