//! Values of settings, compared as what they mean: `4096` MiB is `4g`.

use std::cmp::Ordering;

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
/// More MiB than that are no memory of a machine.
const MOST_BARE: f64 = 1e7;
const KIB: f64 = 1024.0;
const MIB: f64 = KIB * KIB;
const GIB: f64 = KIB * MIB;
const TIB: f64 = KIB * GIB;

/// How large a value is: a number, a size, a time, or the heap of JVM options. `None` for anything else.
pub(super) fn magnitude(setting: &str, value: &str) -> Option<f64> {
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
        "" => 1.0,
        _ => UNITS.iter().find(|(suffix, _)| *suffix == unit)?.1,
    };
    Some(number * factor)
}

/// Whether two values of a setting mean the same.
pub(super) fn same(setting: &str, a: &str, b: &str) -> bool {
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
