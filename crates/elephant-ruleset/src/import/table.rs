//! Dr. Elephant's heuristics and parameters, and their equivalents here. They follow its code rather than
//! the comments in the configuration that it ships: the code decides whether a parameter has an effect.

/// How a value is converted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Conversion {
    /// Four numbers, each times `scale`, with a unit.
    List { scale: f64, unit: &'static str },
    /// Four multiples of another parameter (`key`, else `default`), with a unit.
    TimesDefault { default: f64, key: &'static str, unit: &'static str },
    /// One number with a unit.
    Number(&'static str),
    /// One number that must be exceeded, as four equal cut-offs.
    Above(&'static str),
    /// A size such as 10GB.
    SizeText,
    /// Four sizes.
    SizeList,
}

/// A parameter of a heuristic.
#[derive(Debug)]
pub(super) struct Parameter {
    /// Its name in Dr. Elephant.
    pub(super) name: &'static str,
    /// Its key here, or several separated by blanks; empty if there is none.
    pub(super) to: &'static str,
    pub(super) conversion: Conversion,
    /// Why Dr. Elephant does not use it.
    pub(super) without_effect: Option<&'static str>,
}

/// A heuristic.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) application_type: &'static str,
    /// Its class without the package.
    pub(super) class: &'static str,
    /// Its rule here; empty if there is none.
    pub(super) id: &'static str,
    /// A note for the user who migrates.
    pub(super) remark: &'static str,
    pub(super) parameters: &'static [Parameter],
}

const fn param(name: &'static str, to: &'static str, conversion: Conversion) -> Parameter {
    Parameter { name, to, conversion, without_effect: None }
}

const fn without_effect(
    name: &'static str,
    to: &'static str,
    conversion: Conversion,
    why: &'static str,
) -> Parameter {
    Parameter { name, to, conversion, without_effect: Some(why) }
}

const NUMBERS: Conversion = Conversion::List { scale: 1.0, unit: "" };
const MINUTES: Conversion = Conversion::List { scale: 1.0, unit: "min" };
const GIGABYTES: Conversion = Conversion::List { scale: 1.0, unit: "GB" };
const TERABYTES: Conversion = Conversion::List { scale: 1.0, unit: "TB" };
/// Shares of 100 MiB/s, the disk speed that Dr. Elephant assumes.
const DISK_SPEED: Conversion = Conversion::List { scale: 100.0, unit: "MB/s" };
const CONTAINERS: Conversion =
    Conversion::TimesDefault { default: 2048.0, key: "container_memory_default_mb", unit: "MB" };

const LIST_IS_LOST: &str = "Dr. Elephant turns a configured list into text that it cannot read back";
const OTHER_KEY: &str = "the code reads another key than its configuration documents";

const SKEW: &[Parameter] = &[
    param("num_tasks_severity", "group_tasks", NUMBERS),
    param("deviation_severity", "deviation", NUMBERS),
    param("files_severity", "large_group_blocks", NUMBERS),
];
const GC: &[Parameter] = &[
    param("gc_ratio_severity", "gc_cpu_ratio", NUMBERS),
    param("runtime_severity_in_min", "run_time", MINUTES),
];
const TIME: &[Parameter] = &[
    param("short_runtime_severity_in_min", "short_run_time", MINUTES),
    param("long_runtime_severity_in_min", "long_run_time", MINUTES),
    param("num_tasks_severity", "num_tasks", NUMBERS),
];
const MEMORY: &[Parameter] = &[
    param("memory_ratio_severity", "used_ratio", NUMBERS),
    param("container_memory_severity", "container", CONTAINERS),
    param("container_memory_default_mb", "container_default", Conversion::Number("MB")),
];

const fn mapreduce(class: &'static str, id: &'static str, parameters: &'static [Parameter]) -> Rule {
    Rule { application_type: "mapreduce", class, id, remark: "", parameters }
}

const fn tez(class: &'static str, id: &'static str, parameters: &'static [Parameter]) -> Rule {
    Rule { application_type: "tez", class, id, remark: "", parameters }
}

const fn spark(class: &'static str, id: &'static str, parameters: &'static [Parameter]) -> Rule {
    Rule { application_type: "spark", class, id, remark: "", parameters }
}

const fn branch(class: &'static str, id: &'static str, parameters: &'static [Parameter]) -> Rule {
    let remark = "a heuristic of Dr. Elephant's branches; --rules dr-elephant-shs has their other thresholds";
    Rule { application_type: "spark", class, id, remark, parameters }
}

const fn legacy(class: &'static str, id: &'static str, parameters: &'static [Parameter]) -> Rule {
    let remark = "a heuristic of Dr. Elephant 2.0.9; --rules dr-elephant-2.0 has its other thresholds";
    Rule { application_type: "spark", class, id, remark, parameters }
}

const SPEED: &[Parameter] = &[
    param("disk_speed_severity", "speed", DISK_SPEED),
    param("runtime_severity_in_min", "run_time", MINUTES),
];
const SPILL: &[Parameter] =
    &[param("spill_severity", "spill_ratio", NUMBERS), param("num_tasks_severity", "num_tasks", NUMBERS)];
/// Heuristics of Tez have no condition on the size of the container.
const MEMORY_OF_TEZ: &[Parameter] = &[
    param("memory_ratio_severity", "used_ratio", NUMBERS),
    param("container_memory_default_mb", "container_default", Conversion::Number("MB")),
];

pub(super) const RULES: &[Rule] = &[
    mapreduce("MapperSkewHeuristic", "mapper-skew", SKEW),
    mapreduce("ReducerSkewHeuristic", "reducer-skew", SKEW),
    mapreduce("MapperDataSkewHeuristic", "mapper-skew", SKEW),
    mapreduce("ReducerDataSkewHeuristic", "reducer-skew", SKEW),
    mapreduce("MapperGCHeuristic", "mapper-gc", GC),
    mapreduce("ReducerGCHeuristic", "reducer-gc", GC),
    mapreduce("MapperTimeHeuristic", "mapper-time", TIME),
    mapreduce("ReducerTimeHeuristic", "reducer-time", TIME),
    mapreduce("MapperSpeedHeuristic", "mapper-speed", SPEED),
    mapreduce("MapperSpillHeuristic", "mapper-spill", SPILL),
    mapreduce("MapperMemoryHeuristic", "mapper-memory", MEMORY),
    mapreduce("ReducerMemoryHeuristic", "reducer-memory", MEMORY),
    mapreduce(
        "ShuffleSortHeuristic",
        "shuffle-sort",
        &[
            param("runtime_severity_in_min", "phase_time", MINUTES),
            param("runtime_ratio_severity", "phase_ratio", NUMBERS),
        ],
    ),
    mapreduce("ExceptionHeuristic", "job-exception", &[]),
    mapreduce(
        "DistributedCacheLimitHeuristic",
        "distributed-cache-limit",
        &[
            param("distributed.cache.file.size.limit", "limit", Conversion::Number("B")),
            without_effect(
                "distributed.cache.file.size.limit.bytes",
                "limit",
                Conversion::Number("B"),
                OTHER_KEY,
            ),
        ],
    ),
    mapreduce("JobQueueLimitHeuristic", "job-queue-limit", &[]),
    Rule {
        application_type: "mapreduce",
        class: "ConfigurationHeuristic",
        id: "",
        remark: "it only repeats the configuration; `elephant-rs analyze --format json --details` shows it",
        parameters: &[],
    },
    tez("MapperDataSkewHeuristic", "tez-mapper-skew", SKEW),
    tez("ReducerDataSkewHeuristic", "tez-reducer-skew", SKEW),
    tez("ScopeDataSkewHeuristic", "tez-scope-skew", SKEW),
    tez("MapperGCHeuristic", "tez-mapper-gc", GC),
    tez("ReducerGCHeuristic", "tez-reducer-gc", GC),
    tez("ScopeGCHeuristic", "tez-scope-gc", GC),
    tez("MapperTimeHeuristic", "tez-mapper-time", TIME),
    tez("ReducerTimeHeuristic", "tez-reducer-time", TIME),
    tez("ScopeTimeHeuristic", "tez-scope-time", TIME),
    tez("MapperSpeedHeuristic", "tez-mapper-speed", SPEED),
    tez("ScopeSpeedHeuristic", "tez-scope-speed", SPEED),
    tez("MapperMemoryHeuristic", "tez-mapper-memory", MEMORY_OF_TEZ),
    tez("ScopeMemoryHeuristic", "tez-scope-memory", MEMORY_OF_TEZ),
    tez("MapperSpillHeuristic", "tez-mapper-spill", SPILL),
    Rule {
        application_type: "tez",
        class: "ReducerMemoryHeuristic",
        id: "",
        remark: "no version of Dr. Elephant registers it; omitted",
        parameters: &[],
    },
    spark(
        "ConfigurationHeuristic",
        "spark-configuration",
        &[
            param("spark.overheadMemory.thresholds.key", "overhead", Conversion::SizeList),
            param("serializer_if_non_null_recommendation", "", NUMBERS),
        ],
    ),
    spark(
        "ExecutorsHeuristic",
        "spark-executor-metrics",
        &[
            param("max_to_median_ratio_severity_thresholds", "max_to_median", NUMBERS),
            param("ignore_max_bytes_less_than_threshold", "ignore_bytes", Conversion::SizeText),
            param("ignore_max_millis_less_than_threshold", "ignore_time", Conversion::Number("ms")),
        ],
    ),
    spark(
        "JobsHeuristic",
        "spark-job-metrics",
        &[
            param("job_failure_rate_severity_thresholds", "job_failure_rate", NUMBERS),
            param("job_task_failure_rate_severity_thresholds", "task_failure_rate", NUMBERS),
        ],
    ),
    spark(
        "StagesHeuristic",
        "spark-stage-metrics",
        &[
            param("stage_failure_rate_severity_thresholds", "stage_failure_rate", NUMBERS),
            param("stage_task_failure_rate_severity_thresholds", "task_failure_rate", NUMBERS),
            param("stage_runtime_minutes_severity_thresholds", "run_time", MINUTES),
        ],
    ),
    spark(
        "ExecutorGcHeuristic",
        "spark-executor-gc",
        &[
            param("gc_severity_A_threshold", "gc_ratio", NUMBERS),
            param("gc_severity_D_threshold", "gc_low_ratio", NUMBERS),
        ],
    ),
    branch(
        "UnifiedMemoryHeuristic",
        "spark-peak-unified-memory",
        &[
            without_effect("peak_unified_memory_threshold", "peak_share", NUMBERS, LIST_IS_LOST),
            param("spark_executor_memory_threshold", "above_heap", Conversion::SizeText),
            without_effect(
                "spark_executor_memory_threshold_key",
                "above_heap",
                Conversion::SizeText,
                OTHER_KEY,
            ),
        ],
    ),
    branch(
        "JvmUsedMemoryHeuristic",
        "spark-jvm-used-memory",
        &[
            without_effect("executor_peak_jvm_memory_threshold", "heap_ratio", NUMBERS, LIST_IS_LOST),
            param("spark_executor_memory_threshold", "above_heap", Conversion::SizeText),
            without_effect(
                "spark_executor_memory_threshold_key",
                "above_heap",
                Conversion::SizeText,
                OTHER_KEY,
            ),
        ],
    ),
    branch("StagesWithFailedTasksHeuristic", "spark-stages-with-failed-tasks", &[]),
    branch(
        "ExecutorStorageSpillHeuristic",
        "spark-executor-spill",
        &[
            param("spill_fraction_of_executors_threshold", "common", Conversion::Number("")),
            param("spill_max_memory_threshold", "large", Conversion::Number("")),
            without_effect(
                "spark_executor_cores_threshold",
                "",
                NUMBERS,
                "it only affects the wording of its advice",
            ),
            without_effect(
                "spark_executor_memory_threshold",
                "",
                NUMBERS,
                "it only affects the wording of its advice",
            ),
        ],
    ),
    branch(
        "DriverHeuristic",
        "spark-driver-metrics",
        &[
            param("gc_severity_threshold", "gc_ratio", NUMBERS),
            param("spark.overheadMemory.thresholds.key", "overhead", Conversion::SizeList),
            without_effect("peak_jvm_memory_threshold", "heap_ratio", NUMBERS, LIST_IS_LOST),
            without_effect("driver_peak_jvm_memory_threshold", "heap_ratio", NUMBERS, OTHER_KEY),
            param("spark_executor_memory_threshold_key", "above_heap", Conversion::SizeText),
        ],
    ),
    branch(
        "ConfigurationParametersHeuristic",
        "spark-configuration-parameters",
        &[
            param("spark_stage_execution_memory_spill_threshold", "spill_ratio", NUMBERS),
            param("execution_memory_spill_max_data_threshold", "spill_max_data", Conversion::SizeText),
            param(
                "spark_stage_task_duration_threshold",
                "long_task_time",
                Conversion::List { scale: 1.0, unit: "ms" },
            ),
            param("spark_stage_task_skew_threshold", "skew_ratio", NUMBERS),
            param("task_skew_task_duration_threshold", "skew_task_time", Conversion::Number("ms")),
            param("task_skew_task_to_stage_duration_ratio", "skew_stage_share", Conversion::Number("")),
            param("stage_task_failure_rate_severity_threshold", "failure_rate", NUMBERS),
            without_effect(
                "max_recommended_partitions",
                "max_partitions",
                Conversion::Number(""),
                "the code never reads it",
            ),
        ],
    ),
    legacy(
        "BestPropertiesConventionHeuristic",
        "spark-configuration",
        &[
            param("num_core_severity", "executor_cores", Conversion::Above("")),
            param("driver_memory_severity_in_gb", "driver_memory", GIGABYTES),
        ],
    ),
    legacy(
        "MemoryLimitHeuristic",
        "spark-memory-limit",
        &[
            param("total_mem_severity_in_tb", "total_memory", TERABYTES),
            param("mem_util_severity", "unified_used", NUMBERS),
            without_effect("total_memory_severity_in_tb", "total_memory", TERABYTES, OTHER_KEY),
            without_effect("mem_utilization_severity", "unified_used", NUMBERS, OTHER_KEY),
        ],
    ),
    legacy(
        "StageRuntimeHeuristic",
        "spark-stage-runtime",
        &[
            param("stage_failure_rate_severity", "stage_failure_rate", NUMBERS),
            param("single_stage_tasks_failure_rate_severity", "task_failure_rate", NUMBERS),
            param("stage_runtime_severity_in_min", "stage_time", MINUTES),
        ],
    ),
    legacy(
        "JobRuntimeHeuristic",
        "spark-job-runtime",
        &[
            param("avg_job_failure_rate_severity", "job_failure_rate", NUMBERS),
            param("single_job_failure_rate_severity", "task_failure_rate", NUMBERS),
        ],
    ),
    legacy(
        "ExecutorLoadHeuristic",
        "spark-executor-load-balance",
        &[
            param("metric_deviation_severity", "task_time_deviation input_deviation", NUMBERS),
            param("looser_metric_deviation_severity", "storage_deviation output_deviation", NUMBERS),
        ],
    ),
    legacy("EventLogLimitHeuristic", "spark-event-log-limit", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_rule::finding::Provenance;

    #[test]
    fn heuristics_are_rules_that_come_from_dr_elephant() {
        for Rule { class, id, .. } in RULES.iter().filter(|rule| !rule.id.is_empty()) {
            let rule = elephant_heuristics::BUILT_IN.rules().find(|rule| rule.id == *id);
            let provenance = rule.map(|rule| rule.facts.provenance);
            assert!(matches!(provenance, Some(Provenance::DrElephant { .. })), "{class}: {provenance:?}");
        }
    }
}
