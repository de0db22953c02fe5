//! A job's configuration: raw properties, and typed look-ups that know Hadoop 1 and Hadoop 2 names.
//!
//! Hadoop renamed most keys in 0.21 (`DeprecatedProperties` in its documentation). A look-up by [`ConfKey`]
//! tries the current name first, then the old ones, so rules never contain key names.

pub mod defaults;
mod keys;
mod listed;
mod named;
pub mod secrets;

use std::collections::BTreeMap;
use std::ops::Bound;

pub use keys::ConfKey;
use listed::Listed;
pub use listed::{Found, Listing, SetBy};

use elephant_base::state::{Reader, State};
use elephant_base::units::{Bytes, Millis};

/// Maximum number of `${…}` substitutions, as Hadoop's `Configuration.MAX_SUBST`.
const MAX_SUBSTITUTIONS: usize = 20;
/// Maximum length of a substituted value in bytes; longer ones stay unresolved.
const MAX_VALUE_LEN: usize = 1 << 20;

/// One property of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Property {
    /// The value as written, with `${…}` variables unresolved.
    pub value: String,
    /// Whether the file marks the property `<final>`.
    pub is_final: bool,
}

/// The properties of a job, in name order.
#[derive(Debug, Clone, Default)]
pub struct Conf {
    properties: Properties,
}

/// Properties as parsed at once, or as inserted one by one.
#[derive(Debug, Clone)]
enum Properties {
    Listed(Listed),
    Inserted(BTreeMap<String, (Property, SetBy)>),
}

impl Default for Properties {
    fn default() -> Self {
        Self::Inserted(BTreeMap::new())
    }
}

impl PartialEq for Conf {
    /// Whether both have the same properties, however they are stored.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.all().eq(other.all())
    }
}

impl Eq for Conf {}

impl Conf {
    /// Adds a property. A later value replaces an earlier one unless the earlier one is final.
    #[doc(hidden)]
    pub fn insert(&mut self, name: String, property: Property) {
        self.insert_by(name, property, SetBy::Unknown);
    }

    /// As [`Self::insert`], with the source of the value.
    #[doc(hidden)]
    pub fn insert_by(&mut self, name: String, property: Property, set_by: SetBy) {
        self.change(|properties| {
            if properties.get(&name).is_none_or(|(earlier, _)| !earlier.is_final) {
                properties.insert(name, (property, set_by));
            }
        });
    }

    /// Removes a property whose later value is unknown, unless it is final.
    #[doc(hidden)]
    pub fn forget(&mut self, name: &str) {
        self.change(|properties| {
            if properties.get(name).is_some_and(|(property, _)| !property.is_final) {
                properties.remove(name);
            }
        });
    }

