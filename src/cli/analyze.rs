//! `elephant-rs analyze PATH…`

use std::error::Error;

use clap::Args;

use super::Exit;
use super::judging::Judging;
use super::reading::Reading;
use crate::engine;

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs analyze /spark-events /mr-history/done
      everything below copies of both history servers' folders, worst first
  elephant-rs analyze --format json --output report.json history/
      the same for scripts
  elephant-rs analyze --fail-on severe nightly.jhist
      exit status 1 when an application is severely or critically wrong
  elephant-rs analyze --rules dr-elephant history/
      judge as Dr. Elephant did
  elephant-rs analyze --format markdown --top 20 history/ > comment.md
      a comment for a pull request; sarif and junit are for what CI servers show
  hdfs dfs -cat '/mr-history/done/*_0042*.jhist' | elephant-rs analyze -
      one history from standard input

Exit status: 0 clean or below --fail-on, 1 findings at or above --fail-on, 2 the run failed.";

#[derive(Debug, Args)]
pub(super) struct Analyze {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    judging: Judging,
}

impl Analyze {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let Self { reading, judging } = self;
        let rules = judging.rules.load()?;
        let output = reading.open_output(None)?;
        let options = judging.options(reading);
        let report =
            reading.run(|progress| engine::analyze_with(&reading.paths, &rules, options, progress))?;
        reading.warn(&report.problems);
        reading.warn_of_suppressions(&report.suppressions);
        judging.write(&report, reading, output)?;
        Ok(judging.exit(&report, reading))
    }
}
