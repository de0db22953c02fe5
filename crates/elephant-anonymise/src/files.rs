//! Reads the histories below a path, and writes the results.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;

use super::AnonymiseError;
use super::formats::{self, Dropped};
use super::key::Key;
use super::mask::Mask;
use super::names::without_archive;
use super::report::Report;
use elephant_base::limits::Limits;
use elephant_base::units::Bytes;
use elephant_input::budget::{Budget, Metered};
use elephant_input::discover::discover;
use elephant_input::inventory::{ConfFile, Inventory, Source};
use elephant_input::kind::SourceKind;
use elephant_input::named::Named;
use elephant_input::part::Part;
use elephant_input::storage::Storages;
use elephant_parse::identify;

/// Configurations longer than this are cut. Real ones have about 200 KiB.
const MAX_CONF_LEN: u64 = 64 << 20;

/// How histories are rewritten.
#[derive(Debug, Clone)]
pub struct Options {
    /// The key; `None` for a random one.
    pub key: Option<Key>,
    /// Whether files that exist are replaced.
    pub force: bool,
    /// Limits on each history.
    pub limits: Limits,
    /// Where the input may be.
    pub storages: Storages,
}

/// Rewrites all histories below `input` to `output`: a file for a single file, else a folder.
///
/// # Errors
/// If there is nothing to rewrite, if the output exists or lies in the input, or if it cannot be written. Histories that cannot
/// be read are in the report.
pub fn anonymise(input: &Path, output: &Path, options: &Options) -> Result<Report, AnonymiseError> {
    check_place(input, output)?;
    let paths = [input.to_path_buf()];
    let named = Named { storages: Some(&options.storages), ..paths.as_slice().into() };
    let mut inventory = discover(named, &options.limits, identify);
    inventory.look_at_streams(&options.limits, identify);
    let key = options.key.clone().map_or_else(Key::random, Ok)?;
    let found = inventory.histories.len();
    inventory.histories.retain(|source| source.kind.is_none_or(formats::is_known));
    let others = found - inventory.histories.len()
        + inventory.traces.len()
        + inventory.gc_logs.len()
        + inventory.logs.len();
    if inventory.histories.is_empty() && inventory.confs.is_empty() {
        return Err(nothing(input, inventory));
    }
    let mut run = Run {
        mask: Mask::new(key),
        report: Report::new(options.key.is_none()),
        input,
        output,
        options,
        is_single: is_single(&inventory, input, output),
        written: BTreeSet::new(),
        folders: BTreeSet::new(),
    };
    run.check_output()?;
    for source in &inventory.histories {
        run.history(source)?;
    }
    for conf in &inventory.confs {
        run.conf(conf)?;
    }
    let Run { mask, mut report, .. } = run;
    report.others = inventory.skipped.iter().map(|skipped| skipped.count).sum::<u64>() + others as u64;
    report.unreadable.extend(inventory.failures.iter().map(|failure| failure.error.to_string()));
    report.finish(&mask.tally);
    Ok(report)
}

/// The result for the bytes of one file, for tests; `None` if it is no history and no configuration.
#[doc(hidden)]
#[must_use]
pub fn rewritten(key: &Key, bytes: &[u8]) -> Option<Vec<u8>> {
    let kind = identify(bytes, true)?;
    let mut mask = Mask::new(key.clone());
    let mut out = Vec::new();
    let longest = Limits::default().line_len();
    // A vector can always be written.
    let _ = match kind {
        SourceKind::JobConf => formats::configuration(&mut mask, bytes.to_vec(), &mut out),
        kind if formats::is_known(kind) => {
            formats::rewrite(&mut mask, kind, &mut { bytes }, longest, &mut out)
        }
        _ => return None,
    };
    Some(out)
}

fn nothing(input: &Path, inventory: Inventory) -> AnonymiseError {
    match inventory.failures.into_iter().next() {
        Some(failure) => failure.error.into(),
        None => AnonymiseError::NoHistory { path: input.to_path_buf() },
    }
}

