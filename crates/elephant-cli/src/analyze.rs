//! `elephant-rs analyze PATH…`

use std::error::Error;
use std::path::PathBuf;

use clap::Args;

use super::Exit;
use super::analysis::Analysis;
use super::finding_args::FindingArgs;
use super::input_args::InputArgs;
use super::output::Output;
use super::part_args::{PartArgs, write_part};
use super::path_args::{Inputs, PathArgs};
use super::redact::{RedactArgs, Redacted};
use elephant_engine::engine::{self, Options, PartKind, Pieces, Progress, Render};
use elephant_engine::explain::{self, Explained};
use elephant_engine::results::ApplicationReport;
use elephant_ruleset::RuleSet;
#[cfg(feature = "store")]
use elephant_store::Place;
use elephant_verdict::troubles::Basis;

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs analyze /spark-events /mr-history/done
      all logs in copies of both history servers' folders, worst first
  elephant-rs analyze --format json --output report.json history/
      the same as JSON, for scripts
  elephant-rs analyze --fail-on severe nightly.jhist
      exit status 1 if an application has a severe or critical finding
  elephant-rs analyze --user 'etl-*' --since 2026-11-20 --summary history/
      what the applications of some users waste together, since that day
  elephant-rs analyze --rules dr-elephant history/
      use the rules and thresholds of Dr. Elephant
  elephant-rs analyze --format markdown --top 20 history/ > comment.md
      a comment for a pull request; CI servers show sarif and junit
  elephant-rs analyze --explain spark-skew app.log
      the line of each value that a finding was computed from
  elephant-rs analyze --redact --format html app.log > report.html
      a report to show to others, without your names
  elephant-rs analyze --partial monday.part history/monday
  elephant-rs analyze --merge monday.part tuesday.part
      read parts on several machines, and write one report on all of them
  hdfs dfs -cat '/mr-history/done/*_0042*.jhist' | elephant-rs analyze -
      read a job history from standard input

Exit status: 0 no findings at or above --fail-on; 1 findings at or above --fail-on; 2 the run failed, or no application \
was read (--allow-empty accepts that).";

#[derive(Debug, Args)]
#[cfg_attr(feature = "store", command(mut_arg("cluster", |arg| arg.requires("store"))))]
pub(super) struct Analyze {
    #[command(flatten)]
    paths: PathArgs,
    /// Also read the GC logs below this path, and join them to applications by the container or executor in their paths;
    /// GC logs below PATH are found without it
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    gc_logs: Vec<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    findings: FindingArgs,
    #[command(flatten)]
    parts: PartArgs,
    /// A log of a container, driver or executor, or a folder with such logs; those beside histories are found without it
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath, conflicts_with_all = ["partial", "merge"])]
    logs: Vec<PathBuf>,
    /// Also show the messages of exceptions in these logs, with passwords, addresses, SQL and rows masked; other names stay
    #[arg(long, conflicts_with_all = ["partial", "merge"])]
    messages: bool,
    /// Also tell where the figures of findings come from: file, line and byte of each value. FINDING is a rule, a rule and
    /// what its finding is about (spark-skew@stage 3.0), or all
    #[arg(long, value_name = "FINDING", conflicts_with_all = ["partial", "merge", "summary"])]
    explain: Option<String>,
    #[command(flatten)]
    redact: RedactArgs,
    /// Also store all applications in a database, as ingest does, for history and check
    #[cfg(feature = "store")]
    #[arg(
        long,
        value_name = "STORE",
        value_parser = super::store::place_parser(),
        value_hint = clap::ValueHint::FilePath,
        conflicts_with_all = ["partial", "merge", "only", "explain", "redact", "messages"]
    )]
    store: Option<Place>,
    #[cfg(feature = "store")]
    #[command(flatten)]
    cluster: super::store::ClusterArg,
}

