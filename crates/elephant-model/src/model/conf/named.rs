//! Looks up settings by the names that users write, current or old.

use super::{Conf, ConfKey, parse_binary_prefix, parse_spark_duration, parse_spark_size};
use elephant_base::units::{Bytes, Millis};

impl ConfKey {
    /// The setting with this name, if it is the only one.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut keys = Self::ALL.iter().copied().filter(|key| key.names().contains(&name));
        let key = keys.next()?;
        // "mapred.child.java.opts" belongs to both maps and reduces, so look up just that name.
        keys.next().is_none().then_some(key)
    }
}

impl Conf {
    /// A setting as text, by this name or else by another name of the same setting; blank values count as
    /// absent.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<String> {
        self.setting_and_name(name).map(|(_, text)| text)
    }

    /// The same, with the name under which it was found.
    pub(super) fn setting_and_name<'n>(&self, name: &'n str) -> Option<(&'n str, String)> {
        let exact = self.raw(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        exact.map(|text| (name, text)).or_else(|| self.find(ConfKey::named(name)?))
    }

    /// A size with a binary suffix, or in bytes; below 1 MiB, a bare number of a memory setting of Spark is in mebibytes.
    #[must_use]
    pub fn size_setting(&self, name: &str) -> Option<Bytes> {
        let text = self.setting(name)?;
        if !name.starts_with("spark.") {
            return parse_binary_prefix(&text);
        }
        let bare: Option<u64> = text.parse().ok();
        match bare {
            Some(number) if number < Bytes::PER_MIB && name.to_ascii_lowercase().contains("memory") => {
                Some(Bytes::from_mib(number))
            }
            Some(number) => Some(Bytes::new(number)),
            None => parse_spark_size(&text),
        }
    }

    /// A time span; a number without a unit is in seconds for Spark's settings, in milliseconds for all
    /// others.
    #[must_use]
    pub fn time_setting(&self, name: &str) -> Option<Millis> {
        let text = self.setting(name)?;
        match text.parse::<u64>() {
            Ok(number) if !name.starts_with("spark.") => Some(Millis::new(number)),
            _ => parse_spark_duration(&text),
        }
    }

    /// The heap limit in a setting with JVM options.
    #[must_use]
    pub fn heap_setting(&self, name: &str) -> Option<Bytes> {
        let options = self.setting(name)?;
        let limit = options.split_whitespace().rev().find_map(|option| option.strip_prefix("-Xmx"))?;
        parse_binary_prefix(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Property;
    use super::*;

    fn conf(properties: &[(&str, &str)]) -> Conf {
        let mut conf = Conf::default();
        for (name, value) in properties {
            conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
        }
        conf
    }

    #[test]
    fn any_name_of_a_setting_finds_it() {
        let old = conf(&[("io.sort.mb", "200"), ("mapred.child.java.opts", "-Xmx200m -Xmx1g")]);
        assert_eq!(old.setting("mapreduce.task.io.sort.mb").as_deref(), Some("200"));
        assert_eq!(old.setting("io.sort.mb").as_deref(), Some("200"));
        assert_eq!(old.heap_setting("mapreduce.map.java.opts"), Some(Bytes::from_mib(1024)));
        assert_eq!(old.setting("mapred.map.child.java.opts").as_deref(), Some("-Xmx200m -Xmx1g"));
        assert_eq!(
            conf(&[("mapreduce.map.java.opts", "-Xmx1g")]).heap_setting("mapred.child.java.opts"),
            None
        );
        assert_eq!(conf(&[("my.own", " ")]).setting("my.own"), None);
    }

    #[test]
    fn bare_numbers_use_the_engines_unit() {
        let c = conf(&[
            ("spark.executor.memory", "4096"),
            ("spark.driver.memory", "1.5g"),
            ("spark.eventLog.rolling.maxFileSize", "134217728"),
            ("dfs.blocksize", "134217728"),
            ("mapreduce.task.timeout", "600000"),
            ("spark.network.timeout", "120"),
            ("my.time", "5min"),
        ]);
        assert_eq!(c.size_setting("spark.executor.memory"), Some(Bytes::from_mib(4096)));
        assert_eq!(c.size_setting("spark.driver.memory"), Some(Bytes::from_mib(1536)));
        assert_eq!(c.size_setting("spark.eventLog.rolling.maxFileSize"), Some(Bytes::from_mib(128)));
        assert_eq!(c.size_setting("dfs.block.size"), Some(Bytes::from_mib(128)));
        assert_eq!(c.time_setting("mapreduce.task.timeout"), Some(Millis::from_secs(600)));
        assert_eq!(c.time_setting("spark.network.timeout"), Some(Millis::from_secs(120)));
        assert_eq!(c.time_setting("my.time"), Some(Millis::from_secs(300)));
        assert_eq!(c.time_setting("dfs.blocksize"), Some(Millis::new(134_217_728)));
    }
}
