//! Names that users and operators give: hosts, racks, queues, titles of applications.

use std::net::Ipv4Addr;

use super::{SHORT_NUMBER, is_of_word};
use crate::mask::Mask;
use crate::pseudonyms::Kind;
use crate::vocabulary::is_known;
use elephant_model::model::RUN_COUNTERS;

/// Words for this machine, and for hosts that are not known.
const OF_NO_HOST: [&str; 9] =
    ["localhost", "127.0.0.1", "0.0.0.0", "*", "driver", "null", "localhost.localdomain", "UNKNOWN", "::1"];

/// Parts of host names by which platforms are known (`elephant_model::model::spark::Platform`), and what they are replaced by.
const PLATFORMS: [(&[&str], &str, &str); 4] = [
    (&["-m.", "c.", ".internal"], "", "-m.c.internal"),
    (&["-w-", "c.", ".internal"], "", "-w-0.c.internal"),
    (&["hn", ".cloudapp.net"], "hn-", ".cloudapp.net"),
    (&["wn", ".cloudapp.net"], "wn-", ".cloudapp.net"),
];

/// Titles that Spark's own programs have.
const TITLES: [&str; 7] = [
    "Spark shell",
    "PySparkShell",
    "SparkR",
    "Databricks Shell",
    "Thrift JDBC/ODBC Server",
    "Spark Connect server",
    "Spark SQL",
];

/// Words in versions: of releases that are not final, and of vendors. Numbers may follow.
const IN_VERSIONS: [&str; 15] = [
    "alpha",
    "amzn",
    "beta",
    "cdh",
    "cdp",
    "cloudera",
    "databricks",
    "dbr",
    "emr",
    "final",
    "hdp",
    "mapr",
    "photon",
    "preview",
    "rc",
];

/// Words in titles that tell what a number counts, besides those by which the runs of a job are known.
const COUNTED: [&str; 9] = ["year", "month", "week", "day", "hour", "hr", "minute", "of", "stage"];

fn is_counter(word: &str) -> bool {
    RUN_COUNTERS.contains(&word) || COUNTED.contains(&word)
}

