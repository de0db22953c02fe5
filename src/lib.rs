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
///
/// ```
/// use elephant_rs::baseline::{Baseline, Tolerance, compare, update};
/// use elephant_rs::engine::{Options, analyze};
/// use elephant_rs::rules::{BUILT_IN, RuleSet};
/// use elephant_rs::severity::Severity;
///
/// let report = analyze(&["testdata/hadoop1".into()], &RuleSet::new(BUILT_IN)?, Options::default());
/// let nothing = Baseline::default();
/// let first = compare(&report, &nothing, &Tolerance::default());
/// assert!(first.is_worse(Some(Severity::Low), true));
///
/// let accepted = update(&nothing, &report, &first, false);
/// assert!(!compare(&report, &accepted, &Tolerance::default()).is_worse(Some(Severity::Low), true));
/// # Ok::<(), elephant_rs::rules::RuleError>(())
/// ```
pub mod baseline {
    pub use elephant_engine::baseline::{
        Allowance, Baseline, BaselineError, Job, ReadPhase, Run, Tolerance, compare, update,
    };
}

/// Compares two analyses, or two applications.
///
/// ```
/// use elephant_rs::diff::{Options, Side, diff};
/// use elephant_rs::engine::{self, analyze};
/// use elephant_rs::rules::{BUILT_IN, RuleSet};
///
/// let rules = RuleSet::new(BUILT_IN)?;
/// let run = |file: &str| Side::of(&analyze(&[file.into()], &rules, engine::Options::default()));
/// let fixtures = "testdata/heuristics/mapper-skew";
/// let pairs = diff(&run(fixtures), &run(fixtures), Options::default()).pairs;
/// assert!(pairs.iter().all(|pair| pair.a.id == pair.b.id));
/// # Ok::<(), elephant_rs::rules::RuleError>(())
/// ```
pub mod diff {
    pub use elephant_engine::diff::{
        Configuration, Diff, Figure, Finding, FindingPair, Label, Metrics, Move, NotEvaluated, Operator,
        Options, Pair, Part, PartOfSide, PartPair, Phase, PhasePair, PlanChange, Queries, Query, QueryPair,
        Run, SchedulerIdentity, Setting, Side, SideError, Tasks, Unit, Wall, diff,
    };
}

/// Finds histories and evaluates rules on them.
///
/// ```
/// use elephant_rs::engine::visit;
///
/// let visited = visit(&["testdata/hadoop1".into()], |app, _files| app.task_count());
/// assert_eq!(visited.applications[0].id, "job_201311192236_0042");
/// assert!(visited.applications[0].value > 0);
/// ```
pub mod engine {
    pub use elephant_engine::engine::{
        Filter, Options, Progress, SoFar, Sort, Visit, Visited, analyze, analyze_with, visit, visit_with,
    };
}

/// What rules find: verdicts, evidence, advice.
///
/// ```
/// use elephant_rs::finding::{Judgement, Measure, Subject, Verdict};
/// use elephant_rs::severity::Severity;
/// use elephant_rs::units::Bytes;
///
/// let verdict: Verdict = Judgement::of(Subject::Application, Severity::Low)
///     .tasks(12)
///     .fact("spilled_bytes", Measure::Size(Bytes::from_mib(300)))
///     .message("{spilled_bytes} spilled to disk", &[])
///     .advice(|| vec!["raise spark.executor.memory".to_owned()])
///     .into();
/// let Verdict::Judged(judgement) = verdict else { unreachable!("there is data") };
/// assert_eq!(judgement.message, "300 MiB spilled to disk");
/// ```
pub mod finding {
    pub use elephant_rule::finding::{
        Advice, ChartLimit, ComparedWith, Container, Finding, Judgement, KeyMeasure, Measure, Name,
        NotEvaluated, Provenance, RuleFacts, SettingChange, Subject, Suppressed, Threshold, TroubleKind,
        Verdict, Word, Worse,
    };
}

/// What one history may cost to read.
///
/// ```
/// use elephant_rs::engine::{Options, analyze};
/// use elephant_rs::limits::Limits;
/// use elephant_rs::rules::{BUILT_IN, RuleSet};
///
/// let options = Options { limits: Limits { tasks: Some(2), ..Limits::default() }, ..Options::default() };
/// let report = analyze(&["testdata/hadoop1".into()], &RuleSet::new(BUILT_IN)?, options);
/// assert!(!report.applications[0].complete);
/// # Ok::<(), elephant_rs::rules::RuleError>(())
/// ```
pub mod limits {
    pub use elephant_base::limits::{LimitReached, Limits, REACHED, Remainder};
}

