//! Names of the files that are written: ids, times and titles in them are replaced as in the files themselves.

use super::mask::{Mask, Meaning};
use super::pseudonyms::Kind;
use elephant_base::form;
use elephant_input::job_id::job_id_in;

/// Suffixes of compression, which the results do not have, and of formats.
const CODECS: [&str; 11] =
    [".gz", ".gzip", ".zstd", ".zst", ".lz4", ".lzf", ".snappy", ".bz2", ".xz", ".lzo", ".deflate"];
const ARCHIVES: [&str; 6] = [".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.zst", ".tar"];

/// Files of an event log whose names say what they are.
const MARKS: [&str; 3] = ["EVENT_LOG_", "APPLICATION_COMPLETE", "eventlog"];

/// The name of an archive, as a folder, without its suffix.
pub(crate) fn without_archive(name: &str) -> &str {
    ARCHIVES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

impl Mask {
    /// The name of a file of a history.
    pub(crate) fn file_name(&mut self, name: &str) -> String {
        let mut plain = name;
        while let Some(shorter) =
            CODECS.iter().find_map(|suffix| plain.strip_suffix(suffix)).filter(|name| !name.is_empty())
        {
            plain = shorter;
        }
        if let Some(job) = job_id_in(std::ffi::OsStr::new(plain)) {
            return self.name_of_job(plain, &job);
        }
        let mut stem = plain;
        while let Some(shorter) = [".inprogress", ".compact"]
            .iter()
            .chain(&CODECS)
            .find_map(|suffix| stem.strip_suffix(suffix))
            .filter(|stem| !stem.is_empty())
        {
            stem = shorter;
        }
        let kept: String =
            [".compact", ".inprogress"].into_iter().filter(|suffix| plain.contains(suffix)).collect();
        let (stem, format) = match stem.rsplit_once('.') {
            Some((stem, format)) if matches!(format, "json" | "log" | "txt" | "jhist" | "xml") => {
                (stem, format)
            }
            _ => (stem, ""),
        };
        let dot = if format.is_empty() { "" } else { "." };
        format!("{}{dot}{format}{kept}", self.stem(stem))
    }

    fn stem(&mut self, stem: &str) -> String {
        if let Some(date) = stem.strip_prefix("eventlog-").and_then(|date| self.clock.date(date)) {
            return format!("eventlog-{date}");
        }
        if MARKS.iter().any(|mark| {
            stem.strip_prefix(mark).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        }) {
            return stem.to_owned();
        }
        self.engine_id(stem).unwrap_or_else(|| self.name(Kind::File, stem))
    }

    /// The name of a file of a MapReduce job: of the history server, of Hadoop 1, or of a configuration.
    fn name_of_job(&mut self, name: &str, job: &str) -> String {
        let (before, after) = name.split_once(job).unwrap_or(("", name));
        let id = self.text(Meaning::Id, job).into_owned();
        // `<job tracker>_<its start>_<job>`.
        let before: Vec<String> =
            before.split_inclusive('_').map(|part| self.part_of_name(part, Meaning::Host)).collect();
        let after =
            if after.starts_with('-') { self.of_history_server(after) } else { self.of_job_tracker(after) };
        format!("{}{id}{after}", before.concat())
    }

    fn part_of_name(&mut self, part: &str, meaning: Meaning) -> String {
        let plain = part.trim_end_matches('_');
        let sign = part.get(plain.len()..).unwrap_or_default();
        let moved = self.clock.digits(plain);
        format!("{}{sign}", moved.unwrap_or_else(|| self.text(meaning, plain).into_owned()))
    }

    /// `-<submitted>-<user>-<name>-<finished>-<maps>-<reduces>-<status>-<queue>-<launched>.jhist`.
    fn of_history_server(&mut self, fields: &str) -> String {
        let (fields, suffix) =
            fields.split_once(".jhist").map_or((fields, ""), |(fields, _)| (fields, ".jhist"));
        let mut out = String::new();
        for (place, field) in fields.split('-').enumerate().skip(1) {
            let plain = form::decoded(field);
            let meaning = match place {
                2 => Meaning::User,
                3 => Meaning::Title,
                8 => Meaning::Queue,
                _ => Meaning::Word,
            };
            let is_number = field.len() <= 7 && field.bytes().all(|byte| byte.is_ascii_digit());
            let masked = match self.clock.digits(field) {
                Some(moved) => moved,
                None if is_number => field.to_owned(),
                None => encoded(&self.text(meaning, &plain)),
            };
            out.push('-');
            out.push_str(&masked);
        }
        out + suffix
    }

    /// `_conf.xml`, or `_<submitted>_<user>_<name>`.
    fn of_job_tracker(&mut self, rest: &str) -> String {
        if matches!(rest, "_conf.xml" | ".jhist" | ".xml" | "") {
            return rest.to_owned();
        }
        let (rest, suffix) = match rest.rsplit_once('.') {
            Some((rest, suffix)) if matches!(suffix, "xml" | "jhist" | "json" | "log" | "txt") => {
                (rest, format!(".{suffix}"))
            }
            _ => (rest, String::new()),
        };
        let mut out = String::new();
        let mut meaning = Meaning::User;
        for part in rest.split('_').skip(1) {
            out.push('_');
            if let Some(moved) = self.clock.digits(part) {
                out.push_str(&moved);
                continue;
            }
            let plain = form::decoded(part);
            out.push_str(&if part == "conf" {
                part.to_owned()
            } else {
                encoded(&self.text(meaning, &plain))
            });
            meaning = Meaning::Title;
        }
        if out.is_empty() && !rest.is_empty() {
            out = format!("_{}", self.name(Kind::File, rest));
        }
        out + &suffix
    }
}

/// A part of a name as Hadoop writes it into names of files (`FileNameIndexUtils`).
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'*' | b'_') => {
                out.push(char::from(byte));
            }
            byte => {
                out.push('%');
                let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
                out.extend(digits.into_iter().flatten().map(|digit| digit.to_ascii_uppercase()));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::text::testing::shape;

    #[test]
    fn names_tell_what_readers_need() {
        let mut mask = Mask::new(Key::of_text(b"k"));
        let moved = |mask: &Mask, time: &str| mask.clock.digits(time).unwrap();
        let (a, b, c) =
            (moved(&mask, "1526555215992"), moved(&mask, "1526555642677"), moved(&mask, "1526555658299"));
        let name = "job_1526555215992_0001-1526555642677-alice-Quasi%2DPay+x-1526555658299-1-1-SUCCEEDED-default-1526555642677.jhist";
        assert_eq!(
            shape(&mask.file_name(name).replace("%2D", "-")),
            format!("job_{a}_0001-{b}-user-*-App-*-App-*+x-{c}-1-1-SUCCEEDED-default-{b}.jhist")
        );
        assert_eq!(mask.file_name("job_1526555215992_0001_conf.xml"), format!("job_{a}_0001_conf.xml"));
        assert_eq!(
            mask.file_name("application_1526555215992_0001_1.zstd"),
            format!("application_{a}_0001_1")
        );
        assert_eq!(
            mask.file_name("events_2_local-1526555215992.zstd.compact"),
            format!("events_2_local-{a}.compact")
        );
        assert_eq!(mask.file_name("local-1526555215992.lz4.inprogress"), format!("local-{a}.inprogress"));
        assert_eq!(shape(&mask.file_name("payroll.log.gz")), "file-*.log");
        assert_eq!(mask.file_name("EVENT_LOG_1"), "EVENT_LOG_1");
        let tracker = mask.file_name("acme1_1526555215992_job_201311192236_0042_bob_pay");
        assert!(
            tracker.starts_with("host-")
                && tracker.contains(&format!("_{a}_job_"))
                && !tracker.contains("bob"),
            "{tracker}"
        );
    }
}
