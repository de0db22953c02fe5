//! Passwords and keys in configurations.

use elephant_base::address::SECRET_NAMES;

/// The replacement for a secret, as Spark writes it.
const REDACTED: &str = "*********(redacted)";

/// Suffixes of keys that hold a secret's location or policy, not the secret.
const HARMLESS_ENDINGS: [&str; 8] =
    [".enabled", ".provider", ".class", ".interval", ".renewer", ".path", ".file", ".lifetime"];

/// Keys inside values: JVM options, URL queries, connection strings.
const KEYS: [&str; 12] = [
    "password=",
    "passwd=",
    "secret=",
    "secretkey=",
    "accesskey=",
    "accountkey=",
    "apikey=",
    "api_key=",
    "api-key=",
    "privatekey=",
    "private_key=",
    "token=",
];

/// Parts of the names of command-line options whose arguments are secret.
const OPTIONS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "apikey",
    "api-key",
    "api_key",
    "access-key",
    "private-key",
];

/// The value to show for this name.
#[must_use]
pub fn shown<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret(name, value) || holds_secret(value) { REDACTED } else { value }
}

fn is_secret(name: &str, value: &str) -> bool {
    let lower = name.to_lowercase();
    if HARMLESS_ENDINGS.iter().any(|ending| lower.ends_with(ending)) {
        return false;
    }
    // Azure's account keys contain the account name: `fs.azure.account.key.ACCOUNT.blob.core.windows.net`.
    let of_account = lower.contains("account.key.") || lower.ends_with("account.key");
    SECRET_NAMES.iter().any(|part| lower.contains(part))
        || of_account
        || (names_pwd(&lower) && !is_folder(name, value))
        || (names_header(&lower) && !is_switch(value))
}

/// Whether a word of the name is `pwd` or ends in it.
fn names_pwd(name: &str) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.ends_with("pwd"))
}

/// Whether this is the environment variable `PWD` with the working directory.
fn is_folder(name: &str, value: &str) -> bool {
    name.ends_with("PWD") && value.starts_with('/')
}

/// Whether the name is that of an `Authorization` header. `hive.security.authorization.manager` is not one.
fn names_header(name: &str) -> bool {
    name.ends_with("authorization") || name.contains("bearer")
}

/// A boolean or a number, such as the value of `hadoop.security.authorization`.
fn is_switch(value: &str) -> bool {
    let value = value.trim();
    value.is_empty()
        || ["true", "false"].iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.parse::<f64>().is_ok()
}

fn holds_secret(value: &str) -> bool {
    let lower = value.to_lowercase();
    KEYS.iter().any(|key| lower.contains(key))
        || has_pwd(&lower)
        || has_login(value)
        || has_header(value)
        || has_option(&lower)
        || has_access_key(value)
}

/// `pwd=…`, except with a folder as value.
fn has_pwd(value: &str) -> bool {
    value.split("pwd=").skip(1).any(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// A URL with a user and a password.
fn has_login(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let host = rest.split(['/', '?', '#', ',', ' ']).next().unwrap_or_default();
        host.rsplit_once('@').is_some_and(|(login, _)| login.contains(':'))
    })
}

/// `Bearer <token>` or `Basic <user and password>`, as in an `Authorization` header.
fn has_header(value: &str) -> bool {
    let words = || value.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';'));
    let is_alone = words().count() == 2;
    words().zip(words().skip(1)).any(|(scheme, login)| {
        let scheme = scheme.rsplit([':', '=']).next().unwrap_or_default();
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        (is_bearer && is_alone && !login.is_empty())
            || ((is_bearer || scheme.eq_ignore_ascii_case("basic")) && is_encoded(login))
    })
}

/// Whether this looks like encoded data rather than a word: "Basic authentication" is not secret.
fn is_encoded(text: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase();
    let is_word =
        !text.contains(|c: char| c.is_ascii_digit() || c == '=') && !text.chars().skip(1).any(is_capital);
    text.len() >= 8 && !is_word
}

/// `--password X`, `--password=X`, `--auth-token X`, `-password X`. `value` must be in lower case.
fn has_option(value: &str) -> bool {
    let mut words = value.split_whitespace().map(|word| word.trim_matches(['"', '\''])).peekable();
    while let Some(word) = words.next() {
        let (name, argument) = match word.split_once('=') {
            Some((name, argument)) => (name, Some(argument)),
            None => (word, words.peek().copied().filter(|next| !next.starts_with('-'))),
        };
        if names_secret_option(name) && argument.is_some_and(|argument| !argument.is_empty()) {
            return true;
        }
    }
    false
}

