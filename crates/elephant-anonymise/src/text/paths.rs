//! Paths, URLs and addresses: scheme, depth, format and the folders of engines stay.

use super::dotted::SUFFIXES;
use super::is_of_word;
use crate::mask::Mask;
use crate::pseudonyms::Kind;
use crate::vocabulary::{is_engine_file, is_known};

const SCHEMES: [&str; 31] = [
    "hdfs", "file", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "adl", "dbfs", "http",
    "https", "viewfs", "webhdfs", "swebhdfs", "har", "maprfs", "jdbc", "thrift", "spark", "k8s", "mesos",
    "zk", "jceks", "oss", "cosn", "obs", "tachyon", "alluxio",
];

/// Schemes whose authority is a bucket.
const OF_BUCKETS: [&str; 9] = ["s3", "s3a", "s3n", "gs", "oss", "cosn", "obs", "abfss", "wasbs"];

/// Folders and files of engines and systems. Judgements know some of them: outputs that are being written, local files of a
/// job, the folders of a history server.
const KEPT: [&str; 58] = [
    "user",
    "home",
    "Users",
    "tmp",
    "var",
    "opt",
    "mnt",
    "data",
    "usr",
    "local",
    "lib",
    "etc",
    "hadoop",
    "spark",
    "hive",
    "yarn",
    "hdfs",
    "mapred",
    "mapreduce",
    "warehouse",
    "jars",
    "jar",
    "conf",
    "logs",
    "log",
    "containers",
    "staging",
    ".staging",
    ".sparkStaging",
    "_temporary",
    "_SUCCESS",
    "_delta_log",
    "_spark_metadata",
    "filecache",
    "usercache",
    "appcache",
    "nm-local-dir",
    "done",
    "done_intermediate",
    "history",
    "intermediate",
    "job.xml",
    "job.jar",
    "job.split",
    "__spark_conf__",
    "__spark_libs__",
    "__spark_conf__.zip",
    "__spark_libs__.zip",
    "stderr",
    "stdout",
    "syslog",
    "api",
    "v1",
    "python",
    "bin",
    "share",
    "common",
    "sql",
];

/// The longest number that stays in a path: partitions and parts.
const LONGEST_NUMBER: usize = 6;

impl Mask {
    /// A path in a text: `read/write` are two words.
    pub(super) fn path_in_text(&mut self, piece: &str) -> String {
        let is_phrase = piece.starts_with(|c: char| c.is_ascii_alphabetic())
            && !piece.contains([':', '.', '_', '-'])
            && piece.matches('/').count() == 1
            && piece.split('/').all(is_known);
        if is_phrase { piece.to_owned() } else { self.path(piece) }
    }

    /// The replacement of a path or a URL, or of several, separated by commas.
    pub(crate) fn path(&mut self, path: &str) -> String {
        if path.contains(',') {
            let all: Vec<String> = path.split(',').map(|path| self.path(path)).collect();
            return all.join(",");
        }
        if matches!(path, "/dev/stderr" | "/dev/stdout" | "/bin/bash" | "/bin/sh") {
            return path.to_owned();
        }
        // "jdbc:mysql://host/base", "k8s://https://host".
        if let Some((scheme, rest)) =
            path.split_once(':').filter(|(scheme, rest)| is_scheme(scheme) && rest.contains('/'))
        {
            let shown = if SCHEMES.contains(&scheme) || is_known(scheme) {
                scheme.to_owned()
            } else {
                self.name(Kind::Word, scheme)
            };
            if let Some(after) = rest.strip_prefix("//") {
                if after.contains("://") {
                    return format!("{shown}://{}", self.path(after));
                }
                let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
                return format!("{shown}://{}{}", self.authority(scheme, authority), self.folders(path));
            }
            return if rest.starts_with('/') {
                format!("{shown}:{}", self.folders(rest))
            } else {
                format!("{shown}:{}", self.path(rest))
            };
        }
        self.folders(path)
    }

