//! Addresses in messages and reports: without passwords, keys and signatures.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// What stands in place of a secret.
const HIDDEN: &str = "***";

/// Parts of names whose values are secret: those of Hadoop's `hadoop.security.sensitive-config-keys` and Spark's
/// `spark.redaction.regex`, and common names of service keys.
#[doc(hidden)]
pub const SECRET_NAMES: [&str; 20] = [
    "secret",
    "password",
    "passwd",
    "passphrase",
    "token",
    "credential",
    "accesskey",
    "access_key",
    "access-key",
    "access.key",
    "accountkey",
    "account_key",
    "apikey",
    "api_key",
    "api-key",
    "api.key",
    "privatekey",
    "private_key",
    "private-key",
    "private.key",
];

/// The same in addresses only: whoever has the signature of a signed address may read what it names.
const SIGNATURE: &str = "signature";

/// Names of parameters that are too short to look for in longer names.
const SHORT_NAMES: [&str; 8] =
    ["sig", "key", "code", "auth", "pass", "pwd", "authorization", "googleaccessid"];

/// A path that may be an address with a password, a key or a signature. Its text has none of them, so that a message
/// cannot repeat them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Address<'a>(&'a Path);

impl<'a> Address<'a> {
    /// The address as it was written.
    #[must_use]
    pub const fn of(path: &'a Path) -> Self {
        Self(path)
    }
}

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&without_secrets(&self.0.to_string_lossy()))
    }
}

impl fmt::Debug for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(without_secrets(&self.0.to_string_lossy()).as_ref(), f)
    }
}

/// The text with `***` for the secrets of all addresses in it.
#[must_use]
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    if !text.contains(['@', '=']) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(is_between).unwrap_or(rest.len()));
        let logins = without_login(word);
        shown += &without_values(&logins);
        let between = after.find(|c| !is_between(c)).unwrap_or(after.len());
        let (blank, next) = after.split_at(between);
        shown += blank;
        rest = next;
    }
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

/// Whether it ends an address in a sentence or in a command.
fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>')
}

/// A word without the user and the password before its host.
fn without_login(word: &str) -> Cow<'_, str> {
    let start = match (word.find("://"), word.strip_prefix("jdbc:")) {
        (Some(at), _) => at + "://".len(),
        // `jdbc:oracle:thin:USER/PASSWORD@HOST` has no slashes before the user.
        (None, Some(rest)) => {
            let before_host = rest.split('@').next().unwrap_or_default();
            word.len() - rest.len() + before_host.rfind(':').map_or(0, |at| at + 1)
        }
        (None, None) => return Cow::Borrowed(word),
    };
    let (scheme, rest) = word.split_at(start);
    let is_jdbc = word.starts_with("jdbc:");
    let before_query =
        rest.find(['?', '#']).filter(|&at| !is_login(rest.get(..at).unwrap_or_default(), is_jdbc));
    let place = rest.get(..before_query.unwrap_or(rest.len())).unwrap_or(rest);
    // Keys may have unescaped slashes, question marks and at signs.
    let Some((login, _)) = place.rsplit_once('@').filter(|(login, _)| is_login(login, is_jdbc)) else {
        return Cow::Borrowed(word);
    };
    let host = rest.get(login.len()..).unwrap_or_default();
    Cow::Owned(format!("{scheme}{HIDDEN}{host}"))
}

/// Whether the text before an at sign is a user with a password. In `//host:8020/user@x` it is a port and a folder, and in
/// `abfss://container@account` it is no secret.
fn is_login(text: &str, is_jdbc: bool) -> bool {
    let separators: &[char] = if is_jdbc { &['/', ':'] } else { &[':'] };
    let Some((_, after)) = text.split_once(separators) else { return false };
    let port = after.split(['/', '?', '#']).next().unwrap_or_default();
    let has_port =
        after.len() > port.len() && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    !has_port
}

/// A word without the values of secret parameters, wherever they stand: `?sig=…`, `;password=…`, `#access_token=…`.
fn without_values(word: &str) -> Cow<'_, str> {
    const BETWEEN: [char; 5] = ['?', '&', ';', '#', ','];
    if !word.contains('=') {
        return Cow::Borrowed(word);
    }
    let mut shown = String::with_capacity(word.len());
    for part in word.split_inclusive(BETWEEN) {
        let (parameter, end) = part
            .strip_suffix(BETWEEN)
            .map_or((part, ""), |parameter| (parameter, part.get(parameter.len()..).unwrap_or_default()));
        match parameter.split_once('=') {
            Some((name, value)) if !value.is_empty() && is_secret(name) => {
                // A sentence may go on after the address.
                let mark = value.get(value.trim_end_matches([':', '.', ')']).len()..).unwrap_or_default();
                shown.extend([name, "=", HIDDEN, mark, end]);
            }
            _ => shown += part,
        }
    }
    Cow::Owned(shown)
}

