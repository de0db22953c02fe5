//! The functions, for messages and for the table in `docs/defining-rules.md`.

/// A function: its name, how it is called, what it gives.
pub(in crate::rules::custom) type FunctionLine = (&'static str, &'static str, &'static str);

/// Every function.
pub(in crate::rules::custom) const FUNCTIONS: &[FunctionLine] = &[
    ("sum", "sum(x)", "sum over the rows"),
    ("mean", "mean(x)", "arithmetic mean"),
    ("median", "median(x)", "middle value, of an even number the mean of the middle two"),
    ("percentile", "percentile(x, 95)", "smallest value that 95 % of the rows do not exceed (nearest rank)"),
    ("min", "min(x), min(x, y)", "smallest of the rows; of several numbers the smallest"),
    ("max", "max(x), max(x, y)", "largest of the rows; of several numbers the largest"),
    ("stddev", "stddev(x)", "standard deviation of the rows themselves (population)"),
    ("count", "count(condition), count(task)", "number of rows for which a condition holds, or of all rows"),
    (
        "split",
        "split(x)",
        "two groups, small and large values, as the skew rules build them: `.small.mean`, `.small.count`, `.large.mean`, `.large.count`, `.deviation` (how many times the smaller mean the means are apart), `.pivot`; values and means are cut off to whole numbers",
    ),
    ("abs", "abs(x)", "without its sign"),
    (
        "floor",
        "floor(x)",
        "down to a whole number of its stored unit (bytes, milliseconds, bytes in a second)",
    ),
    ("ceil", "ceil(x)", "up to one"),
    ("round", "round(x)", "to the nearest one"),
    ("trunc", "trunc(x)", "towards zero, as Dr. Elephant rounds"),
    ("sqrt", "sqrt(x)", "square root of a plain number"),
    ("known", "known(x)", "whether x is known; the only way to ask"),
    ("coalesce", "coalesce(x, y)", "the first that is known"),
    ("time", "time(\"5min\")", "a time, written as in thresholds"),
    ("size", "size(\"64MB\")", "a size, written as in thresholds"),
    ("in_ms", "in_ms(t)", "a time as a plain number of milliseconds"),
    ("in_seconds", "in_seconds(t)", "the same in seconds"),
    ("in_minutes", "in_minutes(t)", "the same in minutes"),
    ("in_hours", "in_hours(t)", "the same in hours"),
    ("in_bytes", "in_bytes(s)", "a size as a plain number of bytes"),
    ("in_mb", "in_mb(s)", "the same in MiB"),
    ("in_gb", "in_gb(s)", "the same in GiB"),
    ("conf", "conf(\"name\")", "a setting as text, under any of the names that Hadoop and Spark gave it"),
    ("conf_number", "conf_number(\"name\")", "a setting that is a number"),
    ("conf_flag", "conf_flag(\"name\")", "a setting that is true or false"),
    (
        "conf_bytes",
        "conf_bytes(\"name\")",
        "a size: `128m`, a number of bytes; for Spark's memory settings a small bare number counts MiB",
    ),
    ("conf_mb", "conf_mb(\"name\")", "a size that is written in MiB, such as `mapreduce.map.memory.mb`"),
    (
        "conf_time",
        "conf_time(\"name\")",
        "a time: `30s`, `5min`; a bare number counts seconds in Spark and milliseconds in Hadoop",
    ),
    ("conf_heap", "conf_heap(\"name\")", "the `-Xmx` in JVM options"),
    ("startsWith", "text.startsWith(\"x\")", "whether a text starts so"),
    ("endsWith", "text.endsWith(\"x\")", "whether it ends so"),
    ("contains", "text.contains(\"x\")", "whether it holds that"),
    ("matches", "text.matches(\"x+\")", "whether a regular expression fits somewhere in it"),
];