    /// `login@host:port`, or a bucket.
    fn authority(&mut self, scheme: &str, authority: &str) -> String {
        if authority.is_empty() {
            return String::new();
        }
        if let Some((login, host)) = authority.rsplit_once('@') {
            return format!("{}@{}", self.name(Kind::Mail, login), self.authority("", host));
        }
        if OF_BUCKETS.contains(&scheme) {
            return self.name(Kind::Bucket, authority);
        }
        match authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit())) {
            Some((host, port)) if port.len() <= 5 => format!("{}:{port}", self.host(host)),
            _ => self.host(authority),
        }
    }

    fn folders(&mut self, path: &str) -> String {
        let parts: Vec<&str> = path.split('/').collect();
        let mut out = String::with_capacity(path.len());
        let mut place = 0;
        while let Some(part) = parts.get(place) {
            if place > 0 {
                out.push('/');
            }
            let of_date = parts.get(place..place + 3).and_then(|date| match date {
                [year, month, day] => self.clock.folders(year, month, day),
                _ => None,
            });
            if let Some(date) = of_date {
                out.push_str(&date.join("/"));
                place += 3;
                continue;
            }
            let before =
                place.checked_sub(1).and_then(|before| parts.get(before)).copied().unwrap_or_default();
            out.push_str(&self.folder(part, before));
            place += 1;
        }
        out
    }

    /// The replacement of one part of a path.
    pub(crate) fn folder(&mut self, part: &str, before: &str) -> String {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if part.is_empty() || matches!(part, "." | ".." | "*") || is_number && part.len() <= LONGEST_NUMBER {
            return part.to_owned();
        }
        if matches!(before, "user" | "home" | "Users" | "usercache") {
            return self.name(Kind::User, part);
        }
        if KEPT.contains(&part) {
            return part.to_owned();
        }
        if let Some(moved) =
            self.clock.date(part).or_else(|| self.clock.digits(part)).or_else(|| self.engine_id(part))
        {
            return moved;
        }
        // "sales#orders.jar": a link in the working folder.
        if let Some((file, link)) = part.split_once('#') {
            return format!("{}#{}", self.folder(file, ""), self.folder(link, ""));
        }
        // A line of a source file: "report.py:12".
        if let Some((file, line)) =
            part.rsplit_once(':').filter(|(file, line)| !file.is_empty() && is_line(line))
        {
            return format!("{}:{line}", self.folder(file, before));
        }
        self.file(part)
    }

    /// The replacement of the name of a file: its number and its format stay.
    fn file(&mut self, name: &str) -> String {
        let mut stem = name;
        while let Some((start, suffix)) = stem.rsplit_once('.') {
            let is_task = suffix.strip_prefix('c').is_some_and(|digits| digits.len() == 3 && is_line(digits));
            if start.is_empty() || !SUFFIXES.contains(&suffix) && !is_task {
                break;
            }
            stem = start;
        }
        let suffixes = name.get(stem.len()..).unwrap_or_default();
        let kind = if suffixes.is_empty() { Kind::Folder } else { Kind::File };
        if is_engine_file(stem) && !suffixes.is_empty() {
            return name.to_owned();
        }
        // "part-00000-<uuid>", "part-m-00003".
        if let Some(rest) = stem.strip_prefix("part-") {
            let (side, rest) =
                rest.split_at(if rest.starts_with("m-") || rest.starts_with("r-") { 2 } else { 0 });
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = rest.split_at(digits);
            if (1..=LONGEST_NUMBER).contains(&digits) {
                let rest = match rest.strip_prefix('-') {
                    Some(id) => format!("-{}", self.id(id)),
                    None if rest.is_empty() => String::new(),
                    None => self.name(Kind::File, rest),
                };
                return format!("part-{side}{number}{rest}{suffixes}");
            }
        }
        if let Some((start, id)) =
            stem.split_once('-').filter(|(start, id)| is_known(start) && super::ids::is_uuid(id))
        {
            return format!("{start}-{}{suffixes}", self.hexadecimal(id));
        }
        if let Some((column, value)) = stem.split_once('=') {
            return format!("{}={}", self.name(Kind::Name, column), self.name(Kind::Value, value));
        }
        format!("{}{suffixes}", self.name(kind, stem))
    }

    /// `Report.scala:12`: source files of engines stay.
    pub(super) fn source_line(&mut self, piece: &str) -> Option<String> {
        let (file, line) = piece.rsplit_once(':').filter(|(_, line)| is_line(line))?;
        let (stem, suffix) = file
            .rsplit_once('.')
            .filter(|(_, suffix)| matches!(*suffix, "java" | "scala" | "py" | "R" | "kt"))?;
        if is_engine_file(stem) {
            return Some(piece.to_owned());
        }
        Some(format!("{}.{suffix}:{line}", self.name(Kind::File, stem)))
    }

    /// `host:port`, and an address of four numbers with or without a port.
    pub(super) fn address(&mut self, piece: &str) -> Option<String> {
        let (host, port) = piece.rsplit_once(':').filter(|(_, port)| port.len() <= 5 && is_line(port))?;
        let is_of_host = |c: char| is_of_word(c) || matches!(c, '-' | '.' | '_');
        let is_name = host.chars().any(|c| !c.is_ascii_digit());
        if !is_name || !host.chars().all(is_of_host) || is_known(host) {
            return None;
        }
        Some(format!("{}:{port}", self.host(host)))
    }
}

fn is_line(text: &str) -> bool {
    (1..=7).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() <= 30
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{mask, shape};

    #[test]
    fn scheme_depth_and_format_stay() {
        for (path, expected) in [
            (
                "hdfs://nn1:8020/user/alice/sales/part-00000-0b3f9c1a-2222-4444-8888-abcdefabcdef.c000.snappy.parquet",
                None,
            ),
            ("s3a://acme-lake/raw/orders", Some("s3a://bucket-*/dir-*/dir-*")),
            ("file:/home/bob/in.csv", Some("file:/home/user-*/file-*.csv")),
            ("jdbc:mysql://me:pass@db.acme.com:3306/crm", Some("jdbc:mysql://mail-*@host-*:3306/dir-*")),
            ("/data/2018-x/_temporary/0", Some("/data/dir-*/_temporary/0")),
            ("spark://10.1.2.3:7077", Some("spark://host-*:7077")),
            ("hdfs:///a,hdfs:///b", Some("hdfs:///dir-*,hdfs:///dir-*")),
        ] {
            let masked = shape(&mask().path(path));
            if let Some(expected) = expected {
                assert_eq!(masked, expected);
                continue;
            }
            let start = "hdfs://host-*:8020/user/user-*/dir-*/part-00000-";
            assert!(masked.starts_with(start) && masked.ends_with(".c000.snappy.parquet"), "{masked}");
            assert!(!masked.contains("0b3f9c1a"), "{masked}");
        }
    }

    #[test]
    fn dates_in_paths_move() {
        let mut mask = mask();
        let moved = mask.clock.folders("2018", "05", "17").unwrap().join("/");
        assert_eq!(mask.path("done/2018/05/17/000000"), format!("done/{moved}/000000"));
    }
}