fn is_secret(name: &str) -> bool {
    let lower = decoded(name).to_ascii_lowercase();
    let last = lower.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    lower.contains(SIGNATURE)
        || SECRET_NAMES.iter().any(|secret| lower.contains(secret))
        || SHORT_NAMES.contains(&last)
}

/// A name without escapes such as `%73`, which servers read like the letter.
fn decoded(name: &str) -> String {
    let mut parts = name.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(u8::is_ascii) {
            Some(byte) => {
                text.push(char::from(byte));
                text += part.get(2..).unwrap_or_default();
            }
            None => text.extend(["%", part]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_an_address_has_them() {
        for (written, shown) in [
            ("s3://AKIAKEY:S3CR3T@bucket/logs", "s3://***@bucket/logs"),
            ("s3a://AKIAKEY:S3/CR+3T@bucket/logs", "s3a://***@bucket/logs"),
            ("s3a://AKIAKEY:S3?CR#3T@bucket/logs", "s3a://***@bucket/logs"),
            ("https://user:S3CR3T@host/x?page=1", "https://***@host/x?page=1"),
            ("https://user:S3@CR3T@host:8080/x", "https://***@host:8080/x"),
            ("hdfs://u:S3CR3T@nn:8020/logs", "hdfs://***@nn:8020/logs"),
            ("https://h/x?sv=1&sig=S3CR3T&se=2", "https://h/x?sv=1&sig=***&se=2"),
            ("https://h/x?X-Amz-Signature=S3CR3T&a=b", "https://h/x?X-Amz-Signature=***&a=b"),
            ("https://h/x?%73ig=S3CR3T", "https://h/x?%73ig=***"),
            ("https://h/x#access_token=S3CR3T", "https://h/x#access_token=***"),
            ("https://h/x;password=S3CR3T", "https://h/x;password=***"),
            ("jdbc:mysql://db/x?user=a&password=S3CR3T", "jdbc:mysql://db/x?user=a&password=***"),
            (
                "jdbc:sqlserver://db:1433;user=a;password=S3CR3T;x=y",
                "jdbc:sqlserver://db:1433;user=a;password=***;x=y",
            ),
            ("jdbc:oracle:thin:scott/S3CR3T@//db:1521/x", "jdbc:oracle:thin:***@//db:1521/x"),
            ("postgres://u:S3CR3T@h/db", "postgres://***@h/db"),
            ("app.log?token=S3CR3T", "app.log?token=***"),
            (
                "cannot read https://h/x?sig=S3CR3T: no such file",
                "cannot read https://h/x?sig=***: no such file",
            ),
            (
                "fetch it: curl 'https://h/x?sig=S3CR3T' | elephant-rs -, or s3://a:S3CR3T@b/",
                "fetch it: curl 'https://h/x?sig=***' | elephant-rs -, or s3://***@b/",
            ),
        ] {
            assert_eq!(without_secrets(written), shown);
            assert_eq!(Address::of(Path::new(written)).to_string(), shown);
            assert!(!format!("{:?}", Address::of(Path::new(written))).contains("S3CR3T"), "{written}");
            assert_eq!(without_secrets(shown), shown, "it is stable");
        }
    }

    #[test]
    fn other_text_stays() {
        for text in [
            "",
            "/var/log/spark/application_1_0001",
            "abfss://container@account.dfs.core.windows.net/x",
            "hdfs://nn:8020/user/ann@example.com/x",
            "dt=2026-01-01/key_by=name/part@2",
            "https://host:18080/history/app-1/jobs/?id=7",
            "git@host:team/project",
            "--conf spark.executor.memory=4g",
            "100%=x",
            "ü@ß=é",
        ] {
            assert_eq!(without_secrets(text), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_fail(text in "[a-z:/@?&=;#%,' 0-9é]{0,40}") {
            let shown = without_secrets(&text).into_owned();
            proptest::prop_assert_eq!(without_secrets(&shown), shown.as_str());
        }

        #[test]
        fn a_password_never_stays(user in "[a-z]{1,8}", secret in "[A-Za-z][A-Za-z0-9/+_-]{11,30}") {
            for written in [
                format!("s3://{user}:{secret}@bucket/logs"),
                format!("https://host/x?user={user}&password={secret}"),
            ] {
                proptest::prop_assert!(!without_secrets(&written).contains(&secret), "{}", written);
            }
        }
    }
}
