//! Options of the commands that read histories.

use std::path::{Path, PathBuf};

use clap::Args;
use rayon::{ThreadPool, ThreadPoolBuildError};

use super::counts::threads;
use super::filter_args::FilterArgs;
use super::limits::LimitArgs;
use super::output::{Output, OutputError, is_standard_output};
#[cfg(feature = "store")]
use super::store::alerts;
use super::{Color, output, progress, warnings};
#[cfg(feature = "store")]
use elephant_alert::Delivered;
use elephant_engine::engine::Progress;
use elephant_engine::results::{SourceProblem, Summary, SuppressionUse};
use elephant_parse::Level as ProblemLevel;

/// Options of commands that read histories.
#[derive(Debug, Args)]
pub(super) struct InputArgs {
    /// Write the report to a file; an interrupted run writes nothing
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Use N threads (1 to 1024) [default: one per processor]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = threads)]
    jobs: Option<u16>,
    /// Exit with status 2 if any input could not be read completely
    #[arg(long)]
    strict: bool,
    /// Do not fail if no application was read, for example from an empty folder
    #[arg(long)]
    pub(super) allow_empty: bool,
    /// Print no warnings and no progress on standard error, only errors that set the exit status
    #[arg(long, short)]
    quiet: bool,
    /// When to use colour; auto also honours `NO_COLOR`
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(super) color: Color,
    /// Do not show the progress bar, which long runs show on a terminal
    #[arg(long)]
    no_progress: bool,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    #[command(flatten)]
    pub(super) filters: FilterArgs,
}

impl InputArgs {
    /// What partial results must have in common, in addition to the options of each command.
    pub(super) fn options_of_part(&self) -> Vec<(&'static str, String)> {
        vec![
            ("filters", format!("{:?}", self.filters.filter())),
            ("limits", format!("{:?}", self.limits.limits())),
        ]
    }

    /// Runs `work` on the chosen number of threads, with a progress bar if standard error can show one.
    pub(super) fn run<T: Send>(
        &self,
        work: impl FnOnce(&Progress) -> T + Send,
    ) -> Result<T, ThreadPoolBuildError> {
        #[cfg(feature = "remote")]
        super::interrupt::remove_copies_on_interrupt();
        let threads = self.threads()?;
        let counts = Progress::default();
        let work = || threads.install(|| work(&counts));
        let wanted = !self.quiet && !self.no_progress && progress::is_wanted();
        Ok(if wanted { progress::show_while(&counts, work) } else { work() })
    }

    /// The thread pool for the work.
    fn threads(&self) -> Result<ThreadPool, ThreadPoolBuildError> {
        rayon::ThreadPoolBuilder::new().num_threads(self.jobs.map_or(0, usize::from)).build()
    }

    /// Opens the output. It must not replace an input, or one of the files `also`, which need not exist.
    pub(super) fn open_output(&self, inputs: &[&Path], also: &[PathBuf]) -> Result<Output, OutputError> {
        let path = self.output.as_deref();
        let inputs = if path.is_some_and(Path::is_file) { inputs } else { &[] };
        Output::open_apart(path, inputs.iter().copied().chain(also.iter().map(PathBuf::as_path)))
    }

    /// Prints the verdict if the report goes to a file, unless `--quiet` is given.
    pub(super) fn conclude(&self, verdict: &str) {
        if let Some(path) = self.output.as_deref().filter(|path| !self.quiet && !is_standard_output(path)) {
            output::print_note(&format!("{verdict}; the report is in {}", path.display()));
        }
    }

    /// Prints something about the run, unless `--quiet` is given.
    #[cfg(feature = "store")]
    pub(super) fn note(&self, message: &str) {
        if !self.quiet {
            output::print_note(message);
        }
    }