/// Whether the result is one file: of a file that is one history, unless the output is a folder.
fn is_single(inventory: &Inventory, input: &Path, output: &Path) -> bool {
    let files = inventory.histories.iter().flat_map(|source| &source.parts);
    let mut files =
        files.chain(inventory.confs.iter().filter(|_| inventory.histories.is_empty()).map(|conf| &conf.part));
    let is_file = files.next().is_some_and(|part| {
        part.is_stream() || Path::new(&part.name()) == part.file() && part.file().is_file()
    });
    let named = !input.is_dir()
        && inventory.histories.iter().all(|source| source.named_by_user && !source.log.rolling);
    is_file
        && named
        && files.next().is_none()
        && !output.is_dir()
        && !output.as_os_str().to_string_lossy().ends_with('/')
}

/// The output must not be read as input, neither in this run nor in the next.
fn check_place(input: &Path, output: &Path) -> Result<(), AnonymiseError> {
    let Ok(real_input) = input.canonicalize() else { return Ok(()) };
    let existing = output.ancestors().find_map(|path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        path.canonicalize().ok().map(|real| (path.to_path_buf(), real))
    });
    let Some((_, real_output)) = existing else { return Ok(()) };
    let is_inside = if real_input.is_dir() {
        real_output.starts_with(&real_input)
    } else {
        output.canonicalize().is_ok_and(|output| output == real_input)
    };
    if is_inside {
        return Err(AnonymiseError::OutputInInput {
            output: output.to_path_buf(),
            input: input.to_path_buf(),
        });
    }
    Ok(())
}

