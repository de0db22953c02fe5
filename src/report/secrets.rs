//! Passwords and keys in configurations.

/// What stands in the place of a secret, as Spark writes it.
const REDACTED: &str = "*********(redacted)";

/// Parts of names whose values are secret: those of Hadoop's `hadoop.security.sensitive-config-keys` and of
/// Spark's `spark.redaction.regex`.
const SECRET: [&str; 8] =
    ["secret", "password", "passwd", "passphrase", "token", "access.key", "accesskey", "credential"];

/// Endings after which a name only says where a secret is, or how it is handled.
const HARMLESS_ENDINGS: [&str; 8] =
    [".enabled", ".provider", ".class", ".interval", ".renewer", ".path", ".file", ".lifetime"];

/// The value to show under this name.
pub(super) fn shown<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret(name) || has_login(value) { REDACTED } else { value }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    let names_one = SECRET.iter().any(|part| name.contains(part));
    names_one && !HARMLESS_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Options of a JVM or a URL that carry a password of their own.
fn has_login(value: &str) -> bool {
    let value = value.to_lowercase();
    let option = ["password=", "passwd=", "secret=", "secretkey=", "accesskey="];
    let login = value.split("://").skip(1).any(|rest| {
        let host = rest.split(['/', '?', '#', ',', ' ']).next().unwrap_or_default();
        host.rsplit_once('@').is_some_and(|(login, _)| login.contains(':'))
    });
    login || option.iter().any(|key| value.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_by_name_and_by_value() {
        for (name, value) in [
            ("fs.s3a.secret.key", "x"),
            ("fs.s3a.access.key", "x"),
            ("javax.jdo.option.ConnectionPassword", "x"),
            ("spark.hadoop.SOME_TOKEN", "x"),
            ("spark.driver.extraJavaOptions", "-Djavax.net.ssl.keyStorePassword=x"),
            ("my.url", "jdbc:mysql://me:pass@db/x"),
        ] {
            assert_eq!(shown(name, value), REDACTED, "{name}");
        }
        for (name, value) in [
            ("mapreduce.map.memory.mb", "2048"),
            ("hadoop.security.credential.provider.path", "jceks://hdfs/x"),
            ("my.url", "jdbc:mysql://db:3306/x"),
            ("mail", "me@example.com"),
        ] {
            assert_eq!(shown(name, value), value, "{name}");
        }
    }
}
