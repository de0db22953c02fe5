//! Dotted names: classes, methods, settings, host names, file names, decimal numbers.

use super::is_amount;
use crate::mask::Mask;
use crate::pseudonyms::Kind;
use crate::vocabulary::{class_spans, is_engine_class, is_engine_file, is_known};

/// Class names of exceptions end like this, by which failures of user code are known.
const EXCEPTIONS: [&str; 3] = ["Exception", "Error", "Throwable"];

/// The last parts of host names.
const TOP_LEVEL: [&str; 22] = [
    "com",
    "net",
    "org",
    "io",
    "edu",
    "gov",
    "internal",
    "local",
    "localdomain",
    "corp",
    "lan",
    "cloud",
    "de",
    "uk",
    "fr",
    "cn",
    "jp",
    "in",
    "eu",
    "ru",
    "co",
    "dev",
];

/// Suffixes of files that tell a format.
pub(crate) const SUFFIXES: [&str; 44] = [
    "parquet",
    "orc",
    "csv",
    "json",
    "txt",
    "avro",
    "gz",
    "gzip",
    "bz2",
    "snappy",
    "zstd",
    "zst",
    "lz4",
    "lzf",
    "lzo",
    "zip",
    "tar",
    "tgz",
    "jar",
    "py",
    "scala",
    "java",
    "xml",
    "jhist",
    "log",
    "out",
    "err",
    "data",
    "index",
    "deflate",
    "seq",
    "har",
    "sql",
    "hql",
    "r",
    "R",
    "egg",
    "whl",
    "conf",
    "properties",
    "yaml",
    "crc",
    "html",
    "inprogress",
];

impl Mask {
    /// The replacement of a name with dots; `None` for one without.
    pub(crate) fn dotted(&mut self, name: &str) -> Option<String> {
        if !name.trim_matches('.').contains('.') {
            return None;
        }
        let parts = || name.split('.');
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if parts().all(|part| is_number(part) || is_amount(part)) {
            return Some(self.decimal(name));
        }
        if parts().all(|part| part.is_empty() || is_known(part)) {
            return Some(name.to_owned());
        }
        if is_host_name(name) {
            return Some(self.host(name));
        }
        Some(self.class(name))
    }

    /// A number with dots: a decimal, a version, an address.
    fn decimal(&mut self, number: &str) -> String {
        let parts: Vec<&str> = number.split('.').collect();
        match parts.as_slice() {
            [_, _, _, _] => self.host(number),
            [whole, part] if whole.len() <= 6 && part.len() <= 6 => number.to_owned(),
            [a, b, c] if a.len() <= 3 && b.len() <= 3 && c.len() <= 3 => number.to_owned(),
            parts => {
                let replaced: Vec<String> = parts.iter().map(|part| self.digits(part)).collect();
                replaced.join(".")
            }
        }
    }

    /// The replacement of the name of a class, a method or a counter.
    pub(crate) fn class(&mut self, name: &str) -> String {
        let spans = class_spans(name);
        if !spans.is_empty() {
            let mut out = String::with_capacity(name.len());
            let mut from = 0;
            for span in spans {
                out.push_str(&self.class_part(name.get(from..span.start).unwrap_or_default()));
                out.push_str(name.get(span.clone()).unwrap_or_default());
                from = span.end;
            }
            out.push_str(&self.class_part(name.get(from..).unwrap_or_default()));
            return out;
        }
        if name.split(['.', '$', ' ']).all(|part| part.is_empty() || is_known(part)) {
            return name.to_owned();
        }
        if is_engine_class(name) {
            return self.class_part(name);
        }
        let stem = name.split_once('(').map_or(name, |(stem, _)| stem);
        if let Some((stem, suffix)) = name.rsplit_once('.').filter(|(_, suffix)| SUFFIXES.contains(suffix)) {
            if is_engine_file(stem) {
                return name.to_owned();
            }
            return format!("{}.{suffix}", self.name(Kind::File, stem));
        }
        self.exception(stem).unwrap_or_else(|| self.name(Kind::Class, name))
    }

    /// The parts of a name that an engine uses stay.
    fn class_part(&mut self, name: &str) -> String {
        let mut out = String::with_capacity(name.len());
        for (place, part) in name.split('.').enumerate() {
            if place > 0 {
                out.push('.');
            }
            let masked = if part.is_empty() || is_known(part) {
                part.to_owned()
            } else {
                self.exception(part).unwrap_or_else(|| self.name(Kind::Class, part))
            };
            out.push_str(&masked);
        }
        out
    }

    /// The pseudonym of the class of an exception, which is still one. A dot tells those of the JVM from those of Python.
    pub(super) fn exception(&mut self, name: &str) -> Option<String> {
        let ending = EXCEPTIONS.iter().find(|ending| name.len() > ending.len() && name.ends_with(*ending))?;
        let stem = name.strip_suffix(ending)?;
        if is_known(name) {
            return Some(name.to_owned());
        }
        let package = if name.contains('.') { "masked." } else { "" };
        Some(format!("{package}{}{ending}", self.name(Kind::Class, stem)))
    }
}

fn is_host_name(name: &str) -> bool {
    let is_of_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let last = name.rsplit('.').next().unwrap_or_default();
    name.chars().all(is_of_host)
        && !name.chars().any(|c| c.is_ascii_uppercase())
        && TOP_LEVEL.contains(&last)
        && !is_engine_class(name)
}
