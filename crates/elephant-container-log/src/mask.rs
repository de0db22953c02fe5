//! Messages without what may be secret or personal. A message is shown only if it is asked for, and then as this.

use elephant_base::address::{SECRET_NAMES, without_secrets};

/// What stands in place of what is left out.
const HIDDEN: &str = "***";
/// A message is no longer.
const LONGEST: usize = 300;

/// Words after which the rest of a message is data of the user or a query.
const DATA: [&str; 16] = [
    "processing row",
    "processing writable",
    "SELECT ",
    "select ",
    "INSERT ",
    "insert ",
    "CREATE ",
    "create table",
    "UPDATE ",
    "DELETE ",
    "MERGE ",
    "WITH ",
    "== SQL",
    "environment: {",
    "Environment: {",
    "env = {",
];

/// A message in one line, masked: without logins and queries of addresses, values of secrets, keys of cloud accounts, mail
/// addresses, SQL, rows and dumps of the environment. Control characters are spaces.
#[must_use]
pub fn masked(message: &str) -> String {
    let line: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = without_data(&line);
    let line = without_secrets(&line).into_owned();
    let mut shown = String::with_capacity(line.len());
    let mut hide_next = false;
    for word in line.split_inclusive(' ') {
        let (bare, blank) = match word.strip_suffix(' ') {
            Some(bare) => (bare, " "),
            None => (word, ""),
        };
        if bare.is_empty() {
            shown += blank;
            continue;
        }
        if hide_next && is_sign(bare) {
            shown += bare;
        } else if hide_next {
            shown += HIDDEN;
            hide_next = names_scheme(bare);
        } else {
            shown += &word_masked(bare);
            hide_next = names_secret(bare);
        }
        shown += blank;
    }
    let cut = super::chain::prefix(&shown, LONGEST);
    if cut.len() < shown.len() { format!("{cut}…") } else { shown }
}

/// The text up to where data or a query begins.
fn without_data(line: &str) -> String {
    let start = DATA.iter().filter_map(|mark| line.find(mark)).min();
    match start.and_then(|start| line.get(..start)) {
        Some(before) => format!("{before}{HIDDEN}"),
        None => line.to_owned(),
    }
}

fn is_sign(word: &str) -> bool {
    matches!(word, "=" | ":" | "is" | "->" | "=>")
}

/// `Bearer`, after which the secret follows.
fn names_scheme(word: &str) -> bool {
    ["bearer", "basic", "negotiate"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Whether the next word is the value of a secret: `password:`, `--token`, `secret =`, `Bearer`.
fn names_secret(word: &str) -> bool {
    let name = word.trim_end_matches([':', '=', '"', '\'']);
    let is_marked = name.len() < word.len() || name.starts_with('-');
    names_scheme(name)
        || (is_marked && secret_name(name.trim_start_matches(['-', '"', '\'', '{', '('])))
        || secret_name(name) && name.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Whether a name is that of a secret: a password, a token, a key.
fn secret_name(name: &str) -> bool {
    const SHORT: [&str; 5] = ["key", "pwd", "pass", "authorization", "sig"];
    let lower = name.to_ascii_lowercase();
    let last =
        lower.rsplit(|c: char| !c.is_ascii_alphanumeric()).find(|part| !part.is_empty()).unwrap_or_default();
    SECRET_NAMES.iter().any(|secret| lower.contains(secret)) || SHORT.contains(&last)
}

/// One word without what is secret in it.
fn word_masked(word: &str) -> String {
    if word.contains("jdbc:") {
        return word.split("jdbc:").next().unwrap_or_default().to_owned() + "jdbc:" + HIDDEN;
    }
    if let Some((before, rest)) = word.split_once("://") {
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        let (place, query) = rest.split_at(end);
        let place =
            place.rsplit_once('@').map_or_else(|| place.to_owned(), |(_, host)| format!("{HIDDEN}@{host}"));
        let query = if query.is_empty() { String::new() } else { format!("?{HIDDEN}") };
        return format!("{before}://{place}{query}");
    }
    for separator in ['=', ':'] {
        if let Some((name, value)) = word.split_once(separator)
            && !value.is_empty()
            && secret_name(name)
        {
            return format!("{name}{separator}{HIDDEN}");
        }
    }
    if is_mail(word) || has_access_key(word) { HIDDEN.to_owned() } else { word.to_owned() }
}

fn is_mail(word: &str) -> bool {
    word.split(['<', '>', '(', ')', ',', ';', '"', '\'']).any(|part| {
        part.split_once('@').is_some_and(|(user, host)| {
            let host = host.trim_end_matches(['.', ':']);
            !user.is_empty() && host.contains('.') && host.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    })
}

/// The id of an access key: four letters that say its sort, and 16 capitals or digits.
fn has_access_key(word: &str) -> bool {
    const SORTS: [&str; 6] = ["AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ANPA"];
    word.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| {
        part.len() >= 20
            && SORTS.iter().any(|sort| part.starts_with(sort))
            && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_data_never_stay() {
        for text in [
            "cannot open https://ann:S3CR3T@host/x?sig=S3CR3T",
            "cannot open s3a://AKIAIOSFODNN7EXAMPLE:S3CR3T@bucket/x",
            "password: S3CR3T",
            "password = S3CR3T",
            "the password S3CR3T is wrong",
            "login with --token S3CR3T failed",
            "Authorization: Bearer S3CR3T",
            "secret=S3CR3T",
            "{\"token\": \"S3CR3T\"}",
            "Access key AKIAS3CR3TIOSFODNN7EX is unknown",
            "jdbc:oracle:thin:ann/S3CR3T@db",
            "Hive Runtime Error while processing row {\"name\":\"S3CR3T\"}",
            "cannot parse SELECT S3CR3T FROM t",
            "no price for S3CR3T@example.com",
            "environment: {A=S3CR3T}",
        ] {
            assert!(!masked(text).contains("S3CR3T"), "{}", masked(text));
        }
    }

    #[test]
    fn what_explains_a_failure_stays() {
        for text in [
            "Total size of serialized results of 9478 tasks (1024.1 MiB) is bigger than spark.driver.maxResultSize (1024.0 MiB)",
            "File does not exist: hdfs://nn:8020/data/part-00000",
            "Could not execute broadcast in 300 secs",
            "",
        ] {
            assert_eq!(masked(text), text);
        }
        assert_eq!(masked("a\u{1b}[31m\nb"), "a [31m b");
        assert!(masked(&"x".repeat(1000)).chars().count() <= LONGEST + 1);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_fail(text in "[a-z@:/?=. é\"{}-]{0,60}") {
            let shown = masked(&text);
            proptest::prop_assert!(!shown.contains('\n'));
        }
    }
}
