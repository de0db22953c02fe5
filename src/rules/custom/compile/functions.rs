//! The functions, for messages and for the table in `docs/defining-rules.md`.

/// A function: name, usage, result.
pub(in crate::rules::custom) type FunctionLine = (&'static str, &'static str, &'static str);

/// Every function.
pub(in crate::rules::custom) const FUNCTIONS: &[FunctionLine] = &[
    ("sum", "sum(x)", "sum over the rows"),
    ("mean", "mean(x)", "arithmetic mean"),
    ("median", "median(x)", "middle value; of an even number of rows, the mean of the two middle values"),
    (
        "percentile",
        "percentile(x, 95)",
        "smallest value that at least 95 % of the rows do not exceed (nearest rank)",
    ),
    ("min", "min(x), min(x, y)", "smallest value of the rows, or the smallest of several numbers"),
    ("max", "max(x), max(x, y)", "largest value of the rows, or the largest of several numbers"),
    ("stddev", "stddev(x)", "standard deviation over all rows (population)"),
    ("count", "count(condition), count(task)", "number of rows for which a condition holds, or of all rows"),
    (
        "split",
        "split(x)",
        "two groups, small and large values, as the skew rules build them: `.small.mean`, `.small.count`, `.large.mean`, `.large.count`, `.deviation` (difference of the means, as a multiple of the smaller one), `.pivot`; values and means are truncated to whole numbers",
    ),
    ("abs", "abs(x)", "absolute value"),
    (
        "floor",
        "floor(x)",
        "rounded down to a whole number of the stored unit (bytes, milliseconds, bytes per second)",
    ),
    ("ceil", "ceil(x)", "the same, rounded up"),
    ("round", "round(x)", "the same, rounded to nearest"),
    ("trunc", "trunc(x)", "the same, rounded towards zero as in Dr. Elephant"),
    ("sqrt", "sqrt(x)", "square root of a plain number"),
    ("known", "known(x)", "whether x is known; no other expression can test this"),
    ("coalesce", "coalesce(x, y)", "the first argument that is known"),
    ("time", "time(\"5min\")", "a time, written as in thresholds"),
    ("size", "size(\"64MB\")", "a size, written as in thresholds"),
    ("in_ms", "in_ms(t)", "a time as a plain number of milliseconds"),
    ("in_seconds", "in_seconds(t)", "the same in seconds"),
    ("in_minutes", "in_minutes(t)", "the same in minutes"),
    ("in_hours", "in_hours(t)", "the same in hours"),
    ("in_bytes", "in_bytes(s)", "a size as a plain number of bytes"),
    ("in_mb", "in_mb(s)", "the same in MiB"),
    ("in_gb", "in_gb(s)", "the same in GiB"),
    ("conf", "conf(\"name\")", "a setting as text, by any of its names in Hadoop and Spark, old or new"),
    ("conf_number", "conf_number(\"name\")", "a setting as a number"),
    ("conf_flag", "conf_flag(\"name\")", "a setting as true or false"),
    (
        "conf_bytes",
        "conf_bytes(\"name\")",
        "a setting as a size: `128m` or a number of bytes; in Spark's memory settings, a small number without unit is in MiB",
    ),
    ("conf_mb", "conf_mb(\"name\")", "a setting in MiB as a size, such as `mapreduce.map.memory.mb`"),
    (
        "conf_time",
        "conf_time(\"name\")",
        "a setting as a time: `30s`, `5min`; a number without unit is in seconds in Spark and in milliseconds in Hadoop",
    ),
    ("conf_heap", "conf_heap(\"name\")", "the `-Xmx` in JVM options"),
    ("startsWith", "text.startsWith(\"x\")", "whether the text starts with x"),
    ("endsWith", "text.endsWith(\"x\")", "whether the text ends with x"),
    ("contains", "text.contains(\"x\")", "whether the text contains x"),
    ("matches", "text.matches(\"x+\")", "whether the regular expression matches somewhere in the text"),
];
