//! `elephant-rs stragglers PATH…`

use std::error::Error;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::Exit;
use super::counts::{count, duration, positive, positive_count, quantile};
use super::input_args::InputArgs;
use super::output::Output;
use super::part_args::{PartArgs, hash_of_files, write_part};
use super::path_args::{Inputs, PathArgs};
use super::trace_arg::TraceArg;
use super::view_args::{StragglerOrder, SummaryArg};
use elephant_analysis::node_metrics::{self, NodeMetrics, UtcOffset};
use elephant_analysis::stragglers::executions::Basis;
use elephant_base::units::Millis;
use elephant_engine::conditions::Condition;
use elephant_engine::engine::{PartKind, Progress};
use elephant_engine::results::SourceProblem;
use elephant_engine::survey::{
    self, DetectorOptions, Learnt, LearntError, Method, Pool, Settings, StragglerReport, UsualRule,
};
use elephant_parse::{Level as ProblemLevel, Problem};
use elephant_report::TextOptions;
#[cfg(feature = "html")]
use elephant_report::stragglers::write_html;
use elephant_report::stragglers::{Shown, Table, write_csv, write_json, write_text};

pub(super) const EXAMPLES: &str = "\
Each task is compared with its group: the map tasks or the reduce tasks of a job, or one stage attempt. Every \
straggler detector is replayed on the finished jobs. At each moment, it sees only what was known at that time.

Examples:
  elephant-rs stragglers /spark-events /mr-history/done
      stragglers with their causes; the application that waited longest for
      stragglers comes first
  elephant-rs stragglers --node-metrics sar.txt history/
      also read node metrics: CSV, sar, sadf, tsar or a Prometheus range result
  elephant-rs stragglers --format csv --table detectors history/
      the results of each detector, for a spreadsheet
  elephant-rs stragglers --format html --output stragglers.html history/
      a page with histograms of task times, coloured by cause
  elephant-rs stragglers --label usual --basis run app.log
      tasks that took more than 1.2 times their usual time, by executor run time
  elephant-rs stragglers clusterdata-2011-2/
      the jobs of a published cluster trace: Google 2011, Alibaba 2017 or 2018

Exit status: 0 the histories were read, 2 the run failed.";

/// The heading of the detectors' options in the help.
const DETECTORS: &str = "Detectors";

