//! `elephant-rs stragglers PATH…`

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Exit;
use super::counts::{count, positive_count};
use super::reading::Reading;
use crate::engine::Progress;
use crate::node_metrics::{self, NodeMetrics, UtcOffset};
use crate::params::quantity::{Duration, Quantity};
use crate::parse::{Level as ProblemLevel, Problem};
use crate::report::TextOptions;
use crate::report::stragglers::{Shown, Table, write_csv, write_json, write_text};
use crate::results::SourceProblem;
use crate::stragglers::executions::Basis;
use crate::survey::{self, ApplicationStragglers, Method, Settings, StragglerReport};
use crate::units::Millis;

pub(super) const EXAMPLES: &str = "\
Each task is compared with those of its group: the maps or the reduces of a job, or one attempt of a stage. Every \
detector of stragglers is taken through the finished jobs as if they ran, without looking ahead.

Examples:
  elephant-rs stragglers /spark-events /mr-history/done
      stragglers with their causes, the application that waited longest first
  elephant-rs stragglers --node-metrics sar.txt history/
      with what the nodes did meanwhile: CSV, sar, sadf, tsar or a Prometheus
      range result
  elephant-rs stragglers --format csv --table detectors history/
      how each detector would have done, for a spreadsheet
  elephant-rs stragglers --label usual --basis run app.log
      stragglers of more than 1.2 times the usual time, by executor run time

Exit status: 0 the histories were read, 2 the run failed.";

#[derive(Debug, Args)]
pub(super) struct Stragglers {
    #[command(flatten)]
    reading: Reading,
    /// How to print the survey
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Which table --format csv prints
    #[arg(long, value_enum, default_value_t = CsvTable::Stragglers)]
    table: CsvTable,
    /// Show only the N applications that waited longest
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count)]
    top: Option<NonZeroUsize>,
    /// Show only the N longest stragglers of a group (text)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count, default_value = "10")]
    tasks: NonZeroUsize,
    /// What makes a task a straggler
    #[arg(long, value_enum, default_value_t = Label::Median)]
    label: Label,
    /// From how many times the median or mean on, above how many usual times, or from which DoS-index on; by default
    /// 1.5, 1.2 and 2.5
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    factor: Option<f64>,
    /// Leave out groups with fewer tasks
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count::<usize>, default_value_t = Settings::default().min_tasks)]
    min_tasks: usize,
    /// Which clock to read
    #[arg(long, value_enum, default_value_t = Clock::Wall)]
    basis: Clock,
    /// What nodes did meanwhile: a CSV file, the output of sar, sadf -d or tsar, or a Prometheus range result;
    /// repeatable
    #[arg(long, value_name = "FILE")]
    node_metrics: Vec<PathBuf>,
    /// The clock of node metrics that do not say theirs, as +02:00
    #[arg(long, value_name = "OFFSET", default_value = "+00:00", allow_hyphen_values = true)]
    node_metrics_utc_offset: UtcOffset,
    /// Take no detectors through the jobs
    #[arg(long)]
    no_replay: bool,
    /// Also try Spark's speculation with twelve combinations of quantile and multiplier
    #[arg(long, conflicts_with = "no_replay")]
    sweep: bool,
    /// How long attempts make no progress after their launch, where only launch and end are known
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0s")]
    startup: Millis,
    /// Time between two reports of an attempt's progress; by default 3 s for MapReduce and 10 s for Spark
    #[arg(long, value_name = "TIME", value_parser = duration)]
    report: Option<Millis>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people at a terminal
    Text,
    /// For scripts, with everything
    Json,
    /// For spreadsheets
    Csv,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CsvTable {
    /// A row for each straggler
    Stragglers,
    /// A row for each detector
    Detectors,
    /// A row for each application
    Applications,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Label {
    /// A multiple of the group's median
    Median,
    /// A multiple of the group's mean
    Mean,
    /// A multiple of what the task usually takes
    Usual,
    /// Its time for its input, against that of the group
    DosIndex,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Clock {
    /// From launch to end
    Wall,
    /// Spark's executor run time
    Run,
}

fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("\"{text}\" is no number"))?;
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err("it has to be above 0".to_owned()) }
}

fn duration(text: &str) -> Result<Millis, String> {
    let quantity: Quantity<Duration> = Quantity::parse(text)?;
    Millis::from_f64(quantity.get()).ok_or_else(|| format!("\"{text}\" is no span of time"))
}

impl Stragglers {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let output = self.reading.open_output(None)?;
        let (metrics, told) = self.metrics()?;
        let settings = self.settings();
        let survey = |progress: &Progress| {
            let limits = self.reading.limits.limits();
            survey::report_with(&self.reading.paths, &settings, metrics.as_ref(), &limits, progress)
        };
        let mut report = self.reading.run(survey)?;
        report.problems.extend(told);
        report.problems.extend(self.unmatched(&report, metrics.as_ref()));
        self.reading.warn(&report.problems);
        let text = TextOptions { color: output.wants_color(self.reading.color), ..TextOptions::default() };
        let shown =
            Shown { applications: self.top.map(NonZeroUsize::get), stragglers: Some(self.tasks.get()) };
        let table = match self.table {
            CsvTable::Stragglers => Table::Stragglers,
            CsvTable::Detectors => Table::Detectors,
            CsvTable::Applications => Table::Applications,
        };
        output.write(|out| match self.format {
            Format::Text => write_text(&report, text, shown, out),
            Format::Json => write_json(&report, shown, out),
            Format::Csv => write_csv(&report, table, shown, out),
        })?;
        let failed = self.reading.failed(&report.problems, report.named_input_failed);
        Ok(if failed { Exit::Failure } else { Exit::Clean })
    }

    /// What to say where metrics of nodes fit no straggler: mostly names of hosts or clocks differ.
    fn unmatched(&self, report: &StragglerReport, metrics: Option<&NodeMetrics>) -> Option<SourceProblem> {
        let metrics = metrics?;
        let stragglers: u64 = report.applications.iter().map(ApplicationStragglers::stragglers).sum();
        let matched: u64 = report.applications.iter().map(|app| app.with_node_metrics).sum();
        if stragglers == 0 || matched > 0 {
            return None;
        }
        let hosts: Vec<&str> = metrics.nodes().take(3).collect();
        let message = format!(
            "none of {stragglers} stragglers ran on a host and at a time that the node metrics tell (they name {}); \
             times have to be in milliseconds for CSV, and --node-metrics-utc-offset sets local clocks",
            hosts.join(", ")
        );
        let source = self.node_metrics.first()?.display().to_string();
        let problem = Problem {
            level: ProblemLevel::Warning,
            code: "node-metrics-unmatched",
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
        let told = loaded.problems.into_iter();
        let told = told.map(|(path, problem)| SourceProblem { source: path.display().to_string(), problem });
        Ok((Some(loaded.metrics), told.collect()))
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
            min_tasks: self.min_tasks,
            basis: match self.basis {
                Clock::Wall => Basis::Wall,
                Clock::Run => Basis::Run,
            },
            replay: !self.no_replay,
            sweep: self.sweep,
            startup: self.startup,
            report: self.report,
            ..Settings::default()
        }
    }
}
