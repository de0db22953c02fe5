//! Values of settings, compared as what they mean: `4096` MiB is `4g`.

use std::cmp::Ordering;

use elephant_model::model::conf::ConfKey;
use elephant_rule::finding::SettingChange;

/// Units by their suffix, and what they are multiples of: bytes for sizes, milliseconds for times.
const UNITS: &[(&str, f64)] = &[
    ("ms", 1.0),
    ("min", 60_000.0),
    ("s", 1000.0),
    ("h", 3_600_000.0),
    ("d", 86_400_000.0),
    ("kb", KIB),
    ("k", KIB),
    ("mb", MIB),
    ("m", MIB),
    ("gb", GIB),
    ("g", GIB),
    ("tb", TIB),
    ("t", TIB),
    ("b", 1.0),
];
/// A bare number from this on is no size in MiB: no machine has so much memory.
const MOST_BARE: f64 = 1e7;
const KIB: f64 = 1024.0;
/// The option of a JVM that limits its heap.
const HEAP: &str = "-Xmx";
const MIB: f64 = KIB * KIB;
const GIB: f64 = KIB * MIB;
const TIB: f64 = KIB * GIB;

/// Settings with the memory that tasks share: less of it and less garbage collection exclude each other.
pub(super) const MEMORY: [&str; 6] = [
    "spark.executor.memory",
    "spark.memory.fraction",
    "spark.executor.memoryOverhead",
    "spark.driver.memory",
    "mapreduce.map.memory.mb",
    "mapreduce.reduce.memory.mb",
];

/// The process that a setting of memory sizes: "spark.executor", "mapreduce.map".
pub(super) fn process_of(setting: &str) -> &str {
    if setting.starts_with("spark.memory.") || setting.starts_with("spark.sql.shuffle.") {
        return "spark.executor";
    }
    let end = setting.match_indices('.').nth(1).map_or(setting.len(), |(at, _)| at);
    setting.get(..end).unwrap_or(setting)
}

/// How large a value is: a number, a size, a time, or the heap of JVM options. `None` for anything else.
#[must_use]
pub fn magnitude(setting: &str, value: &str) -> Option<f64> {
    let value = value.trim().to_ascii_lowercase();
    if let Some((_, heap)) = value.rsplit_once("-xmx") {
        return magnitude("", heap.split(char::is_whitespace).next()?);
    }
    let digits = value.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim();
    let bare_mebibytes = setting.starts_with("spark.") && setting.to_ascii_lowercase().contains("memory");
    let factor = match unit {
        // Spark reads a bare number as MiB where a size of memory is meant; fractions are below 1, and larger numbers are
        // meant as bytes.
        "" if bare_mebibytes && (1.0..MOST_BARE).contains(&number) => MIB,
        // Timeouts are read with `timeStringAsSeconds`.
        "" if setting.starts_with("spark.") && setting.to_ascii_lowercase().ends_with("timeout") => 1000.0,
        "" => 1.0,
        _ => UNITS.iter().find(|(suffix, _)| *suffix == unit)?.1,
    };
    Some(number * factor)
}

/// Whether two values of a setting mean the same.
pub fn same(setting: &str, a: &str, b: &str) -> bool {
    let (a, b) = (a.trim(), b.trim());
    if a.contains(char::is_whitespace) || b.contains(char::is_whitespace) {
        return a == b;
    }
    match (magnitude(setting, a), magnitude(setting, b)) {
        (Some(x), Some(y)) => (x - y).abs() <= 1e-9 * x.abs().max(y.abs()),
        _ => a.eq_ignore_ascii_case(b),
    }
}

/// Which of two values of a setting is larger; `None` if they are no quantities.
pub(super) fn compare(setting: &str, a: &str, b: &str) -> Option<Ordering> {
    Some(magnitude(setting, a)?.total_cmp(&magnitude(setting, b)?))
}

/// Whether a change makes a quantity smaller.
pub(super) fn is_less(change: &SettingChange) -> bool {
    rises(change) == Some(false)
}

/// Whether a change makes a quantity larger; `None` if it stays as large, or is no quantity.
pub(super) fn rises(change: &SettingChange) -> Option<bool> {
    match compare(&change.setting, &change.to, change.from.as_deref()?)? {
        Ordering::Equal => None,
        order => Some(order == Ordering::Greater),
    }
}