/// What an application did.
///
/// ```
/// use elephant_rs::engine::visit;
/// use elephant_rs::model::counters::Counter;
/// use elephant_rs::model::table::TaskKind;
///
/// // The longest map task of each job, with the bytes it read.
/// let visited = visit(&["testdata/hadoop1".into()], |app, _files| {
///     let attempts = &app.group(TaskKind::Map)?.attempts;
///     let longest = (0..attempts.len()).max_by_key(|&row| attempts.run_time(row))?;
///     Some((attempts.run_time(longest)?, attempts.bytes(longest, Counter::HdfsBytesRead)?))
/// });
/// let (time, read) = visited.applications[0].value.ok_or("no map tasks with counters")?;
/// assert!(time.get() > 0 && read.get() > 0);
/// # Ok::<(), &str>(())
/// ```
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
            LogFacts, Operator, Peaks, PersistedRdd, Plan, PlanFact, PlanMetric, PlanText, Rare, Resource,
            ResourceProfile, Spark, SqlExecution, Stage, StageAttempt, StageStatus, StorageMemory,
            TaskResource,
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
///
/// ```
/// use elephant_rs::node_metrics::{Options, read};
///
/// let loaded = read(&["testdata/node-metrics/metrics.csv".into()], Options::default())?;
/// assert!(loaded.problems.is_empty());
/// # Ok::<(), elephant_rs::node_metrics::NodeMetricsError>(())
/// ```
pub mod node_metrics {
    pub use elephant_analysis::node_metrics::{
        InvalidOffset, Loaded, MIN_COVERAGE, NodeMetric, NodeMetrics, NodeMetricsError, Options, UtcOffset,
        read,
    };
}

/// Which nodes are slow, over many applications.
///
/// ```
/// use elephant_rs::nodes::{Settings, report};
///
/// let settings = Settings { min_node_tasks: 10, ..Settings::default() };
/// let nodes = report(&["testdata".into()], settings).ranking.nodes;
/// assert!(!nodes.is_empty());
/// ```
pub mod nodes {
    pub use elephant_engine::nodes::{
        BoxPlot, Day, Distribution, Family, Fit, Goodness, GroupCounts, Indicator, Interval, IntervalKind,
        Losses, Node, NodeGroup, NodeTypes, NodeTypesError, NodesReport, Ranking, Settings, Status, Summary,
        Trend, report, report_with,
    };
}

/// Writes reports, one renderer per format.
///
/// ```
/// use elephant_rs::engine::{Options, analyze};
/// use elephant_rs::report::{Format, TextOptions, write};
/// use elephant_rs::rules::{BUILT_IN, RuleSet};
///
/// let report = analyze(&["testdata/hadoop1".into()], &RuleSet::new(BUILT_IN)?, Options::default());
/// let mut page = Vec::new();
/// write(&report, Format::Markdown, TextOptions::default(), &mut page)?;
/// assert!(String::from_utf8(page)?.contains("job_201311192236_0042"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use elephant_rs::engine::{Options, analyze};
/// use elephant_rs::rules::{BUILT_IN, RuleSet};
///
/// let report = analyze(&["testdata/hadoop1".into()], &RuleSet::new(BUILT_IN)?, Options::default());
/// let job = &report.applications[0];
/// let wasted = job.metrics.wasted.zip(job.metrics.used);
/// assert!(wasted.is_some_and(|(wasted, used)| wasted.as_gb_hours() < used.as_gb_hours()));
/// assert!(report.problems.is_empty());
/// # Ok::<(), elephant_rs::rules::RuleError>(())
/// ```
pub mod results {
    pub use elephant_engine::results::{
        Absence, Absent, Accepted, Amount, ApplicationReport, Axis, Bucket, Change, Charts, Comparison,
        Counts, Durations, ExecutorCounts, ExecutorSpan, FindingChange, Fingerprint, Floors, Group, Groups,
        GrownPhase, Histogram, Holder, IncompleteRun, JobComparison, JobCounts, JobKey, JobState, Level,
        Limit, LimitBasis, LimitGrowth, Load, LoadOf, MeanOf, MeasureChange, MemoryUse, Metric, MetricChange,
        MetricVerdict, Metrics, NodeAttempts, NotCompared, NotEvaluatedTotal, PhaseRow, PhaseWork, Phases,
        Point, Position, Problem, Quantity, Range, Report, Rows, RuleTotal, Scale, Scatter, Sort,
        SourceProblem, SparkCounts, StageCounts, StageName, Summary, SuppressionUse, Timeline, Told, Totals,
        TroubleChange, Work,
    };
}

