//! Settings of Spark, Hadoop and the JVM.
//!
//! Names of settings stay word by word. Values stay if they are numbers, sizes, times, switches or words of engines; paths,
//! hosts and everything else get pseudonyms. Values that are secret by their names get a pseudonym as a whole.

use elephant_model::model::conf::secrets;

use super::clock::Clock;
use super::mask::{Kept, Mask, Meaning};
use super::pseudonyms::Kind;
use super::text::{SUFFIXES, is_amount, is_sql};
use super::vocabulary::is_known;

/// Settings whose values have a meaning of their own, by the end of their names.
const MEANINGS: [(&str, Meaning); 38] = [
    ("app.name", Meaning::Title),
    ("job.name", Meaning::Title),
    ("cascading.flow.name", Meaning::Title),
    ("cascading.app.name", Meaning::Title),
    ("app.id", Meaning::Id),
    ("execution.id", Meaning::Id),
    ("jobGroup.id", Meaning::Id),
    ("job.id", Meaning::Id),
    ("task.id", Meaning::Id),
    ("attempt.id", Meaning::Id),
    ("tip.id", Meaning::Id),
    ("workflow.id", Meaning::Id),
    ("query.id", Meaning::Id),
    ("flow.id", Meaning::Id),
    ("user.name", Meaning::User),
    ("user.home", Meaning::Path),
    ("user.dir", Meaning::Path),
    ("proxyUser", Meaning::User),
    ("proxy.user", Meaning::User),
    ("USER", Meaning::User),
    ("LOGNAME", Meaning::User),
    ("SPARK_USER", Meaning::User),
    ("queuename", Meaning::Queue),
    ("queue.name", Meaning::Queue),
    ("yarn.queue", Meaning::Queue),
    ("scheduler.pool", Meaning::Queue),
    (".host", Meaning::Host),
    ("hostname", Meaning::Host),
    ("HOSTNAME", Meaning::Host),
    ("bindAddress", Meaning::Host),
    ("NM_HOST", Meaning::Host),
    ("job.description", Meaning::Site),
    ("callSite.short", Meaning::Site),
    ("callSite.long", Meaning::Stack),
    ("query.string", Meaning::Sql),
    ("sun.java.command", Meaning::Message),
    ("java.version", Meaning::Version),
    ("launch_time", Meaning::Time),
];

/// Ends of names of settings with options of a JVM.
const OPTIONS: [&str; 7] =
    ["opts", "JavaOptions", "java.options", "javaOptions", "command-opts", "JAVA_OPTS", "JAVA_TOOL_OPTIONS"];

/// The longest number that stays whatever its setting is: a number of 64 bits.
const LONGEST_NUMBER: usize = 20;
/// The longest number in a setting that names somebody.
const LONGEST_ID: usize = 4;

impl Mask {
    /// The replacement of the name of a setting; of a path in a class path, that of the path.
    pub(crate) fn setting_name(&mut self, name: &str) -> String {
        if is_known(name) {
            self.keep(Kept::Words);
            return name.to_owned();
        }
        if name.contains('/') {
            return self.path(name);
        }
        if let Some((stem, suffix)) = name.rsplit_once('.').filter(|(_, suffix)| SUFFIXES.contains(suffix)) {
            return format!("{}.{suffix}", self.name(Kind::File, stem));
        }
        let mut out = String::with_capacity(name.len());
        for (place, part) in name.split('.').enumerate() {
            if place > 0 {
                out.push('.');
            }
            out.push_str(&if part.is_empty() { String::new() } else { self.word_or(Kind::Setting, part) });
        }
        out
    }

