//! Reads Spark event logs and Hadoop MapReduce job histories, and reports which applications waste the cluster, why,
//! and what to change.
//!
//! [`engine`] finds the histories below a path, decompresses and parses them into the typed [`model`] of an application,
//! evaluates [`rules`] on each, and returns the [`results`]: ranked [`finding`]s and the costs of each application.
//! [`report`] renders them. [`baseline`] compares them with an accepted state, [`diff`] with another analysis. [`survey`]
//! and [`nodes`] look at stragglers and at slow nodes over many applications.
//!
//! ```
//! use elephant_rs::engine::{Options, analyze};
//! use elephant_rs::rules::{BUILT_IN, RuleSet};
//! use elephant_rs::severity::Severity;
//!
//! let rules = RuleSet::new(BUILT_IN)?;
//! let report = analyze(&["testdata/hadoop1".into()], &rules, Options::default());
//! let job = &report.applications[0];
//! assert_eq!(job.severity, Severity::Severe);
//! assert_eq!(job.findings[0].rule, "mapper-memory");
//! assert!(job.findings[0].advice[0].contains("4096 → 1024"));
//! # Ok::<(), elephant_rs::rules::RuleError>(())
//! ```
//!
//! You can write your own rules in Rust: see [`rules::AddedRule`]. Types that will grow are `#[non_exhaustive]`;
//! options are built from their defaults (`Options { top: Some(10), ..Options::default() }`).
//!
//! The parts are crates of their own (`crates/`), which this crate exports what users rely on from.
//!
//! The library does not panic on any input. A value that the history does not contain is `None`, never zero.

#![forbid(unsafe_code)]

/// What a job may cost and still pass: baselines, comparison with an analysis, update.
pub mod baseline {
    pub use elephant_engine::baseline::{
        Allowance, Baseline, BaselineError, Job, Run, Tolerance, compare, update,
    };
}

/// Compares two analyses, or two applications.
pub mod diff {
    pub use elephant_engine::diff::{
        Configuration, Diff, Figure, Finding, FindingPair, Label, Metrics, Move, NotEvaluated, Options, Pair,
        Phase, PhasePair, Run, Setting, Side, SideError, Tasks, Unit, diff,
    };
}

/// Finds histories and evaluates rules on them.
pub mod engine {
    pub use elephant_engine::engine::{
        Filter, Options, Progress, SoFar, Sort, Visit, Visited, analyze, analyze_with, visit, visit_with,
    };
}

/// What rules find: verdicts, evidence, advice.
pub mod finding {
    pub use elephant_rule::finding::{
        Advice, ChartLimit, ComparedWith, Container, Finding, Judgement, KeyMeasure, Measure, Name,
        NotEvaluated, Provenance, RuleFacts, SettingChange, Subject, Suppressed, Threshold, TroubleKind,
        Verdict, Word, Worse,
    };
}

/// What one history may cost to read.
pub mod limits {
    pub use elephant_base::limits::{LimitReached, Limits, REACHED, Remainder};
}

/// What an application did.
pub mod model {
    pub use elephant_model::model::{
        Announced, Application, Column, Engine, Interner, JobCounters, MasterAttempt, Phase, ProgressLog,
        ProgressSplits, Status, Subject, Symbol, TaskCounts,
    };

    /// The configuration of an application.
    pub mod conf {
        pub use elephant_model::model::conf::{Conf, ConfKey, Property};
    }

    /// Counters of tasks and jobs.
    pub mod counters {
        pub use elephant_model::model::counters::{
            Counter, CounterMask, CounterSet, CounterUnit, OtherCounter,
        };
    }

    /// What only Spark logs.
    pub mod spark {
        pub use elephant_model::model::spark::{
            ClusterManager, Exclusion, Executor, ExecutorMetric, ExecutorTotals, Facet, Gaps, Job, JobResult,
            LogFacts, Peaks, PersistedRdd, PlanMetric, PlanNode, ResourceProfile, Spark, SqlExecution, Stage,
            StageAttempt, StageStatus, StorageMemory,
        };
    }

    /// The table of tasks and attempts.
    pub mod table {
        pub use elephant_model::model::table::{
            Attempts, EndReason, Locality, Outcome, TaskGroup, TaskKind, Tasks, TimePoint,
        };
    }
}