impl Mask {
    /// The pseudonym of a host, or of a list of hosts.
    pub(crate) fn host(&mut self, host: &str) -> String {
        if host.contains(',') {
            let all: Vec<String> = host.split(',').map(|host| self.host(host)).collect();
            return all.join(",");
        }
        if host.is_empty() || OF_NO_HOST.contains(&host) {
            return host.to_owned();
        }
        // Hadoop 1: "tracker_host:localhost/127.0.0.1:57217", "/rack/host".
        if let Some(host) = host.strip_prefix("tracker_") {
            return format!("tracker_{}", self.host(host));
        }
        if let Some((rack, name)) = host.rsplit_once('/').filter(|_| host.starts_with('/')) {
            return format!("{}/{}", self.rack(rack), self.host(name));
        }
        if let Some(end) = host.find([':', '/']).filter(|end| *end > 0 && !host.contains("::")) {
            let (name, rest) = host.split_at(end);
            let is_local = rest.replace("localhost", "").replace("127.0.0.1", "");
            let is_local = is_local.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '/'));
            let rest = if is_local { rest.to_owned() } else { self.message(rest) };
            return format!("{}{rest}", self.host(name));
        }
        // Addresses of version 6 in URLs.
        let plain = host.trim_matches(['[', ']']);
        let name = self.name(Kind::Host, plain);
        match PLATFORMS.iter().find(|(parts, _, _)| parts.iter().all(|part| host.contains(part))) {
            Some((_, before, after)) => format!("{before}{name}{after}"),
            None => name,
        }
    }

    /// The pseudonym of a rack; each level of its own, as topologies have levels.
    pub(crate) fn rack(&mut self, rack: &str) -> String {
        if matches!(rack, "/default-rack" | "default-rack" | "/default" | "default") {
            return rack.to_owned();
        }
        let levels: Vec<String> = rack
            .split('/')
            .map(|level| if level.is_empty() { String::new() } else { self.name(Kind::Rack, level) })
            .collect();
        levels.join("/")
    }

    /// The pseudonym of a queue; its levels stay levels.
    pub(crate) fn queue(&mut self, queue: &str) -> String {
        let levels: Vec<String> = queue
            .split('.')
            .map(|level| match level {
                "" | "root" | "default" => level.to_owned(),
                level => self.name(Kind::Queue, level),
            })
            .collect();
        levels.join(".")
    }

    /// The pseudonym of a title. Words are replaced one by one; short numbers, dates and ids stay what they are, so that the
    /// runs of a job still have one name.
    pub(crate) fn title(&mut self, title: &str) -> String {
        if TITLES.contains(&title) {
            return title.to_owned();
        }
        let mut out = String::with_capacity(title.len());
        for piece in title.split_inclusive(|c: char| c.is_ascii_whitespace() || "()[]{},;:\"'=".contains(c)) {
            let plain =
                piece.trim_end_matches(|c: char| c.is_ascii_whitespace() || "()[]{},;:\"'=".contains(c));
            let masked = self.clock.date(plain).or_else(|| self.engine_id(plain));
            let masked = masked.or_else(|| plain.parse::<Ipv4Addr>().ok().map(|_| self.numbered(plain)));
            match masked {
                Some(masked) => out.push_str(&masked),
                None => self.words_of_title(plain, &mut out),
            }
            out.push_str(piece.get(plain.len()..).unwrap_or_default());
        }
        out
    }

    /// An address in a title. It stays a number, by which the runs of a job have one name.
    fn numbered(&mut self, address: &str) -> String {
        let parts: Vec<String> = address.split('.').map(|part| self.digits(part)).collect();
        parts.join(".")
    }

    fn words_of_title(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_same = |c: char| {
                if first.is_ascii_digit() { c.is_ascii_digit() } else { is_of_word(c) && !c.is_ascii_digit() }
            };
            let len = rest.find(|c| !is_same(c)).unwrap_or(rest.len());
            if len == 0 {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
                continue;
            }
            let (run, after) = rest.split_at(len);
            rest = after;
            if first.is_ascii_digit() {
                let moved = self.clock.digits(run).filter(|_| run.len() >= 8);
                out.push_str(&match moved {
                    Some(moved) => moved,
                    None if run.len() <= 4 => run.to_owned(),
                    None => self.digits(run),
                });
            } else if is_counter(&run.to_ascii_lowercase()) || run.len() == 1 && run.is_ascii() {
                out.push_str(run);
            } else {
                out.push_str(&self.name(Kind::Application, run));
            }
        }
    }

    /// A version: numbers, and words of engines and vendors.
    pub(crate) fn version(&mut self, version: &str) -> String {
        let mut out = String::with_capacity(version.len());
        for part in version.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let plain = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let word = plain.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
            let is_word = plain.len() <= 2 || is_known(plain) || IN_VERSIONS.contains(&word.as_str());
            out.push_str(&if is_word { plain.to_owned() } else { self.name(Kind::Word, plain) });
            out.push_str(part.get(plain.len()..).unwrap_or_default());
        }
        out
    }

    /// A time in a text; anything else is replaced.
    pub(crate) fn time(&mut self, time: &str) -> String {
        self.clock.date(time).or_else(|| self.clock.digits(time)).unwrap_or_else(|| self.unknown(time))
    }

    /// A number in a text; anything else is a message.
    pub(crate) fn figure(&mut self, text: &str) -> String {
        let is_number = text.len() <= 30 && text.parse::<f64>().is_ok();
        if is_number { text.to_owned() } else { self.message(text) }
    }

    /// A value that nothing is known of.
    pub(crate) fn unknown(&mut self, value: &str) -> String {
        let is_number = value.len() <= SHORT_NUMBER && value.bytes().all(|byte| byte.is_ascii_digit());
        if is_number
            || ["true", "false", "null", "none"].iter().any(|known| known.eq_ignore_ascii_case(value))
        {
            return value.to_owned();
        }
        let known =
            self.clock.date(value).or_else(|| self.clock.digits(value)).or_else(|| self.engine_id(value));
        known.unwrap_or_else(|| self.name(Kind::Value, value))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{mask, shape};

    #[test]
    fn titles_keep_what_their_jobs_are_known_by() {
        let mut mask = mask();
        let day = mask.clock.date("2018-05-17").unwrap();
        let mut title = |text: &str| shape(&mask.title(text));
        assert_eq!(title("payroll 2018-05-17 (Stage-1)"), format!("app-* {day} (Stage-1)"));
        assert_eq!(title("Spark shell"), "Spark shell");
        assert_eq!(title("q86 run 7"), "q86 run 7");
        assert_eq!(title("größe"), "app-*");
        assert_eq!(title("alice-etl_v2"), "app-*-app-*_v2");
        let mut mask = self::mask();
        assert_ne!(mask.title("run 123456"), "run 123456");
        assert_eq!(mask.title("run 123456").len(), "run 123456".len());
        let address = mask.title("run 172.17.0.2");
        assert!(!address.contains("172.17") && address.len() == "run 172.17.0.2".len(), "{address}");
    }

    #[test]
    fn hosts_racks_and_queues_keep_their_levels() {
        let mut mask = mask();
        assert_eq!(mask.host("localhost"), "localhost");
        assert!(mask.host("acme-m.europe-west1-b.c.acme.internal").ends_with("-m.c.internal"));
        assert_eq!(shape(&mask.host("a1,b2")), "host-*,host-*");
        assert_eq!(shape(&mask.rack("/dc1/rack2")), "/rack-*/rack-*");
        assert_eq!(mask.rack("/default-rack"), "/default-rack");
        assert_eq!(shape(&mask.queue("root.etl.default")), "root.queue-*.default");
        assert_eq!(mask.version("3.0.1-amzn-0"), "3.0.1-amzn-0");
        for version in ["3.0.0-preview2", "2.4.0-cdh6.3.2", "2.4.0.7.1.7.0-551", "4.0.0-SNAPSHOT"] {
            assert_eq!(mask.version(version), version);
        }
        assert_eq!(shape(&mask.version("3.0.1-acme")), "3.0.1-word-*");
    }
}
