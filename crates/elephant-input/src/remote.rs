//! Addresses of storage that this program does not read, and how to fetch from there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The command that fetches from a path that is an address; `None` for a path of this machine.
pub(super) fn how_to_fetch(path: &Path) -> Option<String> {
    let address = path.to_str()?;
    let (scheme, rest) = address.split_once(":/")?;
    let quoted = quoted(address);
    Some(match scheme.to_ascii_lowercase().as_str() {
        "s3" | "s3a" | "s3n" => {
            format!("aws s3 cp --recursive {} histories/", self::quoted(&format!("s3:/{rest}")))
        }
        "gs" => format!("gsutil cp -r {quoted} histories/"),
        "abfs" | "abfss" | "wasb" | "wasbs" => format!("hdfs dfs -get {quoted} histories/"),
        "hdfs" | "viewfs" | "webhdfs" => {
            format!("hdfs dfs -get {quoted} histories/, or pipe it: hdfs dfs -cat {quoted} | elephant-rs … -")
        }
        "http" | "https" => from_server(address)
            .unwrap_or_else(|| format!("curl -O {quoted}, or pipe it: curl {quoted} | elephant-rs … -")),
        "ftp" => format!("curl -O {quoted}, or pipe it: curl {quoted} | elephant-rs … -"),
        "dbfs" => from_databricks(address, rest),
        scheme if is_other_scheme(scheme, rest) => {
            format!("hdfs dfs -get {quoted} histories/ if Hadoop reads {scheme}:// on your cluster")
        }
        _ => return None,
    })
}

/// The command for a file of Databricks, whose nodes also have it at `/dbfs`.
fn from_databricks(address: &str, rest: &str) -> String {
    let path = rest.trim_start_matches('/');
    let mounted = quoted(&format!("/dbfs/{path}"));
    format!("databricks fs cp -r {} histories/, or name {mounted} where it is mounted", quoted(address))
}

/// Whether an address has a scheme that only a file system of Hadoop may know, such as `oss://`. A drive (`C:/`) has
/// one letter, and `file:` is of this machine.
fn is_other_scheme(scheme: &str, rest: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let starts_with_letter = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    rest.starts_with('/')
        && scheme != "file"
        && scheme.len() > 1
        && starts_with_letter
        && scheme.chars().all(is_name)
}

/// The command for a page of a history server, which is not a history itself.
fn from_server(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let (host, page) = rest.split_once('/').unwrap_or((rest, ""));
    let mut parts = page.split(['/', '?', '#']).filter(|part| !part.is_empty());
    let logs = |id: &str| {
        let archive = quoted(&format!("{id}.zip"));
        format!("curl -o {archive} {}", quoted(&format!("{scheme}://{host}/api/v1/applications/{id}/logs")))
    };
    match (parts.next(), parts.next()) {
        (None, _) => {
            let list = quoted(&format!("{scheme}://{host}/api/v1/applications"));
            Some(format!("curl {list} lists the applications of Spark's history server, {}", logs("ID")))
        }
        (Some("history"), Some(id)) => Some(logs(id)),
        (Some("jobhistory"), _) => {
            Some("hdfs dfs -get /mr-history/done histories/ (mapreduce.jobhistory.done-dir)".to_owned())
        }
        _ => None,
    }
}

/// The path of an address of this machine in Java's short form, `file:/var/log/spark`.
pub(super) fn local_path(path: &Path) -> Option<PathBuf> {
    let (scheme, rest) = path.to_str()?.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    (rest.starts_with('/') && !rest.starts_with("//")).then(|| decoded(rest).into())
}

/// The path in an address. Text that is not an escape (`%20`) is kept, because people paste paths after `file://`.
pub(super) fn decoded(path: &str) -> OsString {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = || {
            let digits = std::str::from_utf8(after.get(..2).filter(|_| first == b'%')?).ok()?;
            digits
                .bytes()
                .all(|digit| digit.is_ascii_hexdigit())
                .then(|| u8::from_str_radix(digits, 16).ok())?
        };
        // No path contains a zero byte.
        let byte = escaped().filter(|&byte| byte != 0);
        bytes.push(byte.unwrap_or(first));
        rest = byte.and_then(|_| after.get(2..)).unwrap_or(after);
    }
    from_bytes(bytes)
}

#[cfg(unix)]
fn from_bytes(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn from_bytes(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// As one word of a shell.
fn quoted(address: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ":/._-@+,=%".contains(c);
    if address.chars().all(is_plain) {
        return address.to_owned();
    }
    format!("'{}'", address.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_recognised_by_their_scheme() {
        let fetch = |path: &str| how_to_fetch(Path::new(path));
        for (path, command) in [
            ("s3://bucket/spark-events", "aws s3 cp --recursive s3://bucket/spark-events histories/"),
            ("S3A://bucket/app.log", "aws s3 cp --recursive s3://bucket/app.log"),
            ("gs://bucket/x", "gsutil cp -r gs://bucket/x"),
            ("abfss://c@account.dfs.core.windows.net/x", "hdfs dfs -get abfss://c@account"),
            ("wasb://c@account/x", "hdfs dfs -get wasb:"),
            ("hdfs://nn:8020/done/*.jhist", "hdfs dfs -cat 'hdfs://nn:8020/done/*.jhist' | elephant-rs … -"),
            ("hdfs:///mr-history", "hdfs dfs -get hdfs:///mr-history"),
            ("https://host:18080/logs?a&b", "curl -O 'https://host:18080/logs?a&b'"),
            ("http://host:18080/", "curl http://host:18080/api/v1/applications lists the applications"),
            ("http://host:18080", "curl -o ID.zip http://host:18080/api/v1/applications/ID/logs"),
            ("https://h/history/app-1/jobs/?x", "curl -o app-1.zip https://h/api/v1/applications/app-1/logs"),
            ("http://h:19888/jobhistory/job/job_1_0001", "hdfs dfs -get /mr-history/done"),
            (
                "dbfs:/cluster logs/x",
                "databricks fs cp -r 'dbfs:/cluster logs/x' histories/, or name '/dbfs/cluster logs/x'",
            ),
            ("dbfs:///x", "name /dbfs/x where"),
            (
                "oss://bucket/x",
                "hdfs dfs -get oss://bucket/x histories/ if Hadoop reads oss:// on your cluster",
            ),
            ("MapRFS:///x", "hdfs dfs -get MapRFS:///x"),
        ] {
            assert!(fetch(path).is_some_and(|fetch| fetch.contains(command)), "{path}: {:?}", fetch(path));
        }
        for (path, local) in [
            ("file:/x", Some("/x")),
            ("FILE:/x%20y", Some("/x y")),
            ("file:///x", None),
            ("file:x", None),
            ("file", None),
            ("files:///x", None),
        ] {
            assert_eq!(local_path(Path::new(path)).as_deref(), local.map(Path::new), "{path}");
        }
        for path in [
            "history/s3/app.log",
            "C:/histories",
            "s3",
            "/hdfs://x",
            "C://x",
            "app:1",
            "app:/1",
            "file:///x",
            "4s://x",
            "a b://x",
            "://x",
        ] {
            assert_eq!(fetch(path), None, "{path}");
        }
    }
}