    /// The replacement of the value of a setting.
    pub(crate) fn setting_value(&mut self, name: &str, value: &str) -> String {
        if value.trim().is_empty() || value.contains("(redacted)") {
            self.keep(Kept::Switch);
            return if value.trim().is_empty() { value.to_owned() } else { "*********(redacted)".to_owned() };
        }
        // Options of a JVM say more than their secrets, which are settings of their own.
        let has_options = is_known(name) && OPTIONS.iter().any(|end| name.ends_with(end));
        if !has_options && secrets::shown(name, value) != value {
            return self.secret(value);
        }
        if name.ends_with("rdd.scope") {
            return super::json::scope(self, value);
        }
        let known = MEANINGS.iter().find(|(end, _)| name.ends_with(end));
        match known {
            Some((_, Meaning::Sql)) => return self.text(Meaning::Sql, value).into_owned(),
            Some((_, meaning)) => return self.text(*meaning, value).into_owned(),
            None => {}
        }
        if name == "mapreduce.workflow.name" || is_sql(value) {
            return self.text(Meaning::Sql, value).into_owned();
        }
        if !is_known(name) {
            return self.text(Meaning::Unknown, value).into_owned();
        }
        let masked = if has_options { self.options(value) } else { self.plain_value(name, value) };
        if masked == value {
            self.keep(Kept::Setting);
        }
        masked
    }

    /// A pseudonym for a password or a token. A command may hold one among other words.
    fn secret(&mut self, value: &str) -> String {
        self.name(Kind::Value, value)
    }

    fn plain_value(&mut self, name: &str, value: &str) -> String {
        let number = value.trim().trim_start_matches('-');
        // Sizes of a list of files.
        if value.contains(',') && value.split(',').all(|part| !part.is_empty() && is_whole(part)) {
            let all: Vec<String> =
                value.split(',').map(|part| self.number_of_setting(name, part, part.len())).collect();
            return all.join(",");
        }
        let digits = number.bytes().filter(u8::is_ascii_digit).count();
        let is_of_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'E' | b'%' | b'f');
        if digits > 0 && number.bytes().all(is_of_number) && number.matches('.').count() <= 1 {
            return self.number_of_setting(name, value, digits);
        }
        if is_amount(value.trim()) {
            return value.to_owned();
        }
        self.class_or_message(value)
    }

    fn number_of_setting(&mut self, name: &str, value: &str, digits: usize) -> String {
        if let Ok(number) = value.parse::<i64>()
            && Clock::is_time(number)
            && !name.to_ascii_lowercase().contains("bytes")
        {
            return self.clock.millis(number).to_string();
        }
        let names_somebody = ["id", "Id", "ID", "account", "user", "owner", "uid", "number"]
            .iter()
            .any(|end| name.ends_with(end));
        if digits > LONGEST_NUMBER || names_somebody && digits > LONGEST_ID {
            return self.digits(value);
        }
        value.to_owned()
    }

    /// Names of classes by which tools are known stay in lists, too.
    fn class_or_message(&mut self, value: &str) -> String {
        let is_class = value.contains('.')
            && value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '$' | '_'));
        if is_class && !value.starts_with(|c: char| c.is_ascii_digit()) {
            let mut text = self.dotted_value(value);
            if text.is_empty() {
                text = self.class(value);
            }
            return text;
        }
        self.message(value)
    }

    /// A host name or a class.
    fn dotted_value(&mut self, value: &str) -> String {
        self.dotted(value).unwrap_or_default()
    }

    /// Options of a JVM: sizes of memory and switches stay, and settings that are given as options are treated as such.
    fn options(&mut self, value: &str) -> String {
        let mut out = String::with_capacity(value.len());
        for part in value.split_inclusive(char::is_whitespace) {
            let option = part.trim_end();
            out.push_str(&self.option(option));
            out.push_str(part.get(option.len()..).unwrap_or_default());
        }
        out
    }

    fn option(&mut self, option: &str) -> String {
        if let Some(definition) = option.strip_prefix("-D") {
            return match definition.split_once('=') {
                Some((name, value)) => {
                    format!("-D{}={}", self.setting_name(name), self.setting_value(name, value))
                }
                None => format!("-D{}", self.setting_name(definition)),
            };
        }
        if let Some(flag) = option.strip_prefix("-XX:") {
            let plain = flag.trim_start_matches(['+', '-']);
            let (name, value) = plain.split_once('=').unwrap_or((plain, ""));
            let sign = flag.get(..flag.len() - plain.len()).unwrap_or_default();
            let name = if is_known(name) { name.to_owned() } else { self.name(Kind::Value, name) };
            let value =
                if value.is_empty() { String::new() } else { format!("={}", self.plain_value("jvm", value)) };
            return format!("-XX:{sign}{name}{value}");
        }
        for size in ["-Xmx", "-Xms", "-Xmn", "-Xss"] {
            if let Some(value) = option.strip_prefix(size) {
                let is_size = is_amount(value) || value.bytes().all(|byte| byte.is_ascii_digit());
                return if is_size { option.to_owned() } else { format!("{size}{}", self.message(value)) };
            }
        }
        self.message(option)
    }
}

