//! Job histories of Hadoop 0.18 to 1: records of `KEY="value"` (`org.apache.hadoop.mapred.JobHistory`).

use std::io::{self, Read, Write};

use super::Dropped;
use super::conf::properties;
use crate::mask::{Mask, Meaning};
use crate::vocabulary::is_known;
use elephant_input::window::ByteWindow;
use elephant_model::model::conf::Conf;
use elephant_parse::hadoop1::{Record, Visitor, read};
use elephant_parse::{Level, Position};

pub(super) fn history(mask: &mut Mask, bytes: &mut dyn Read, out: &mut dyn Write) -> io::Result<Dropped> {
    let mut writer = Writer { mask, out, failed: None, records: false, after_conf: false };
    let ending = read(ByteWindow::new(bytes), &mut writer);
    if let Some(error) = writer.failed {
        return Err(error);
    }
    let damaged =
        ending.problems.into_vec().into_iter().filter(|problem| problem.level >= Level::Warning).count();
    Ok(Dropped {
        damaged: damaged as u64,
        too_long: u64::from(ending.too_long),
        broken_off: ending.truncated,
    })
}

/// Writes what was read.
struct Writer<'m, 'o> {
    mask: &'m mut Mask,
    out: &'o mut dyn Write,
    failed: Option<io::Error>,
    /// Whether a record was written.
    records: bool,
    /// Whether a configuration was the last thing written.
    after_conf: bool,
}

impl Visitor for Writer<'_, '_> {
    fn record(&mut self, _: Position, record: &Record<'_>) {
        if self.failed.is_none() {
            self.failed = self.write_record(record).err();
        }
    }

    fn conf(&mut self, job_id: &str, conf: Conf) {
        if self.failed.is_none() {
            self.failed = self.write_conf(job_id, &conf).err();
        }
    }
}

impl Writer<'_, '_> {
    fn write_record(&mut self, record: &Record<'_>) -> io::Result<()> {
        // Logs of job trackers hold many files; `Meta` is the first record of each.
        if self.after_conf || self.records && record.kind == "Meta" {
            self.out.write_all(b"\n!!FILE=history!!\n")?;
        }
        (self.after_conf, self.records) = (false, true);
        let mut line = String::new();
        line.push_str(if is_known(record.kind) { record.kind } else { "Other" });
        for (key, value) in &record.fields {
            let masked = self.value(key, value);
            let key = if is_known(key) {
                (*key).to_owned()
            } else {
                self.mask.name(crate::pseudonyms::Kind::Name, key)
            };
            line.push(' ');
            line.push_str(&key);
            line.push_str("=\"");
            if record.closed {
                escaped(&masked, &mut line);
            } else {
                line.push_str(&masked);
            }
            line.push('"');
        }
        line.push_str(if record.closed { " .\n" } else { "\n" });
        self.out.write_all(line.as_bytes())
    }

    fn write_conf(&mut self, job_id: &str, conf: &Conf) -> io::Result<()> {
        let id = if job_id.is_empty() { "job".to_owned() } else { self.mask.id(job_id) };
        if self.records || self.after_conf {
            self.out.write_all(b"\n")?;
        }
        writeln!(self.out, "!!FILE={id}_conf.xml!!")?;
        self.after_conf = true;
        properties(self.mask, conf, self.out)
    }

    fn value(&mut self, key: &str, value: &str) -> String {
        let meaning = match key {
            "JOBID" | "TASKID" | "TASK_ATTEMPT_ID" => Meaning::Id,
            "JOBNAME" => Meaning::Title,
            "USER" => Meaning::User,
            "JOB_QUEUE" => Meaning::Queue,
            "ERROR" | "FAIL_REASON" | "error" | "STATE_STRING" | "VIEW_JOB" | "MODIFY_JOB" => {
                Meaning::Message
            }
            "SPLITS" | "HOSTNAME" | "TRACKER_NAME" => Meaning::Host,
            "JOBCONF" => Meaning::Path,
            "COUNTERS" | "MAP_COUNTERS" | "REDUCE_COUNTERS" => return self.counters(value),
            _ if key.ends_with("_TIME") || key.ends_with("_FINISHED") => Meaning::Time,
            _ if value.len() <= 19
                && value.trim().bytes().all(|byte| byte.is_ascii_digit())
                && is_known(key) =>
            {
                return value.to_owned();
            }
            _ => Meaning::Word,
        };
        self.mask.text(meaning, value).into_owned()
    }

    /// Counters: names between signs, and numbers. Names of user code are replaced as a whole, as far as signs allow.
    fn counters(&mut self, text: &str) -> String {
        let is_escaped = text.trim_start().starts_with('{');
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let end =
                if is_escaped { end_of_name(rest) } else { rest.find([':', ',']).unwrap_or(rest.len()) };
            let (name, after) = rest.split_at(end);
            out.push_str(&self.counter(name, is_escaped));
            let sign = after.chars().next();
            out.extend(sign);
            rest = after.get(sign.map_or(0, char::len_utf8)..).unwrap_or_default();
        }
        out
    }

    fn counter(&mut self, name: &str, is_escaped: bool) -> String {
        let is_number =
            !name.is_empty() && name.trim().trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        if name.is_empty() || is_number && name.len() <= 19 {
            return name.to_owned();
        }
        if !is_escaped {
            // "Map-Reduce Framework.Map input records": the group, then the name.
            let parts: Vec<String> =
                name.split('.').map(|part| self.mask.text(Meaning::Class, part).into_owned()).collect();
            return parts.join(".");
        }
        let plain = name.replace('\\', "");
        let masked = self.mask.text(Meaning::Class, &plain);
        if *masked == plain { name.to_owned() } else { masked.replace('.', "\\.") }
    }
}

/// Where a name between brackets ends: at the next bracket that no backslash precedes.
fn end_of_name(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(_, c)| {
        let ends = !is_escaped && "(){}[]".contains(*c);
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// Backslashes before quotes, dots and backslashes, as Hadoop writes them (`StringUtils.escapeString`).
fn escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '.') {
            out.push('\\');
        }
        out.push(c);
    }
}