fn names_secret_option(option: &str) -> bool {
    if let Some(name) = option.strip_prefix("--") {
        let ending = name.rsplit(['-', '_', '.']).next().unwrap_or_default();
        let is_harmless = ["file", "path", "provider", "class", "enabled", "interval", "renewer", "lifetime"];
        let is_secret = OPTIONS.iter().any(|part| name.contains(part));
        return !is_harmless.contains(&ending) && (is_secret || name.ends_with("token") || ending == "pwd");
    }
    ["-password", "-passwd", "-pwd", "-token", "-secret"].contains(&option)
}

/// The id of an AWS access key: `AKIA` or `ASIA` and 16 capitals or digits.
fn has_access_key(value: &str) -> bool {
    value.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        word.len() == 20
            && (word.starts_with("AKIA") || word.starts_with("ASIA"))
            && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(settings: &[(&str, &str)]) {
        for (name, value) in settings {
            assert_eq!(shown(name, value), REDACTED, "{name}={value}");
        }
    }

    fn open(settings: &[(&str, &str)]) {
        for (name, value) in settings {
            assert_eq!(shown(name, value), *value, "{name}={value}");
        }
    }

    #[test]
    fn names_reveal_secrets() {
        hidden(&[
            ("fs.s3a.secret.key", "x"),
            ("fs.s3a.access.key", "x"),
            ("javax.jdo.option.ConnectionPassword", "x"),
            ("spark.hadoop.SOME_TOKEN", "x"),
            ("my.apiKey", "x"),
            ("spark.executorEnv.MAPS_API_KEY", "12345"),
            ("my.api-key", "x"),
            ("db.pwd", "x"),
            ("dbPwd", "x"),
            ("spark.executorEnv.DB_PWD", "x"),
            ("ldap.passwd", "x"),
            ("service.private_key", "x"),
            ("service.privateKey", "x"),
            ("fs.azure.accountKey", "x"),
            ("fs.azure.account.key.me.blob.core.windows.net", "x"),
            ("es.net.http.header.Authorization", "x"),
            ("my.bearer", "x"),
        ]);
        open(&[
            ("mapreduce.map.memory.mb", "2048"),
            ("hadoop.security.credential.provider.path", "jceks://hdfs/x"),
            ("hadoop.security.authorization", "true"),
            ("hadoop.security.authorization", "FALSE"),
            ("my.authorization", "3"),
            ("hive.security.authorization.manager", "org.example.Manager"),
            ("use.bearer", "true"),
            ("spark.ui.port", "4040"),
            ("spark.executorEnv.PWD", "/data/yarn/container_1"),
            ("fs.azure.account.keyprovider.me.blob.core.windows.net", "org.example.KeyProvider"),
            ("spark.sql.keyword", "x"),
        ]);
    }

    #[test]
    fn values_reveal_secrets() {
        hidden(&[
            ("spark.driver.extraJavaOptions", "-Djavax.net.ssl.keyStorePassword=x"),
            ("my.url", "jdbc:mysql://me:pass@db/x"),
            ("my.url", "jdbc:sqlserver://db;user=me;Pwd=x"),
            ("my.url", "https://example.com/?api_key=x"),
            ("my.url", "https://example.com/?token=x"),
            ("storage", "AccountName=me;AccountKey=YWJj==;EndpointSuffix=x"),
            ("header", "Bearer abc"),
            ("header", "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.x and more"),
            ("header", "authorization:basic dXNlcjpwYXNz"),
            ("header", "curl -H 'Authorization: Basic dXNlcjpwYXNz' example.com"),
            ("id", "AKIAIOSFODNN7EXAMPLE"),
            ("id", "key ASIAIOSFODNN7EXAMPLE, region x"),
            ("args", "load --password hunter2"),
            ("args", "load --Password=hunter2"),
            ("args", "load --db-password 'hunter2' --table x"),
            ("args", "load --token=x"),
            ("args", "load --auth-token x"),
            ("args", "load --secret x"),
            ("args", "load --secret-key x"),
            ("args", "sqoop import -password x"),
            ("args", "load --db-pwd x"),
        ]);
        open(&[
            ("my.url", "jdbc:mysql://db:3306/x"),
            ("mail", "me@example.com"),
            ("about", "Basic authentication"),
            ("about", "the bearer of news"),
            ("about", "basic"),
            ("id", "AKIAIOSFODNN7EXAMPL"),
            ("id", "XAKIAIOSFODNN7EXAMPLE"),
            ("id", "AKIAiosfodnn7example"),
            ("args", "load --password-file /x"),
            ("args", "load --ask-password"),
            ("args", "load --password --verbose"),
            ("args", "load --max-tokens 100"),
            ("args", "serve -p 8080"),
            ("env", "PWD=/data/x"),
            ("spark.driver.extraJavaOptions", "-Dhadoop.security.authorization=true"),
        ]);
        open(&[("", ""), ("a", "--"), ("a", "--password"), ("a", "Bearer "), ("a", "日本 語")]);
    }
}