fn is_whole(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::text::testing::shape;
    use elephant_model::model::conf::ConfKey;

    fn mask() -> Mask {
        Mask::new(Key::of_text(b"k"))
    }

    #[test]
    fn all_settings_that_rules_read_keep_their_names() {
        for name in ConfKey::ALL.iter().flat_map(|key| key.names()) {
            assert_eq!(mask().setting_name(name), *name);
        }
    }

    #[test]
    fn values_that_judgements_read_stay() {
        for (name, value) in [
            ("spark.executor.memory", "4g"),
            ("spark.executor.cores", "4"),
            ("spark.memory.fraction", "0.6"),
            ("spark.sql.autoBroadcastJoinThreshold", "-1"),
            ("spark.sql.adaptive.enabled", "true"),
            ("spark.serializer", "org.apache.spark.serializer.KryoSerializer"),
            ("spark.executor.extraJavaOptions", "-XX:+UseG1GC -XX:InitiatingHeapOccupancyPercent=35 -Xss4m"),
            ("mapreduce.map.java.opts", "-Xmx768m -Djava.io.tmpdir=/tmp"),
            ("spark.master", "local[4]"),
            ("spark.master", "yarn"),
            ("spark.submit.deployMode", "cluster"),
            ("mapreduce.task.timeout", "600000"),
            ("mapreduce.input.fileinputformat.split.maxsize", "9223372036854775807"),
            ("hive.input.format", "org.apache.hadoop.hive.ql.io.CombineHiveInputFormat"),
            ("mapreduce.job.inputformat.class", "org.apache.hadoop.mapreduce.lib.db.DBInputFormat"),
            ("mapreduce.job.cache.files.filesizes", "100,524288001"),
            ("spark.redacted", "*********(redacted)"),
            ("a", " "),
        ] {
            assert_eq!(mask().setting_value(name, value), value, "{name}");
        }
    }

    #[test]
    fn values_that_name_somebody_do_not_stay() {
        for (name, value, expected) in [
            ("spark.master", "spark://acme1:7077", "spark://host-*:7077"),
            ("fs.s3a.access.key", "AKIAIOSFODNN7EXAMPLE", "Value-*"),
            ("spark.driver.host", "10.0.0.1", "host-*"),
            ("spark.ui.proxy", "10.0.0.1", "host-*"),
            ("mapreduce.job.user.name", "spark", "user-*"),
            ("mapreduce.job.queuename", "root.payroll", "root.queue-*"),
            ("spark.acme.customer", "Initech", "Value-*"),
            ("mapred.mapper.class", "com.acme.PayMapper", "Class-*"),
            ("mapred.input.format.class", "com.linkedin.EtlInputFormat", "com.class_*.EtlInputFormat"),
            (
                "spark.executor.extraJavaOptions",
                "-Duser.name=bob -Dacme.key=x",
                "-Duser.name=user-* -Dkey-*.key=value-*",
            ),
        ] {
            let masked = shape(&mask().setting_value(name, value)).replace("Class_", "Class-");
            assert_eq!(masked, expected, "{name}");
        }
        assert_ne!(mask().setting_value("cluster.owner.account", "123456789012"), "123456789012");
    }

    #[test]
    fn times_move() {
        let mut mask = mask();
        let moved = mask.clock.millis(1_795_255_830_918).to_string();
        assert_eq!(mask.setting_value("spark.app.startTime", "1795255830918"), moved);
    }
}