struct Run<'a> {
    mask: Mask,
    report: Report,
    input: &'a Path,
    output: &'a Path,
    options: &'a Options,
    is_single: bool,
    /// The files written so far, and their folders.
    written: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl Run<'_> {
    fn check_output(&self) -> Result<(), AnonymiseError> {
        let is_empty_folder = || fs::read_dir(self.output).is_ok_and(|mut entries| entries.next().is_none());
        if self.output.exists() && !self.options.force && !is_empty_folder() {
            return Err(AnonymiseError::Exists { path: self.output.to_path_buf() });
        }
        Ok(())
    }

    fn history(&mut self, source: &Source) -> Result<(), AnonymiseError> {
        let stored = source.parts.iter().map(Part::stored_len).sum::<Option<u64>>().map(Bytes::new);
        let budget = Budget::new(&self.options.limits, stored);
        let mut folder = None;
        for part in &source.parts {
            let target = self.target(part);
            folder = target.parent().map(Path::to_path_buf);
            let mut reader: Box<dyn Read> = match part.open() {
                Ok(decoded) => {
                    let expected = decoded.plain_len();
                    Box::new(Metered::new(decoded, budget.clone(), expected))
                }
                Err(error) => {
                    self.report.unreadable.push(error.to_string());
                    continue;
                }
            };
            let kind = source.kind.unwrap_or(SourceKind::SparkEventLog);
            let longest = self.options.limits.line_len();
            self.write(target, |mask, out| formats::rewrite(mask, kind, &mut reader, longest, out))?;
        }
        match folder {
            Some(folder) if !self.is_single => self.markers(source, &folder),
            _ => Ok(()),
        }
    }

    fn conf(&mut self, conf: &ConfFile) -> Result<(), AnonymiseError> {
        let part = &conf.part;
        let mut bytes = Vec::new();
        let read = part.open().map(|decoded| decoded.take(MAX_CONF_LEN).read_to_end(&mut bytes));
        let broken_off = !matches!(read, Ok(Ok(_)));
        if bytes.is_empty() && broken_off {
            self.report.unreadable.push(part.name());
            return Ok(());
        }
        let mut target = self.target(part);
        let is_next_to_history = self.is_single && !self.report.files.is_empty();
        if let Some(job) = conf.job_id.as_deref().filter(|_| is_next_to_history || !self.is_single) {
            let id = self.mask.id(job);
            target.set_file_name(format!("{id}_conf.xml"));
        }
        self.write(target, |mask, out| {
            let dropped = formats::configuration(mask, bytes, out)?;
            Ok(Dropped { broken_off, ..dropped })
        })
    }

    /// Empty files that tell readers the state of a log.
    fn markers(&mut self, source: &Source, folder: &Path) -> Result<(), AnonymiseError> {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut markers = Vec::new();
        if source.log.rolling {
            let id = name.strip_prefix("eventlog_v2_").map(str::to_owned);
            match (id, source.log.in_progress) {
                (Some(id), Some(true)) => markers.push(format!("appstatus_{id}.inprogress")),
                (Some(id), Some(false)) => markers.push(format!("appstatus_{id}")),
                _ => {}
            }
        } else if let Some(version) = &source.log.spark_version {
            markers.push(format!("SPARK_VERSION_{}", self.mask.version(version)));
            if source.log.in_progress == Some(false) {
                markers.push("APPLICATION_COMPLETE".to_owned());
            }
        }
        for marker in markers {
            self.write(folder.join(marker), |_, _| Ok(Dropped::default()))?;
        }
        Ok(())
    }

    /// Where the result of a part goes.
    fn target(&mut self, part: &Part) -> PathBuf {
        if self.is_single {
            return self.output.to_path_buf();
        }
        let name = part.name();
        let input = self.input.to_string_lossy();
        // A configuration next to a named history is not below it.
        let below = name.strip_prefix(&*input).unwrap_or_default().trim_start_matches(['/', '!']);
        let below = if below.is_empty() { last_name(&name) } else { below.to_owned() };
        let (folders, file) = match below.rfind(['/', '!']) {
            Some(at) => (below.get(..at).unwrap_or_default(), below.get(at + 1..).unwrap_or_default()),
            None => ("", below.as_str()),
        };
        let mut target = self.output.to_path_buf();
        // The folder of a log is its name.
        let own = self.input.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if folders.is_empty() && self.input.is_dir() && own.starts_with("eventlog_v2_") {
            target.push(self.mask.folder(&own, ""));
        }
        let archives: Vec<&str> = folders.split(['/', '!']).map(without_archive).collect();
        let folders = self.mask.path(&archives.join("/"));
        target.extend(Path::new(&folders).components().filter(|part| matches!(part, Component::Normal(_))));
        target.push(self.mask.file_name(file));
        target
    }

    /// Writes a file next to its place and moves it there, so that no half of one is ever seen.
    fn write(
        &mut self,
        target: PathBuf,
        fill: impl FnOnce(&mut Mask, &mut dyn Write) -> io::Result<Dropped>,
    ) -> Result<(), AnonymiseError> {
        let target = if self.is_single { target } else { self.unused(&target) };
        let failed = |source| AnonymiseError::Write { path: target.clone(), source };
        let folder =
            target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
        let mut out = BufWriter::new(file.as_file_mut());
        let dropped = fill(&mut self.mask, &mut out).map_err(failed)?;
        out.flush().map_err(failed)?;
        drop(out);
        let persisted =
            if self.options.force { file.persist(&target) } else { file.persist_noclobber(&target) };
        persisted.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => AnonymiseError::Exists { path: target.clone() },
            _ => failed(error.error),
        })?;
        self.report.file(target.clone(), dropped);
        let within = |folder: &&Path| folder.starts_with(self.output) && *folder != self.output;
        self.folders.extend(target.ancestors().skip(1).take_while(within).map(Path::to_path_buf));
        self.written.insert(target);
        Ok(())
    }

    /// The path, or one with numbers, where another file of this run has the name of the file or of one of its folders.
    fn unused(&self, target: &Path) -> PathBuf {
        let Ok(below) = target.strip_prefix(self.output) else { return target.to_path_buf() };
        let mut path = self.output.to_path_buf();
        let mut parts = below.components().peekable();
        while let Some(part) = parts.next() {
            let is_last = parts.peek().is_none();
            let is_free =
                |path: &Path| !self.written.contains(path) && (!is_last || !self.folders.contains(path));
            let name = part.as_os_str().to_string_lossy().into_owned();
            let names = (2_u64..).map(|number| format!("{name}-{number}"));
            let free = std::iter::once(name.clone())
                .chain(names)
                .map(|name| path.join(name))
                .find(|path| is_free(path));
            path = free.unwrap_or_else(|| path.join(name));
        }
        path
    }
}

fn last_name(path: &str) -> String {
    path.rsplit(['/', '!']).next().unwrap_or_default().to_owned()
}