    /// Removes a setting whose value cannot be right, under all its names.
    #[doc(hidden)]
    pub fn remove(&mut self, key: ConfKey) {
        self.change(|properties| {
            for name in key.names() {
                properties.remove(*name);
            }
        });
    }

    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<String, (Property, SetBy)>)) {
        let owned = |(name, value, is_final, set_by): (&str, &str, bool, SetBy)| {
            (name.to_owned(), (Property { value: value.to_owned(), is_final }, set_by))
        };
        let mut properties = match std::mem::take(&mut self.properties) {
            Properties::Inserted(properties) => properties,
            Properties::Listed(listed) => listed.in_order().into_iter().map(owned).collect(),
        };
        change(&mut properties);
        self.properties = Properties::Inserted(properties);
    }

    /// Whether there are no properties.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of properties.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.properties {
            Properties::Listed(listed) => listed.len(),
            Properties::Inserted(properties) => properties.len(),
        }
    }

    /// All properties in name order, values as written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().map(|(name, value, ..)| (name, value))
    }

    /// Name, value as written, whether it is final, and who set it.
    fn all(&self) -> impl Iterator<Item = (&str, &str, bool, SetBy)> {
        let (listed, inserted) = match &self.properties {
            Properties::Listed(listed) => (Some(listed.in_order()), None),
            Properties::Inserted(properties) => (None, Some(properties.iter())),
        };
        let inserted = inserted.into_iter().flatten();
        let inserted = inserted.map(|(name, (property, set_by))| {
            (name.as_str(), property.value.as_str(), property.is_final, *set_by)
        });
        listed.into_iter().flatten().chain(inserted)
    }

    /// Whether there is a property whose name begins so.
    #[must_use]
    #[doc(hidden)]
    pub fn has_prefix(&self, prefix: &str) -> bool {
        match &self.properties {
            Properties::Listed(_) => self.iter().any(|(name, _)| name.starts_with(prefix)),
            Properties::Inserted(properties) => {
                let from = (Bound::Included(prefix), Bound::Unbounded);
                properties.range::<str, _>(from).next().is_some_and(|(name, _)| name.starts_with(prefix))
            }
        }
    }

    /// A property by its exact name, as written.
    fn written(&self, name: &str) -> Option<&str> {
        match &self.properties {
            Properties::Listed(listed) => listed.get(name),
            Properties::Inserted(properties) => {
                properties.get(name).map(|(property, _)| property.value.as_str())
            }
        }
    }

    /// Whether the property with this exact name has its value from a file of defaults; `None` if the configuration
    /// does not tell.
    #[must_use]
    #[doc(hidden)]
    pub fn is_default(&self, name: &str) -> Option<bool> {
        let set_by = match &self.properties {
            Properties::Listed(listed) => listed.set_by(name)?,
            Properties::Inserted(properties) => properties.get(name)?.1,
        };
        match set_by {
            SetBy::Unknown => None,
            SetBy::Defaults => Some(true),
            SetBy::Other => Some(false),
        }
    }

    /// A property by its exact name, variables resolved; unknown variables stay as written.
    #[must_use]
    #[doc(hidden)]
    pub fn raw(&self, name: &str) -> Option<String> {
        self.written(name).map(|value| self.resolve(value))
    }

    /// A setting under any of its names, the current name first; blank values count as absent.
    #[must_use]
    #[doc(hidden)]
    pub fn text(&self, key: ConfKey) -> Option<String> {
        self.find(key).map(|(_, value)| value)
    }

    /// A setting together with the name under which it was found, so that advice can use the user's name for
    /// it.
    #[must_use]
    #[doc(hidden)]
    pub fn find(&self, key: ConfKey) -> Option<(&'static str, String)> {
        key.names().iter().find_map(|&name| {
            let value = self.raw(name)?;
            (!value.trim().is_empty()).then(|| (name, value.trim().to_owned()))
        })
    }

    /// The name for use in advice: the one that the job used, or else the current one.
    #[must_use]
    #[doc(hidden)]
    pub fn name_in_use(&self, key: ConfKey) -> &'static str {
        self.find(key).map_or_else(|| key.name(), |(name, _)| name)
    }

    /// A setting that is a whole number, decimal or `0x…` as Hadoop allows; `None` if absent or not a number.
    #[must_use]
    #[doc(hidden)]
    pub fn integer(&self, key: ConfKey) -> Option<i64> {
        let text = self.text(key)?;
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// A setting that is a decimal number, such as a share.
    #[must_use]
    #[doc(hidden)]
    pub fn fraction(&self, key: ConfKey) -> Option<f64> {
        self.text(key)?.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// A setting that is true or false.
    #[must_use]
    #[doc(hidden)]
    pub fn flag(&self, key: ConfKey) -> Option<bool> {
        match self.text(key)?.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// A setting in whole MiB. Zero and below (Hadoop's "not set") are `None`.
    #[must_use]
    #[doc(hidden)]
    pub fn mebibytes(&self, key: ConfKey) -> Option<Bytes> {
        let mib = self.integer(key)?;
        u64::try_from(mib).ok().filter(|&mib| mib > 0).map(Bytes::from_mib)
    }

    /// A setting in bytes, with Hadoop's binary suffixes `k m g t p e`
    /// (`StringUtils.TraditionalBinaryPrefix`).
    #[must_use]
    #[doc(hidden)]
    pub fn bytes(&self, key: ConfKey) -> Option<Bytes> {
        parse_binary_prefix(&self.text(key)?)
    }

    /// A size in Spark's syntax (`JavaUtils.byteStringAs`): binary suffixes, and `bare_unit` for a number
    /// without one. Zero is a valid value: an off-heap size of 0 means none.
    #[must_use]
    #[doc(hidden)]
    pub fn spark_size(&self, key: ConfKey, bare_unit: Bytes) -> Option<Bytes> {
        let text = self.text(key)?;
        match text.parse::<u64>() {
            Ok(number) => number.checked_mul(bare_unit.get()).map(Bytes::new),
            Err(_) => parse_spark_size(&text),
        }
    }

    /// A memory size in Spark's syntax. Some parts of Spark read a bare number as MiB, others as bytes; the
    /// size decides, because a value is plausible in only one of them: no one requests a million MiB (a TiB),
    /// nor less than a MiB.
    #[must_use]
    #[doc(hidden)]
    pub fn spark_memory(&self, key: ConfKey) -> Option<Bytes> {
        let number = self.text(key).and_then(|text| text.parse::<u64>().ok());
        let in_bytes = number.is_some_and(|number| number >= Bytes::PER_MIB);
        self.spark_size(key, if in_bytes { Bytes::new(1) } else { Bytes::from_mib(1) })
    }

    /// A time span in Spark's syntax (`JavaUtils.timeStringAs`); a number without a unit is in seconds.
    #[must_use]
    #[doc(hidden)]
    pub fn spark_duration(&self, key: ConfKey) -> Option<Millis> {
        parse_spark_duration(&self.text(key)?)
    }

    /// The heap limit in JVM options (`-Xmx`); the last one counts, as for the JVM.
    #[must_use]
    #[doc(hidden)]
    pub fn heap_limit(&self, key: ConfKey) -> Option<Bytes> {
        let options = self.text(key)?;
        let limit = options.split_whitespace().rev().find_map(|option| option.strip_prefix("-Xmx"))?;
        parse_binary_prefix(limit)
    }

    fn resolve(&self, value: &str) -> String {
        let mut text = value.to_owned();
        for _ in 0..MAX_SUBSTITUTIONS {
            let Some((start, end, replacement)) = self.first_variable(&text) else { break };
            if text.len() + replacement.len() > MAX_VALUE_LEN {
                break;
            }
            text.replace_range(start..end, replacement);
        }
        text
    }

    /// The first `${name}` whose name is a property: its range, and the property's value.
    fn first_variable<'a>(&'a self, text: &str) -> Option<(usize, usize, &'a str)> {
        let mut from = 0;
        loop {
            let start = from + text.get(from..)?.find("${")?;
            let body = start + 2;
            let end = body + text.get(body..)?.find('}')?;
            if let Some(value) = self.written(text.get(body..end)?) {
                return Some((start, end + 1, value));
            }
            from = body;
        }
    }
}

/// A size in bytes with one of Hadoop's and the JVM's binary suffixes.
pub fn parse_binary_prefix(text: &str) -> Option<Bytes> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        "p" => 50,
        "e" => 60,
        _ => return None,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift).map(Bytes::new)
}

