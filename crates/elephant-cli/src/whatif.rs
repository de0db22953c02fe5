//! `elephant-rs whatif PATH…`

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Exit;
use super::counts::positive_count;
use super::finding_args::RuleArgs;
use super::input_args::InputArgs;
use super::path_args::PathArgs;
use super::view_args::{ReplayOrder, SummaryArg};
use elephant_analysis::replay::MAX_TASKS;
use elephant_base::units::Bytes;
use elephant_engine::whatif::{self, Change, Settings, Trouble};
use elephant_report::TextOptions;
use elephant_report::whatif::{WhatIfFormat, write};
use elephant_rule::params::quantity::{Quantity, Size};
use elephant_verdict::savings::Prices;
use elephant_verdict::troubles::Basis;

pub(super) const EXAMPLES: &str = "\
The recorded tasks are scheduled again with the change. A replay without any change shows the error of the model for \
each application. Predictions have a range, and a saving smaller than the error is not given. Several options together are one \
change. Without options, each trouble is left out alone, then all together, and the number of executors is varied.

Examples:
  elephant-rs whatif app.log
      what skew, stragglers, failures and speculation cost, and how the
      application would scale
  elephant-rs whatif --executors 20 --memory 6g app.log
      20 executors with 6 GiB of heap
  elephant-rs whatif --without skew --partitions 4=400 app.log
      evenly spread data, and 400 tasks in stage 4
  elephant-rs whatif --format html --output whatif.html history/
      a page with run time and cost by the number of executors

Exit status: 0 the histories were read, 2 the run failed.";

#[derive(Debug, Args)]
pub(super) struct WhatIf {
    #[command(flatten)]
    paths: PathArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show only the first N jobs (text, html), or applications: those that can save the most time, or the first by --sort
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = positive_count)]
    top: Option<NonZeroUsize>,
    /// Order of the applications
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = ReplayOrder::Saving)]
    sort: ReplayOrder,
    #[command(flatten)]
    answer: SummaryArg,
    /// Show the table of every application (text)
    #[arg(long, conflicts_with = "summary")]
    details: bool,
    /// Prices of cores and memory, as YAML, to show costs in money
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Number of executors (Spark)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    executors: Option<u32>,
    /// Cores of each executor (Spark)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    cores: Option<u32>,
    /// Heap of each executor (Spark), or container of each map and reduce task (MapReduce), such as 6g: what it costs, and
    /// whether it would hold the measured peaks
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<Bytes>,
    /// Number of tasks of a stage, such as 4=400 (Spark); repeatable
    #[arg(long, value_name = "STAGE=N", value_parser = partitions)]
    partitions: Vec<(u32, u32)>,
    /// Number of reduce tasks (MapReduce)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    reducers: Option<u32>,
    /// Size of input splits, such as 256m (MapReduce)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    split_size: Option<Bytes>,
    /// Share of map tasks that must have ended before reduce tasks start, 0 to 1 (MapReduce)
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = share)]
    slow_start: Option<f64>,
    /// Troubles to leave out
    #[arg(long, value_enum, value_name = "TROUBLE", value_delimiter = ',')]
    without: Vec<TroubleArg>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people at a terminal
    Text,
    /// For scripts
    Json,
    /// For people in a browser: one self-contained file, with run time and cost by the number of executors
    #[cfg(feature = "html")]
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum TroubleArg {
    /// Tasks that took longer because they had more data
    Skew,
    /// Tasks that were slower than others with the same amount of data
    Stragglers,
    /// Failed attempts, and work that was repeated because of them
    Failures,
    /// Speculative copies
    Speculation,
}

impl From<TroubleArg> for Trouble {
    fn from(trouble: TroubleArg) -> Self {
        match trouble {
            TroubleArg::Skew => Self::Skew,
            TroubleArg::Stragglers => Self::Stragglers,
            TroubleArg::Failures => Self::Failures,
            TroubleArg::Speculation => Self::Speculation,
        }
    }
}

impl WhatIf {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        self.answer.fits(matches!(self.format, Format::Text | Format::Json))?;
        let inputs = self.paths.read()?;
        let output = self.input.open_output(&inputs.files(), &[])?;
        let rules = self.rules.load()?;
        let prices = self.prices.as_deref().map(Prices::read).transpose()?;
        let basis = Basis { rules: &rules, prices: prices.as_ref() };
        let settings = self.settings();
        let (filter, limits) = (self.input.filters.filter(), self.input.limits.limits());
        let mut report = self.input.run(|progress| {
            whatif::report_with(inputs.named(), basis, &settings, &filter, &limits, progress)
        })?;
        report.sort(self.sort.into());
        self.input.warn(&report.problems, Some(self.details));
        let summary = self.answer.summary;
        let text = TextOptions { summary, details: self.details, ..output.text_options(self.input.color) };
        let top = if summary { Some(0) } else { self.top.map(NonZeroUsize::get) };
        let format = match self.format {
            Format::Text => WhatIfFormat::Text,
            Format::Json => WhatIfFormat::Json,
            #[cfg(feature = "html")]
            Format::Html => WhatIfFormat::Html,
        };
        output.write(|out| write(&report, format, text, top, out))?;
        let failure = self.input.failure(&report.problems, report.named_input_failed, &report.files);
        Ok(if failure.is_some() { Exit::Failure } else { Exit::Clean })
    }

    fn settings(&self) -> Settings {
        let mut without = self.without.clone();
        without.sort_unstable();
        without.dedup();
        let change = Change {
            executors: self.executors,
            cores: self.cores,
            memory: self.memory,
            // As for other options, the last value counts.
            partitions: self.partitions.iter().copied().collect::<BTreeMap<_, _>>().into_iter().collect(),
            reducers: self.reducers,
            split_size: self.split_size,
            slow_start: self.slow_start,
            without: without.into_iter().map(Trouble::from).collect(),
        };
        Settings { changes: if change.is_empty() { Vec::new() } else { vec![change] } }
    }
}

fn at_least_one(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| (1..=MAX_TASKS).contains(count));
    count.ok_or_else(|| format!("expected a whole number from 1 to {MAX_TASKS}, got \"{text}\""))
}

fn size(text: &str) -> Result<Bytes, String> {
    let quantity: Quantity<Size> = Quantity::parse(text)?;
    Bytes::from_f64(quantity.get())
        .filter(|size| size.get() > 0)
        .ok_or_else(|| format!("expected a size above 0, such as 256m, got \"{text}\""))
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| format!("\"{text}\" is not a number"))?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("it must be between 0 and 1".to_owned()) }
}

fn partitions(text: &str) -> Result<(u32, u32), String> {
    let parts =
        text.split_once('=').and_then(|(stage, tasks)| Some((stage.trim().parse().ok()?, tasks.trim())));
    let (stage, tasks) =
        parts.ok_or_else(|| format!("expected a stage and a number, such as 4=400, got \"{text}\""))?;
    Ok((stage, at_least_one(tasks)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_name_a_stage_and_a_number() {
        assert_eq!(partitions("4=400"), Ok((4, 400)));
        for bad in ["4", "=4", "x=4", "4=0", "4=-1", "4=9999999"] {
            assert!(partitions(bad).is_err(), "{bad}");
        }
        assert_eq!(size("6g"), Ok(Bytes::from_mib(6144)));
        assert!(size("0").is_err() && size("x").is_err() && share("1.1").is_err() && share("NaN").is_err());
    }
}