/// What nodes did, from monitoring tools.
pub mod node_metrics {
    pub use elephant_analysis::node_metrics::{
        InvalidOffset, Loaded, MIN_COVERAGE, NodeMetric, NodeMetrics, NodeMetricsError, Options, UtcOffset,
        read,
    };
}

/// Which nodes are slow, over many applications.
pub mod nodes {
    pub use elephant_engine::nodes::{
        Day, Distribution, Family, Fit, Goodness, GroupCounts, Indicator, Interval, IntervalKind, Losses,
        Node, NodeGroup, NodeTypes, NodeTypesError, NodesReport, Ranking, Settings, Status, Summary, Trend,
        report, report_with,
    };
}

/// Writes reports, one renderer per format.
pub mod report {
    pub use elephant_report::{DiffFormat, Format, TextOptions, write, write_diff, write_json, write_text};

    /// The report of [`nodes`](crate::nodes).
    pub mod nodes {
        pub use elephant_report::nodes::{write_csv, write_exclude_list, write_json, write_text};
    }

    /// The report of [`survey`](crate::survey).
    pub mod stragglers {
        pub use elephant_report::stragglers::{Shown, Table, write_csv, write_json, write_text};
    }

    /// The report of [`whatif`](crate::whatif).
    pub mod whatif {
        pub use elephant_report::whatif::{WhatIfFormat, write};
    }
}

/// The data of a report.
pub mod results {
    pub use elephant_engine::results::{
        Absence, Absent, Accepted, Amount, ApplicationReport, Axis, Bucket, Change, Charts, Comparison,
        Counts, Durations, ExecutorCounts, ExecutorSpan, FindingChange, Fingerprint, Floors, Group, Groups,
        Histogram, Holder, IncompleteRun, JobComparison, JobCounts, JobKey, JobState, Level, Limit,
        LimitBasis, Load, LoadOf, MeanOf, MeasureChange, MemoryUse, Metric, MetricChange, MetricVerdict,
        Metrics, NodeAttempts, NotCompared, NotEvaluatedTotal, PhaseRow, Phases, Point, Position, Problem,
        Quantity, Range, Report, Rows, RuleTotal, Scale, Scatter, Sort, SourceProblem, SparkCounts,
        StageCounts, StageName, Summary, SuppressionUse, Timeline, Totals, Work,
    };
}

/// Rules and rule files.
pub mod rules {
    pub use elephant_heuristics::BUILT_IN;
    pub use elephant_ruleset::{
        AddedRule, Catalogue, Check, Evaluation, Importance, Imported, Note, PRESETS, Pattern, Remedy,
        RuleError, RuleFile, RuleInfo, RuleProblem, RuleSet, Scope, Shared, Suppression, XmlError,
        find_files, import,
    };
}

/// How bad a finding is.
pub mod severity {
    pub use elephant_base::severity::Severity;
}

/// Stragglers of many applications: what they cost, why they straggled, how detectors would have done.
pub mod survey {
    pub use elephant_engine::survey::{
        ApplicationStragglers, Basis, Best, Cause, CauseCorrelation, CauseCount, CauseCounts, CauseParams,
        Certainty, Component, Confidence, Copies, DetectorOptions, EngineDetectors, EngineSetting, Evaluated,
        Evaluation, Evidence, Fact, FaultKind, GroupReport, Histogram, Impact, InputUnit, JobImpact, Learnt,
        LearntError, Limit, Means, Method, NodeTasks, Origin, Parameter, Pool, Pooled, ProgressSource,
        Quality, Ranked, SWEPT, ServerTasks, Settings, SlowNode, Sources, Speculation, Straggler,
        StragglerCause, StragglerDay, StragglerReport, Total, TraceFormat, UsualRule, UsualSource, Value,
        WaitedFor, Waiting, report, report_with,
    };
}

/// Findings of one cause, with what its removal saves.
pub mod troubles {
    pub use elephant_verdict::troubles::{Confidence, Recommended, Telling, Trouble};
}

/// Sizes, times and rates.
pub mod units {
    pub use elephant_base::units::{Bytes, BytesPerSecond, CoreMillis, MbMillis, Millis, Timestamp};
}

/// What applications would have taken with other resources.
pub mod whatif {
    pub use elephant_engine::whatif::{
        Amounts, ApplicationReplays, Change, PathStage, Prediction, Range, Replays, Resource, Scaling,
        ScalingPoint, Scenario, Settings, Trouble, WhatIfReport, report,
    };
}