fn parse_spark_duration(text: &str) -> Option<Millis> {
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.trim().parse().ok()?;
    let scale = match text.get(digits.len()..)? {
        "us" => return Some(Millis::new(number / 1000)),
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(scale).map(Millis::new)
}

/// As [`parse_binary_prefix`], also with fractions, which Spark 1 and Dr. Elephant accept: `1.5g`, `500 MB`.
fn parse_spark_size(text: &str) -> Option<Bytes> {
    if let Some(bytes) = parse_binary_prefix(text) {
        return Some(bytes);
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = parse_binary_prefix(&format!("1{}", text.get(digits.len()..)?))?;
    let number: f64 = digits.trim().replace(',', "").parse().ok()?;
    Bytes::from_f64(number * unit.as_f64())
}

/// The values of passwords are left out: what is written is copied to other machines.
impl State for Conf {
    fn put(&self, to: &mut Vec<u8>) {
        let shown = |(name, value): (&str, &str)| (name.to_owned(), secrets::shown(name, value).to_owned());
        self.iter().map(shown).collect::<Vec<(String, String)>>().put(to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        let mut conf = Self::default();
        for (name, value) in Vec::<(String, String)>::take(from)? {
            conf.insert(name, Property { value, is_final: false });
        }
        Some(conf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(properties: &[(&str, &str)]) -> Conf {
        let mut conf = Conf::default();
        for (name, value) in properties {
            conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
        }
        conf
    }

    #[test]
    fn old_names_answer_for_new_ones() {
        let old = conf(&[("mapred.job.map.memory.mb", "1024"), ("io.sort.mb", "200")]);
        assert_eq!(old.mebibytes(ConfKey::MapMemoryMb), Some(Bytes::from_mib(1024)));
        assert_eq!(old.name_in_use(ConfKey::SortMb), "io.sort.mb");
        let both = conf(&[("mapred.job.map.memory.mb", "1024"), ("mapreduce.map.memory.mb", "2048")]);
        assert_eq!(both.mebibytes(ConfKey::MapMemoryMb), Some(Bytes::from_mib(2048)));
    }

    #[test]
    fn minus_one_means_not_set() {
        assert_eq!(conf(&[("mapreduce.map.memory.mb", "-1")]).mebibytes(ConfKey::MapMemoryMb), None);
        assert_eq!(conf(&[("mapreduce.map.memory.mb", "lots")]).mebibytes(ConfKey::MapMemoryMb), None);
    }

    #[test]
    fn variables_resolve_and_loops_end() {
        let c = conf(&[
            ("mapreduce.map.memory.mb", "${base}"),
            ("base", "${factor}024"),
            ("factor", "1"),
            ("a", "${b}"),
            ("b", "${a}"),
            ("grow", "${grow}${grow}"),
            ("half", "${unknown}/${factor} and ${open"),
        ]);
        assert_eq!(c.mebibytes(ConfKey::MapMemoryMb), Some(Bytes::from_mib(1024)));
        assert!(c.raw("a").is_some_and(|value| value.starts_with("${")));
        assert!(c.raw("grow").is_some_and(|value| value.len() <= MAX_VALUE_LEN));
        assert_eq!(c.raw("half").as_deref(), Some("${unknown}/1 and ${open"));
    }

    #[test]
    fn final_properties_cannot_be_overwritten() {
        let mut c = Conf::default();
        c.insert("k".into(), Property { value: "first".into(), is_final: true });
        c.insert("k".into(), Property { value: "second".into(), is_final: false });
        assert_eq!(c.raw("k").as_deref(), Some("first"));
    }

    #[test]
    fn the_last_heap_limit_counts() {
        let c = conf(&[("mapreduce.map.java.opts", "-Xmx512m -Dx=y -Xmx1G"), ("dfs.blocksize", "64m")]);
        assert_eq!(c.heap_limit(ConfKey::MapJavaOpts), Some(Bytes::new(1 << 30)));
        assert_eq!(c.bytes(ConfKey::BlockSize), Some(Bytes::from_mib(64)));
        assert_eq!(parse_binary_prefix("99999999999999999999"), None);
        assert_eq!(parse_binary_prefix("16e"), None);
    }

    #[test]
    fn sizes_and_times_of_spark() {
        let c = conf(&[
            ("spark.executor.memory", "4g"),
            ("spark.driver.memory", "1.5g"),
            ("spark.executor.memoryOverhead", "512"),
            ("spark.memory.offHeap.size", "0"),
            ("spark.dynamicAllocation.executorIdleTimeout", "2min"),
        ]);
        let mib = Bytes::from_mib(1);
        assert_eq!(c.spark_size(ConfKey::ExecutorMemory, mib), Some(Bytes::from_mib(4096)));
        assert_eq!(c.spark_size(ConfKey::DriverMemory, mib), Some(Bytes::from_mib(1536)));
        assert_eq!(c.spark_size(ConfKey::ExecutorMemoryOverhead, mib), Some(Bytes::from_mib(512)));
        assert_eq!(c.spark_size(ConfKey::OffHeapSize, Bytes::new(1)), Some(Bytes::new(0)));
        assert_eq!(c.spark_memory(ConfKey::ExecutorMemoryOverhead), Some(Bytes::from_mib(512)));
        let bare = conf(&[("spark.executor.memory", "2147483648")]);
        assert_eq!(bare.spark_memory(ConfKey::ExecutorMemory), Some(Bytes::from_mib(2048)));
        assert_eq!(c.spark_duration(ConfKey::DynamicAllocationIdleTimeout), Some(Millis::from_secs(120)));
    }
}