    /// Prints how many alerts were sent, and what went wrong, unless `--quiet` is given.
    #[cfg(feature = "store")]
    pub(super) fn tell_of_alerts(&self, delivered: &Delivered) {
        if !self.quiet {
            alerts::warn(delivered);
            if let Some(line) = alerts::summary(delivered) {
                output::print_note(&line);
            }
        }
    }

    /// Prints errors, and warnings, of which many of a kind are counted unless `--details` is given; `None` for a command
    /// without that option. With `--quiet`, only [`Self::failed`] prints those that set the exit status.
    pub(super) fn warn(&self, problems: &[SourceProblem], details: Option<bool>) {
        if !self.quiet {
            warnings::print(problems, details);
        }
    }

    /// Warns of suppressions that expired, and if the run is `whole`, of those that matched nothing, unless `--quiet` is
    /// given.
    pub(super) fn warn_of_suppressions(&self, uses: &[SuppressionUse], whole: bool) {
        if self.quiet {
            return;
        }
        let whole = whole && self.filters.filter().is_everything();
        for SuppressionUse { origin, rules, until, expired, findings, .. } in uses {
            if *expired {
                let until = until.map(|day| day.to_string()).unwrap_or_default();
                let message = format!(
                    "{origin}: the suppression of {rules} expired on {until}; its findings are reported again"
                );
                output::print_message("warning", &message);
            } else if *findings == 0 && whole {
                let message = format!("{origin}: the suppression of {rules} matched nothing in this run");
                output::print_message("warning", &message);
            }
        }
    }

    /// Why the run failed: some input could not be read, or no application was read at all. The latter is explained on
    /// standard error, because a report without applications looks like good news.
    pub(super) fn failure(
        &self,
        problems: &[SourceProblem],
        named_input_failed: bool,
        summary: &Summary,
    ) -> Option<&'static str> {
        let is_empty = summary.applications == 0 && !self.allow_empty;
        if is_empty {
            if self.quiet {
                // Why nothing was read is more than a warning, so print it despite `--quiet`.
                warnings::print(problems, None);
            }
            Self::explain_empty(summary);
        }
        let failed = if is_empty {
            self.has_failed(problems, named_input_failed)
        } else {
            self.failed(problems, named_input_failed)
        };
        if failed {
            Some("some input could not be read")
        } else if is_empty && summary.left_out > 0 {
            Some("no application matches the filters")
        } else if is_empty {
            Some("no application was read")
        } else {
            None
        }
    }

    /// Whether some input could not be read. If so, the reasons are printed despite `--quiet`, because an exit status
    /// without a reason does not help.
    pub(super) fn failed(&self, problems: &[SourceProblem], named_input_failed: bool) -> bool {
        let failed = self.has_failed(problems, named_input_failed);
        if failed && self.quiet {
            warnings::print_all(
                problems,
                if self.strict { ProblemLevel::Warning } else { ProblemLevel::Error },
            );
        }
        failed
    }

    fn has_failed(&self, problems: &[SourceProblem], named_input_failed: bool) -> bool {
        let damaged = problems.iter().any(|entry| entry.problem.level >= ProblemLevel::Warning);
        named_input_failed || (self.strict && damaged)
    }

    fn explain_empty(summary: &Summary) {
        let Summary { files_found, files_skipped, files_failed, left_out, .. } = summary;
        let what = if *left_out > 0 {
            none_matches(*left_out)
        } else if *files_found <= *files_failed && *files_failed > 0 {
            "no application was read: no path can be read".to_owned()
        } else if *files_found == 0 {
            "no application was read: the input has no files".to_owned()
        } else {
            format!(
                "no application was read: files found: {files_found}, neither event log nor job history: \
                 {files_skipped}, not readable: {files_failed}"
            )
        };
        output::print_message("error", &format!("{what}; --allow-empty accepts that"));
    }
}

/// The message if filters leave out all applications.
pub(super) fn none_matches(left_out: u64) -> String {
    match left_out {
        1 => "the only application does not match the filters".to_owned(),
        _ => format!("the filters match none of the {left_out} applications"),
    }
}