impl Analyze {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let Self { paths, input, findings, parts, .. } = self;
        let rules = findings.load()?;
        let prices = findings.prices()?;
        let basis = Basis { rules: &rules, prices: prices.as_ref() };
        let inputs = paths.read_with(&self.gc_logs)?;
        let options = Options { logs: self.logs.clone(), messages: self.messages, ..findings.options(input) };
        let kind = findings.kind_of_part("analyze", (&rules, prices.as_ref()), &options, input);
        if let Some(file) = parts.open()? {
            let options = findings.options_of_part(input);
            let work = |progress: &Progress| engine::analyze_part(inputs.named(), basis, &options, progress);
            return write_part(&input.run(work)?, &kind, input, file);
        }
        // The report must not replace the files of the database.
        #[cfg(feature = "store")]
        let kept: Vec<PathBuf> = self.store.as_ref().map(Place::files).unwrap_or_default();
        #[cfg(not(feature = "store"))]
        let kept: Vec<PathBuf> = Vec::new();
        let output = input.open_output(&inputs.files(), &kept)?;
        if self.explain.is_some() || self.redact.is_on() {
            return self.write_whole(&inputs, basis, &options, output);
        }
        let infos = rules.infos();
        let format = findings.pieces(input, &output, &infos);
        let render = |app: &ApplicationReport| match &format {
            Some(format) => format.render(app),
            None => Ok(Vec::new()),
        };
        let render: Option<Render<'_>> = if format.is_some() { Some(&render) } else { None };
        let Analysis { report, pieces, unkept } = self.read(&inputs, (basis, &kind), options, render)?;
        input.warn(&report.problems, Some(findings.has_details()));
        input.warn_of_suppressions(&report.suppressions, findings.reports_all_rules());
        match format {
            None => findings.write(&report, input, output)?,
            Some(format) => output.write(|out| format.write(&report, pieces, out))?,
        }
        match unkept {
            Some(error) => Err(error),
            None => Ok(findings.exit(&report, input)),
        }
    }

    /// Reads and judges all applications, and renders each as soon as it is judged.
    fn read(
        &self,
        inputs: &Inputs<'_>,
        (basis, kind): (Basis<'_>, &PartKind<'_>),
        options: Options,
        render: Option<Render<'_>>,
    ) -> Result<Analysis, Box<dyn Error>> {
        let (named, input) = (inputs.named(), &self.input);
        #[cfg(feature = "store")]
        if let Some(place) = &self.store {
            return super::store::keep_all((place, &self.cluster), inputs, basis, (input, &options), render);
        }
        if self.parts.merges() {
            let parts = inputs.parts();
            let work = |_: &Progress| engine::analyze_parts((kind, &parts), basis, &options, render);
            let (report, pieces) = input.run(work)??;
            return Ok(Analysis { report, pieces, unkept: None });
        }
        if let Some(render) = render {
            let work =
                |progress: &Progress| engine::analyze_in_pieces(named, basis, options, progress, render);
            let (report, pieces) = input.run(work)?;
            return Ok(Analysis { report, pieces, unkept: None });
        }
        let work = |progress: &Progress| engine::analyze_by(named, basis, &options, progress);
        Ok(Analysis { report: input.run(work)?, pieces: Pieces::default(), unkept: None })
    }

    /// Reads and judges all applications, without their names if that is asked for, reads those again whose findings are
    /// explained, and writes the report.
    fn write_whole(
        &self,
        inputs: &Inputs<'_>,
        basis: Basis<'_>,
        options: &Options,
        output: Output,
    ) -> Result<Exit, Box<dyn Error>> {
        let Self { input, findings, .. } = self;
        let which = self.explain.as_deref().map(|which| explained(which, basis.rules)).transpose()?;
        let redacted = self.redact.rewrite(inputs, (input, options.limits))?;
        let rewritten = redacted.as_ref().map(Redacted::inputs);
        let inputs = rewritten.as_ref().unwrap_or(inputs);
        if which.is_some() && inputs.reads_stdin() {
            let why = "--explain reads histories twice, and standard input can be read only once; save it to a file";
            return Err(why.into());
        }
        let named = inputs.named();
        let mut report = input.run(|progress| {
            let mut report = engine::analyze_by(named, basis, options, progress);
            if let Some(which) = &which {
                explain::explain(named, basis.rules, &options.limits, which, &mut report);
            }
            report
        })?;
        if which.is_some() && report.applications.iter().all(|app| app.explanations.is_empty()) {
            input.note("--explain: the report has no such finding");
        }
        if let Some(redacted) = &redacted {
            redacted.hide_folder(&mut report);
        }
        input.warn(&report.problems, Some(findings.has_details()));
        input.warn_of_suppressions(&report.suppressions, findings.reports_all_rules());
        findings.write(&report, input, output)?;
        Ok(findings.exit(&report, input))
    }
}

/// The findings that `--explain` names.
fn explained(which: &str, rules: &RuleSet) -> Result<Explained, Box<dyn Error>> {
    if which == "all" {
        return Ok(Explained::All);
    }
    let (rule, subject) = match which.split_once('@') {
        Some((rule, subject)) => (rule, Some(subject.trim().to_owned())),
        None => (which, None),
    };
    rules.rule(rule)?;
    Ok(Explained::Of { rule: rule.to_owned(), subject })
}