#[derive(Debug, Args)]
pub(super) struct Stragglers {
    #[command(flatten)]
    paths: PathArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    parts: PartArgs,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Table to print with --format csv
    #[arg(long, value_enum, default_value_t = CsvTable::Stragglers)]
    table: CsvTable,
    /// Show only the first N jobs (text, html), or applications: those that waited longest for stragglers, or the first by --sort
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count)]
    top: Option<NonZeroUsize>,
    /// Show only the N longest stragglers of each group (text, html)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count, default_value = "10")]
    tasks: NonZeroUsize,
    /// Order of the applications
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = StragglerOrder::Saving)]
    sort: StragglerOrder,
    #[command(flatten)]
    answer: SummaryArg,
    /// Also list the stragglers of each application, with histograms, and every detector (text)
    #[arg(long, conflicts_with = "summary")]
    details: bool,
    /// How stragglers are defined
    #[arg(long, value_enum, default_value_t = Label::Median)]
    label: Label,
    /// A task is a straggler from this multiple of its group's median or mean [default: 1.5], above this multiple of
    /// its usual time [default: 1.2], or from this DoS-index [default: 2.5]
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    factor: Option<f64>,
    /// Look only at these tasks, such as kind=map, name!=count*, tasks=100-, job-names=2-, hour=22-5, weekday=sat or type=Hive;
    /// repeatable, all must hold. Times are those at which a stage or a kind of tasks began, UTC
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,
    /// Skip groups with fewer tasks
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count::<usize>, default_value_t = Settings::default().min_tasks)]
    min_tasks: usize,
    /// How the time of a task is measured
    #[arg(long, value_enum, default_value_t = Clock::Wall)]
    basis: Clock,
    /// Node metrics: a CSV file, the output of sar, sadf -d or tsar, or a Prometheus range result; repeatable
    #[arg(long, value_name = "FILE")]
    node_metrics: Vec<PathBuf>,
    /// UTC offset of node metrics that do not contain one, such as +02:00
    #[arg(long, value_name = "OFFSET", default_value = "+00:00", allow_hyphen_values = true)]
    node_metrics_utc_offset: UtcOffset,
    /// Skip the detector replay
    #[arg(long)]
    no_replay: bool,
    /// Also replay Spark's speculation with twelve combinations of quantile and multiplier
    #[arg(long, conflicts_with = "no_replay")]
    sweep: bool,
    /// Speculative lag: the detectors default, late and hierarchical flag no task earlier [default: 20s; 60s for
    /// default-hadoop-0.20]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = DETECTORS)]
    lag: Option<Millis>,
    /// Gap of default and hierarchical: they flag tasks whose progress is this far below the average [default: 0.2]
    #[arg(long, value_name = "SHARE", value_parser = positive, help_heading = DETECTORS)]
    gap: Option<f64>,
    /// Slow task threshold of late, in standard deviations below the mean rate [default: 1]
    #[arg(long, value_name = "N", value_parser = positive, help_heading = DETECTORS)]
    alpha: Option<f64>,
    /// Tasks over which default and hierarchical take the average [default: launched; all for default-hadoop-0.20]
    #[arg(long, value_enum, value_name = "TASKS", help_heading = DETECTORS)]
    pool: Option<PoolArg>,
    /// spark.speculation.quantile of Spark's speculation [default: that of each version]
    #[arg(long, value_name = "SHARE", value_parser = quantile, help_heading = DETECTORS)]
    quantile: Option<f64>,
    /// spark.speculation.multiplier of Spark's speculation [default: that of each version]
    #[arg(long, value_name = "FACTOR", value_parser = positive, help_heading = DETECTORS)]
    multiplier: Option<f64>,
    /// Quantile over runs or tasks that is a task's usual time, which detectors are rated by
    #[arg(long, value_name = "SHARE", value_parser = quantile, help_heading = DETECTORS, default_value_t = UsualRule::default().quantile)]
    usual_quantile: f64,
    /// Write how long tasks of each job take, and how they progress, to a file for --models; runs that are already in
    /// the file are kept
    #[arg(long, value_name = "FILE", conflicts_with_all = ["partial", "merge"], help_heading = DETECTORS)]
    learn: Option<PathBuf>,
    /// Use the runs in a file written by --learn, for usual times and for the detectors offline and combined; an application
    /// is not compared with itself. With --learn, all applications are read first, and then rated by the others
    #[arg(long, value_name = "FILE", help_heading = DETECTORS)]
    models: Option<PathBuf>,
    /// Read files other than histories as tables of this cluster trace; otherwise the traces are recognised by their contents
    #[arg(long, value_enum, value_name = "TRACE")]
    trace: Option<TraceArg>,
    /// Assumed time without progress after launch, for attempts that log only launch and end
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0s")]
    startup: Millis,
    /// Time between two progress reports of an attempt [default: 3s for MapReduce, 10s for Spark]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    report: Option<Millis>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people at a terminal
    Text,
    /// For scripts, with all data
    Json,
    /// For people in a browser: one self-contained file
    #[cfg(feature = "html")]
    Html,
    /// For spreadsheets
    Csv,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CsvTable {
    /// One row per straggler
    Stragglers,
    /// One row per detector
    Detectors,
    /// One row per application
    Applications,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PoolArg {
    /// All tasks: a waiting one counts as 0, a finished one as 1
    All,
    /// All launched tasks
    Launched,
    /// The running tasks
    Running,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Label {
    /// A multiple of the group's median
    Median,
    /// A multiple of the group's mean
    Mean,
    /// A multiple of the task's usual time
    Usual,
    /// The task's time for its input, compared with its group
    DosIndex,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Clock {
    /// From launch to end
    Wall,
    /// Spark's executor run time
    Run,
}

impl Stragglers {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        self.answer.fits(matches!(self.format, Format::Text | Format::Json))?;
        let inputs = self.paths.read()?;
        if let Some(file) = self.parts.open()? {
            let (metrics, _) = self.metrics()?;
            let settings = Settings { models: self.models()?.map(Arc::new), ..self.settings() };
            let (filter, limits) = (self.input.filters.filter(), self.input.limits.limits());
            let extent = (&filter, &limits);
            let work = |progress: &Progress| {
                survey::part_of(inputs.named(), &settings, metrics.as_ref(), extent, progress)
            };
            return write_part(&self.input.run(work)??, &self.kind_of_part()?, &self.input, file);
        }
        let output = self.input.open_output(&inputs.files(), &[])?;
        let learn_to = self.learn.as_deref().map(|path| Output::open(Some(path))).transpose()?;
        learn_to.as_ref().map_or(Ok(()), |file| file.differs_from(&output))?;
        let (metrics, problems) = self.metrics()?;
        if self.learn.is_some() && self.models.is_some() && inputs.reads_stdin() {
            return Err("with --learn and --models the histories are read twice, which is not possible from standard \
                        input; save it to a file"
                .into());
        }
        let models = self.models()?;
        let survey = |settings: &Settings| self.survey(&inputs, settings, metrics.as_ref());
        let (mut report, learnt) = match (&self.learn, models) {
            (None, models) => (survey(&Settings { models: models.map(Arc::new), ..self.settings() })?, None),
            (Some(learn), None) => {
                let mut learnt = Learnt::load_if_there(learn)?;
                let mut report = survey(&Settings { learn: true, ..self.settings() })?;
                report.teach(&mut learnt);
                (report, Some(Arc::new(learnt)))
            }
            (Some(_), Some(mut learnt)) => {
                let first = Settings { learn: true, replay: false, ..self.settings() };
                survey(&first)?.teach(&mut learnt);
                let learnt = Arc::new(learnt);
                let second = Settings { models: Some(learnt.clone()), ..self.settings() };
                (survey(&second)?, Some(learnt))
            }
        };
        report.sort(self.sort.into());
        report.problems.extend(problems);
        report.problems.extend(self.unmatched(&report, metrics.as_ref()));
        self.input.warn(&report.problems, Some(self.details));
        let text = TextOptions {
            details: self.details,
            summary: self.answer.summary,
            ..output.text_options(self.input.color)
        };
        output.write(|out| self.render(&report, text, out))?;
        let failure = self.input.failure(&report.problems, report.named_input_failed, &report.files);
        if let Some((learnt, file)) = learnt.zip(learn_to).filter(|_| failure.is_none()) {
            file.write(|out| learnt.write(out))?;
        }
        Ok(if failure.is_some() { Exit::Failure } else { Exit::Clean })
    }

    fn survey(
        &self,
        inputs: &Inputs<'_>,
        settings: &Settings,
        metrics: Option<&NodeMetrics>,
    ) -> Result<StragglerReport, Box<dyn Error>> {
        if self.parts.merges() {
            let (kind, parts) = (self.kind_of_part()?, inputs.parts());
            return Ok(self.input.run(|_| survey::report_of_parts((&kind, &parts), settings))??);
        }
        let (filter, limits) = (self.input.filters.filter(), self.input.limits.limits());
        let work = |progress: &Progress| {
            survey::report_of(inputs.named(), settings, metrics, &filter, &limits, progress)
        };
        Ok(self.input.run(work)?)
    }

    /// What partial results must have in common.
    fn kind_of_part(&self) -> io::Result<PartKind<'static>> {
        let mut options = self.input.options_of_part();
        options.push(("settings", survey::options_of_part(&self.settings())));
        options.push(("node metrics (--node-metrics)", hash_of_files(&self.node_metrics)?));
        options.push(("models (--models)", hash_of_files(self.models.as_slice())?));
        Ok(PartKind { command: "stragglers", rules_hash: "", options })
    }

    fn render(&self, report: &StragglerReport, text: TextOptions, out: &mut dyn Write) -> io::Result<()> {
        let applications = if self.answer.summary { Some(0) } else { self.top.map(NonZeroUsize::get) };
        let shown = Shown { applications, stragglers: Some(self.tasks.get()) };
        let table = match self.table {
            CsvTable::Stragglers => Table::Stragglers,
            CsvTable::Detectors => Table::Detectors,
            CsvTable::Applications => Table::Applications,
        };
        match self.format {
            Format::Text => write_text(report, text, shown, out),
            Format::Json => write_json(report, shown, out),
            #[cfg(feature = "html")]
            Format::Html => write_html(report, shown, out),
            Format::Csv => write_csv(report, table, shown, out),
        }
    }

    /// A warning if the node metrics match no straggler, usually because host names or clocks differ.
    fn unmatched(&self, report: &StragglerReport, metrics: Option<&NodeMetrics>) -> Option<SourceProblem> {
        let metrics = metrics?;
        let (stragglers, matched) = (report.total.stragglers, report.total.with_node_metrics);
        if stragglers == 0 || matched > 0 {
            return None;
        }
        let hosts: Vec<&str> = metrics.nodes().take(3).collect();
        let message = format!(
            "the node metrics match none of {stragglers} stragglers by host and time (their hosts: {}); times in CSV \
             must be in milliseconds, and --node-metrics-utc-offset sets the offset of local times",
            hosts.join(", ")
        );
        let source = self.node_metrics.first()?.display().to_string();
        let problem = Problem {
            level: ProblemLevel::Warning,
            code: "node-metrics-unmatched".into(),
            position: None,
            message,
            count: 1,
        };
        Some(SourceProblem { source, problem })
    }

    fn metrics(&self) -> Result<(Option<NodeMetrics>, Vec<SourceProblem>), Box<dyn Error>> {
        if self.node_metrics.is_empty() {
            return Ok((None, Vec::new()));
        }
        let options = node_metrics::Options { utc_offset: self.node_metrics_utc_offset };
        let loaded = node_metrics::read(&self.node_metrics, options)?;
        let problem = |(path, problem): (PathBuf, Problem)| SourceProblem {
            source: path.display().to_string(),
            problem,
        };
        Ok((Some(loaded.metrics), loaded.problems.into_iter().map(problem).collect()))
    }

    fn detectors(&self) -> DetectorOptions {
        DetectorOptions {
            lag: self.lag,
            gap: self.gap,
            alpha: self.alpha,
            pool: self.pool.map(|pool| match pool {
                PoolArg::All => Pool::All,
                PoolArg::Launched => Pool::Launched,
                PoolArg::Running => Pool::Running,
            }),
            quantile: self.quantile,
            multiplier: self.multiplier,
        }
    }

    /// The runs to use. With `--learn` there need not be a file yet.
    fn models(&self) -> Result<Option<Learnt>, LearntError> {
        let Some(path) = &self.models else { return Ok(None) };
        if self.learn.is_some() { Learnt::load_if_there(path) } else { Learnt::load(path) }.map(Some)
    }

    fn settings(&self) -> Settings {
        let method = match self.label {
            Label::Median => Method::Median,
            Label::Mean => Method::Mean,
            Label::Usual => Method::Usual,
            Label::DosIndex => Method::DosIndex,
        };
        Settings {
            method,
            factor: self.factor.unwrap_or_else(|| method.usual_factor()),
            conditions: self.conditions.clone().into(),
            min_tasks: self.min_tasks,
            basis: match self.basis {
                Clock::Wall => Basis::Wall,
                Clock::Run => Basis::Run,
            },
            replay: !self.no_replay,
            trace: self.trace.map(TraceArg::format),
            most_jobs: self.top.map(NonZeroUsize::get),
            sweep: self.sweep,
            detectors: self.detectors(),
            usual: UsualRule { quantile: self.usual_quantile, ..UsualRule::default() },
            startup: self.startup,
            report: self.report,
            ..Settings::default()
        }
    }
}
