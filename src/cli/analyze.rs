//! `elephant-rs analyze PATH…`

use std::error::Error;

use clap::Args;

use super::Exit;
use super::finding_args::FindingArgs;
use super::input_args::InputArgs;
use super::part_args::{PartArgs, write_part};
use super::path_args::PathArgs;
use crate::engine::{self, Pieces, Progress, Render};
use crate::results::ApplicationReport;
use crate::troubles::Basis;

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
  elephant-rs analyze --partial monday.part history/monday
  elephant-rs analyze --merge monday.part tuesday.part
      read parts on several machines, and write one report on all of them
  hdfs dfs -cat '/mr-history/done/*_0042*.jhist' | elephant-rs analyze -
      read a job history from standard input

Exit status: 0 no findings at or above --fail-on; 1 findings at or above --fail-on; 2 the run failed, or no application \
was read (--allow-empty accepts that).";

#[derive(Debug, Args)]
pub(super) struct Analyze {
    #[command(flatten)]
    paths: PathArgs,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    findings: FindingArgs,
    #[command(flatten)]
    parts: PartArgs,
}

impl Analyze {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let Self { paths, input, findings, parts } = self;
        let rules = findings.load()?;
        let prices = findings.prices()?;
        let basis = Basis { rules: &rules, prices: prices.as_ref() };
        let inputs = paths.read()?;
        let options = findings.options(input);
        let kind = findings.kind_of_part("analyze", (&rules, prices.as_ref()), &options, input);
        if let Some(file) = parts.open()? {
            let options = findings.options_of_part(input);
            let work = |progress: &Progress| engine::analyze_part(inputs.named(), basis, &options, progress);
            return write_part(&input.run(work)?, &kind, input, file);
        }
        let output = input.open_output(&inputs.files(), None)?;
        let infos = rules.infos();
        let (named, format) = (inputs.named(), findings.pieces(input, &output, &infos));
        let render = |app: &ApplicationReport| match &format {
            Some(format) => format.render(app),
            None => Ok(Vec::new()),
        };
        let (report, pieces) = if parts.merges() {
            let render: Option<Render<'_>> = if format.is_some() { Some(&render) } else { None };
            input.run(|_| engine::analyze_parts((&kind, &inputs.parts()), basis, &options, render))??
        } else if format.is_some() {
            input.run(|progress| engine::analyze_in_pieces(named, basis, options, progress, &render))?
        } else {
            let work = |progress: &Progress| engine::analyze_by(named, basis, &options, progress);
            (input.run(work)?, Pieces::default())
        };
        input.warn(&report.problems);
        input.warn_of_suppressions(&report.suppressions, findings.reports_all_rules());
        match format {
            None => findings.write(&report, input, output)?,
            Some(format) => output.write(|out| format.write(&report, pieces, out))?,
        }
        Ok(findings.exit(&report, input))
    }
}
