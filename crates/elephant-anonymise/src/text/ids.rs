//! Ids: those of engines keep their form and their ordinal numbers, and the times in them move with all others.

use crate::mask::Mask;
use crate::pseudonyms::Kind;

/// Beginnings of ids that contain the start of a cluster or of an application.
const STARTS: [&str; 12] = [
    "application_",
    "job_",
    "task_",
    "attempt_",
    "appattempt_",
    "container_",
    "app-",
    "driver-",
    "local-",
    "spark-application-",
    "local_",
    "tip_",
];

/// Beginnings of ids that count, or end in random digits.
const COUNTED: [&str; 12] = [
    "rdd_",
    "broadcast_",
    "shuffle_",
    "taskresult_",
    "temp_local_",
    "temp_shuffle_",
    "input-",
    "stream-",
    "eventlog_v2_",
    "events_",
    "appstatus_",
    "executor_",
];

impl Mask {
    /// The replacement of an id.
    pub(crate) fn id(&mut self, id: &str) -> String {
        let is_number = id.len() <= 9 && id.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || matches!(id, "driver" | "<driver>" | "default" | "fallback" | "null") {
            return id.to_owned();
        }
        self.engine_id(id).unwrap_or_else(|| self.name(Kind::Id, id))
    }

    /// The replacement of an id in a form of Spark or Hadoop, or of a UUID; `None` for anything else.
    pub(crate) fn engine_id(&mut self, id: &str) -> Option<String> {
        if is_uuid(id) {
            return Some(self.hexadecimal(id));
        }
        if let Some(digits) = id.strip_prefix("spark-").filter(|digits| is_long_hexadecimal(digits)) {
            return Some(format!("spark-{}", self.hexadecimal(digits)));
        }
        if let Some(start) = COUNTED.iter().find(|start| id.starts_with(*start)) {
            return Some(format!("{start}{}", self.counted(id.get(start.len()..)?)));
        }
        let start = STARTS.iter().find(|start| id.starts_with(*start))?;
        let rest = id.get(start.len()..)?;
        // Others of these words are followed by text: "job_name", "local-dirs".
        rest.starts_with(|c: char| c.is_ascii_digit() || c == 'e' || c == 'l').then_some(())?;
        let masked = self.parts(rest)?;
        Some(format!("{start}{masked}"))
    }

    /// The parts of an id that has a time in it: `1498411234000_0001_m_000003_0`; `None` without one.
    fn parts(&mut self, rest: &str) -> Option<String> {
        let mut out = String::with_capacity(rest.len());
        let mut has_time = false;
        for part in rest.split_inclusive(['_', '-', '.']) {
            let plain = part.trim_end_matches(['_', '-', '.']);
            let sign = part.get(plain.len()..).unwrap_or_default();
            let is_number = !plain.is_empty() && plain.bytes().all(|byte| byte.is_ascii_digit());
            let masked = match plain {
                "" | "m" | "r" | "s" | "c" | "t" | "conf" | "xml" | "jhist" | "local" => plain.to_owned(),
                _ if is_number => match self.clock.digits(plain).filter(|_| !has_time) {
                    Some(moved) => {
                        has_time = true;
                        moved
                    }
                    None if plain.len() <= 7 => plain.to_owned(),
                    None => self.digits(plain),
                },
                epoch if epoch.len() <= 4 && is_epoch(epoch) => epoch.to_owned(),
                name => self.name(Kind::Word, name),
            };
            out.push_str(&masked);
            out.push_str(sign);
        }
        has_time.then_some(out)
    }

    /// What follows the start of an id that counts: numbers stay.
    fn counted(&mut self, rest: &str) -> String {
        if let Some((number, id)) = rest.split_once('_').filter(|(number, _)| is_short(number)) {
            return match self.engine_id(id) {
                Some(id) => format!("{number}_{id}"),
                None => format!("{number}_{}", self.counted(id)),
            };
        }
        if is_short(rest) || rest.is_empty() {
            return rest.to_owned();
        }
        let mut out = String::new();
        match self.engine_id(rest) {
            Some(id) => out.push_str(&id),
            None => self.words(rest, "", "", &mut out),
        }
        out
    }
}

fn is_short(number: &str) -> bool {
    (1..=7).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// `e12`: how often a resource manager started again.
fn is_epoch(part: &str) -> bool {
    part.strip_prefix('e').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(crate) fn is_uuid(text: &str) -> bool {
    const LENGTHS: [usize; 5] = [8, 4, 4, 4, 12];
    text.len() == 36
        && text.split('-').map(str::len).eq(LENGTHS)
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_long_hexadecimal(text: &str) -> bool {
    text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use crate::key::Key;
    use crate::mask::Mask;

    #[test]
    fn ids_keep_their_form_and_numbers() {
        let mut mask = Mask::new(Key::of_text(b"k"));
        let moved = |mask: &Mask, time: &str| mask.clock.digits(time).unwrap();
        for (start, time, end) in [
            ("application_", "1498411234000", "_0001"),
            ("attempt_", "201311192236", "_3583_m_000001_0"),
            ("container_e12_", "1398331617000", "_0001_01_000002"),
            ("app-", "20170101123456", "-0001"),
            ("local-", "1422981759269", ""),
            ("events_1_local-", "1422981759269", ""),
        ] {
            let id = format!("{start}{time}{end}");
            assert_eq!(mask.id(&id), format!("{start}{}{end}", moved(&mask, time)), "{id}");
        }
        assert_eq!(mask.id("driver"), "driver");
        assert_eq!(mask.id("42"), "42");
        assert_eq!(mask.engine_id("rdd_12_34").as_deref(), Some("rdd_12_34"));
        assert!(mask.id("acme-nightly").starts_with("id-"));
        assert_eq!(mask.engine_id("job_name"), None);
        assert_eq!(mask.engine_id("local-dirs"), None);
    }
}
