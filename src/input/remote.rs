//! Addresses of storage that this program does not read, and how to fetch from there.

use std::path::Path;

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
            format!("hdfs dfs -get {quoted} histories/, or hdfs dfs -cat {quoted} | elephant-rs analyze -")
        }
        "http" | "https" | "ftp" => {
            format!("curl -O {quoted}, or curl {quoted} | elephant-rs analyze -")
        }
        _ => return None,
    })
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
            (
                "hdfs://nn:8020/done/*.jhist",
                "hdfs dfs -cat 'hdfs://nn:8020/done/*.jhist' | elephant-rs analyze -",
            ),
            ("hdfs:///mr-history", "hdfs dfs -get hdfs:///mr-history"),
            ("https://host:18080/logs?a&b", "curl -O 'https://host:18080/logs?a&b'"),
        ] {
            assert!(fetch(path).is_some_and(|fetch| fetch.contains(command)), "{path}: {:?}", fetch(path));
        }
        for path in ["history/s3/app.log", "C:/histories", "s3", "/hdfs://x", "s4://x", "app:1"] {
            assert_eq!(fetch(path), None, "{path}");
        }
    }
}
