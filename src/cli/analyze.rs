//! `elephant-rs analyze PATH…`

use std::error::Error;

use clap::Args;

use super::Exit;
use super::finding_args::FindingArgs;
use super::input_args::InputArgs;
use super::path_args::PathArgs;
use crate::engine;
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
}

impl Analyze {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let Self { paths, input, findings } = self;
        let rules = findings.load()?;
        let prices = findings.prices()?;
        let basis = Basis { rules: &rules, prices: prices.as_ref() };
        let inputs = paths.read()?;
        let output = input.open_output(&inputs.files(), None)?;
        let options = findings.options(input);
        let infos = rules.infos();
        let (named, format) = (inputs.named(), findings.pieces(input, &output, &infos));
        let (report, pieces) = input.run(|progress| match format {
            None => (engine::analyze_by(named, basis, &options, progress), None),
            Some(format) => {
                let render = |app: &ApplicationReport| format.render(app);
                let (report, pieces) = engine::analyze_in_pieces(named, basis, options, progress, &render);
                (report, Some((format, pieces)))
            }
        })?;
        input.warn(&report.problems);
        input.warn_of_suppressions(&report.suppressions, findings.reports_all_rules());
        match pieces {
            None => findings.write(&report, input, output)?,
            Some((format, pieces)) => output.write(|out| format.write(&report, pieces, out))?,
        }
        Ok(findings.exit(&report, input))
    }
}