/// Rules and rule files.
///
/// ```
/// use elephant_rs::rules::{BUILT_IN, RuleFile, RuleSet};
///
/// let text = "rule: mapper-skew\nenabled: false\n";
/// let file = RuleFile { name: "ours.yaml".to_owned(), text: text.to_owned() };
/// let rules = RuleSet::with_files(BUILT_IN, &[file])?;
/// assert!(rules.infos().iter().all(|rule| rule.id != "mapper-skew"));
///
/// // Errors name the file, the line and the column.
/// let file = RuleFile { name: "ours.yaml".to_owned(), text: "rule: mapper-skw\n".to_owned() };
/// let (_, problems) = RuleSet::read(BUILT_IN, &[file]);
/// assert!(problems[0].to_string().contains("ours.yaml"));
/// # Ok::<(), elephant_rs::rules::RuleError>(())
/// ```
pub mod rules {
    pub use elephant_heuristics::BUILT_IN;
    pub use elephant_ruleset::{
        AddedRule, Catalogue, Check, Evaluation, Importance, Imported, JobIdentity, Note, PRESETS, Pattern,
        Remedy, RuleError, RuleFile, RuleInfo, RuleProblem, RuleSet, Scope, Shared, Suppression, XmlError,
        find_files, import,
    };
}

/// How bad a finding is.
///
/// ```
/// use elephant_rs::severity::Severity;
///
/// assert!(Severity::Severe > Severity::Low);
/// // As in Dr. Elephant: the severity's number times the tasks that it concerns, 0 below moderate.
/// assert_eq!(Severity::Moderate.score(100), 200);
/// assert_eq!(Severity::Low.score(100), 0);
/// ```
pub mod severity {
    pub use elephant_base::severity::Severity;
}

/// Stragglers of many applications: what they cost, why they straggled, how detectors would have done.
///
/// ```
/// use elephant_rs::survey::{Settings, report};
///
/// let survey = report(&["testdata/heuristics/straggler-impact".into()], &Settings::default(), None);
/// let groups = survey.applications.iter().flat_map(|app| &app.groups);
/// assert!(groups.map(|group| group.stragglers.len()).sum::<usize>() > 0);
/// ```
pub mod survey {
    pub use elephant_engine::survey::{
        ApplicationStragglers, Basis, Best, Cause, CauseCorrelation, CauseCount, CauseCounts, CauseParams,
        Certainty, Component, Confidence, Copies, DelayDistribution, DelayStep, DetectorOptions,
        EngineDetectors, EngineSetting, Evaluated, Evaluation, Evidence, Fact, FaultKind, GroupReport,
        Histogram, Impact, InputUnit, JobImpact, Learnt, LearntError, Limit, Means, Method, NodeTasks,
        Origin, Parameter, Pool, Pooled, ProgressSource, Quality, Quantiles, Ranked, SWEPT,
        ServerDistribution, ServerStep, ServerTasks, Settings, SlowNode, Sources, Speculation, Straggler,
        StragglerCause, StragglerDay, StragglerReport, Total, TraceFormat, UsualRule, UsualSource, Value,
        WaitedFor, Waiting, report, report_with,
    };
}

/// Findings of one cause, with what its removal saves.
pub mod troubles {
    pub use elephant_verdict::troubles::{Confidence, Recommended, Telling, Trouble};
}

/// Sizes, times and rates.
///
/// ```
/// use elephant_rs::units::{Bytes, MbMillis, Millis};
///
/// let container = MbMillis::of(Bytes::from_mib(2048), Millis::from_secs(1800));
/// assert_eq!(container.as_gb_hours(), 1.0);
/// assert_eq!(Bytes::from_mib(1536).to_string(), "1.5 GiB");
/// assert_eq!(Millis::from_secs(90).to_string(), "1m 30s");
/// ```
pub mod units {
    pub use elephant_base::units::{Bytes, BytesPerSecond, CoreMillis, MbMillis, Millis, Timestamp};
}

/// What applications would have taken with other resources.
///
/// ```
/// use elephant_rs::rules::{BUILT_IN, RuleSet};
/// use elephant_rs::whatif::{Change, Settings, Trouble, report};
///
/// let without_skew = Change { without: vec![Trouble::Skew], ..Change::default() };
/// let settings = Settings { changes: vec![without_skew], ..Settings::default() };
/// let report = report(&["testdata/spark/3.5.9".into()], &RuleSet::new(BUILT_IN)?, &settings);
/// let replays = report.applications.iter().filter_map(|app| app.replays.as_ref().ok());
/// assert!(replays.clone().count() > 0);
/// for replayed in replays {
///     assert!(replayed.residual_percent.abs() < 10.0);
/// }
/// # Ok::<(), elephant_rs::rules::RuleError>(())
/// ```
pub mod whatif {
    pub use elephant_engine::whatif::{
        Amounts, ApplicationReplays, Change, Cost, MemoryFit, MemoryHolder, MemoryReason, MemoryVerdict,
        PathStage, Prediction, Range, Replays, Resource, Scaling, ScalingPoint, Scenario, Settings, Trouble,
        WhatIfReport, report,
    };
}
