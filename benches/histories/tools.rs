//! The commands to measure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::input::Content;
use crate::trial::{Id, Trial, Trials};
use elephant_generate::Format;
use elephant_generate::spark::codec::Codec;

/// The installed tools.
pub(crate) struct Tools {
    /// The program itself.
    elephant: PathBuf,
    wc: bool,
    zstd: bool,
    jq: bool,
}

impl Tools {
    pub(crate) fn find(elephant: &Path) -> Self {
        Self {
            elephant: elephant.to_owned(),
            wc: is_installed("wc"),
            zstd: is_installed("zstd"),
            jq: is_installed("jq"),
        }
    }

    /// One line per missing tool.
    pub(crate) fn missing(&self) -> impl Iterator<Item = String> {
        [("wc", self.wc), ("zstd", self.zstd), ("jq", self.jq)]
            .into_iter()
            .filter(|(_, found)| !found)
            .map(|(name, _)| format!("`{name}` was not installed and is missing."))
    }

    /// Writes a JSON report of some files, with a number of threads.
    pub(crate) fn analyze(&self, paths: Vec<PathBuf>, threads: u32, trials: &mut Trials) -> Id {
        self.analyze_with(&[], paths, threads, trials)
    }

    /// The same with only the worst applications.
    pub(crate) fn analyze_worst(&self, paths: Vec<PathBuf>, threads: u32, trials: &mut Trials) -> Id {
        self.analyze_with(&["--top", "100"], paths, threads, trials)
    }

    fn analyze_with(&self, more: &[&str], paths: Vec<PathBuf>, threads: u32, trials: &mut Trials) -> Id {
        let threads = threads.to_string();
        let arguments = ["analyze", "--quiet", "--format", "json", "--jobs", &threads];
        trials.add(trial(&self.elephant, &[&arguments, more].concat(), paths))
    }

    pub(crate) fn version(&self, trials: &mut Trials) -> Id {
        trials.add(trial(&self.elephant, &["--version"], Vec::new()))
    }

    /// Counts the lines of an uncompressed file.
    pub(crate) fn count_lines(&self, plain: &Path, trials: &mut Trials) -> Option<Id> {
        self.wc.then(|| trials.add(trial(Path::new("wc"), &["-l"], vec![plain.to_owned()])))
    }

    /// Counts the lines of all files in the folders, compressed or not.
    pub(crate) fn count_all_lines(&self, folders: &[PathBuf], trials: &mut Trials) -> Option<Id> {
        let script = "find \"$@\" -type f -exec wc -l {} +";
        let arguments = ["-c", script, "find"];
        self.wc.then(|| trials.add(trial(Path::new("sh"), &arguments, folders.to_vec())))
    }

    /// Reads and writes each event as JSON; `None` if the file contains no JSON.
    pub(crate) fn rewrite_json(&self, content: Content, plain: &Path, trials: &mut Trials) -> Option<Id> {
        let skip = match content {
            Content::Spark(..) | Content::Recorded(..) => 0,
            // The first line, `Avro-Json`, is not JSON.
            Content::MapReduce(Format::AvroJson, _) => "Avro-Json\n".len() as u64,
            Content::MapReduce(..) => return None,
        };
        let trial = Trial {
            skip: Some(skip),
            once: true,
            ..trial(Path::new("jq"), &["-c", "."], vec![plain.to_owned()])
        };
        self.jq.then(|| trials.add(trial))
    }

    /// Only decompresses; `None` if the file is not compressed.
    pub(crate) fn unpack(&self, content: Content, packed: &Path, trials: &mut Trials) -> Option<Id> {
        let paths = vec![packed.to_owned()];
        match content.codec() {
            Codec::Plain => None,
            Codec::Zstd => {
                self.zstd.then(|| trials.add(trial(Path::new("zstd"), &["-d", "-c", "-q"], paths)))
            }
            Codec::Lz4 => {
                let benchmark = std::env::current_exe().ok()?;
                Some(trials.add(trial(&benchmark, &["--bench", "--unpack"], paths)))
            }
        }
    }
}

fn trial(program: &Path, arguments: &[&str], paths: Vec<PathBuf>) -> Trial {
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    Trial { program: program.to_owned(), arguments, paths, skip: None, once: false }
}

fn is_installed(name: &str) -> bool {
    let run = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}