/// Whether a change makes splits larger: a higher minimum, or a higher maximum where there is one. `None` if it is not about
/// splits.
pub(super) fn larger_splits(change: &SettingChange) -> Option<bool> {
    let sets = |key: ConfKey| key.names().contains(&change.setting.as_str());
    // Sizes of 0 and 1 mean "not set".
    let from = change.from.as_deref().and_then(|from| magnitude(&change.setting, from));
    let from = from.filter(|from| *from > 1.0);
    let rises = || Some(magnitude(&change.setting, &change.to)? > from?);
    if sets(ConfKey::SplitMinSize) {
        Some(rises().unwrap_or(true))
    } else if sets(ConfKey::SplitMaxSize) {
        Some(rises().unwrap_or(false))
    } else if sets(ConfKey::Maps) {
        Some(false)
    } else {
        None
    }
}

/// Makes the change of JVM options in the options that are settled instead, whose heap stays; `None` if the values are not
/// JVM options.
pub(super) fn options_on_top(change: &SettingChange, settled: &SettingChange) -> Option<SettingChange> {
    let options = |text: &'_ str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (from, to) = (options(change.from.as_deref().unwrap_or_default()), options(&change.to));
    if !to.iter().all(|option| option.starts_with('-')) {
        return None;
    }
    let gone = |option: &String| from.contains(option) && !to.contains(option);
    let mut all: Vec<String> = options(&settled.to).into_iter().filter(|option| !gone(option)).collect();
    let is_heap = |option: &str| option.starts_with(HEAP);
    let has_heap = all.iter().any(|option| is_heap(option));
    let is_new =
        |option: &&String| !(from.contains(option) || all.contains(option) || has_heap && is_heap(option));
    let new: Vec<String> = to.iter().filter(is_new).cloned().collect();
    all.extend(new);
    Some(SettingChange { to: all.join(" "), ..settled.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_mean_the_same_in_any_spelling() {
        for (setting, a, b) in [
            ("spark.executor.memory", "4096", "4g"),
            ("spark.executor.memory", "4096m", " 4G"),
            ("spark.executor.memory", "4294967296", "4g"),
            ("spark.memory.fraction", "0.60", "0.6"),
            ("spark.network.timeout", "120s", "2min"),
            ("spark.dynamicAllocation.executorIdleTimeout", "150", "150s"),
            ("spark.speculation", "TRUE", "true"),
            ("mapreduce.map.memory.mb", "1024", "1024"),
        ] {
            assert!(same(setting, a, b), "{setting} {a} {b}");
        }
        for (setting, a, b) in [
            ("spark.executor.memory", "4g", "4"),
            ("mapreduce.map.java.opts", "-Xmx1g -XX:+UseG1GC", "-Xmx1g"),
            ("spark.serializer", "a", "b"),
        ] {
            assert!(!same(setting, a, b), "{setting} {a} {b}");
        }
    }

    #[test]
    fn another_collector_keeps_the_settled_heap() {
        let change = |from: &str, to: &str| SettingChange {
            setting: "mapreduce.map.java.opts".to_owned(),
            from: Some(from.to_owned()),
            to: to.to_owned(),
        };
        let settled = change("-Xmx3g -XX:+UseG1GC", "-Xmx819m -XX:+UseG1GC");
        let other = change("-Xmx3g -XX:+UseG1GC", "-Xmx3g -XX:+UseParallelGC");
        let both = options_on_top(&other, &settled).unwrap();
        assert_eq!((both.to.as_str(), both.from), ("-Xmx819m -XX:+UseParallelGC", settled.from.clone()));
        assert_eq!(options_on_top(&change("4g", "6g"), &settled), None);
        // A JVM has one heap.
        let smaller = change("-Xmx3g -XX:+UseG1GC", "-Xmx1g -XX:+UseG1GC");
        assert_eq!(options_on_top(&smaller, &settled).unwrap(), settled);
    }

    #[test]
    fn quantities_have_an_order_and_words_have_none() {
        assert_eq!(compare("spark.executor.memory", "4096", "5g"), Some(Ordering::Less));
        assert_eq!(
            compare("mapreduce.map.java.opts", "-Xmx2g", "-XX:+UseG1GC -Xmx1024m -Da=b"),
            Some(Ordering::Greater)
        );
        assert_eq!(compare("spark.speculation", "true", "false"), None);
        assert_eq!(magnitude("x", ""), None);
        assert_eq!(magnitude("x", "-Xmx"), None);
    }
}
