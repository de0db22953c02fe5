//! Reads cluster traces: published tables of the tasks of whole clusters, without the logs of an engine.
//!
//! A job of a trace is an application, and its tasks are executions with a start, an end, a node and an outcome. Nothing
//! else is known of them: no input, no counters, no messages. The events of many jobs alternate in a file, so each format
//! (`google`, `alibaba`) keeps the tasks of the jobs that are open, 16 bytes each (`attempts`), and hands on a job
//! when it is complete.
//!
//! A line that cannot be read is skipped, and there is one warning for each file and kind of damage.

mod alibaba;
mod alibaba_2017;
mod alibaba_2018;
mod attempts;
mod google;
mod job;
mod lines;
mod open;

use std::sync::Arc;

pub use attempts::Attempt;
use elephant_base::limits::Limits;
use elephant_input::error::InputError;
use elephant_input::inventory::Source;
use elephant_input::kind::SourceKind;
pub(crate) use elephant_input::trace_table::TraceFormat;
use elephant_input::trace_table::TraceTable;
use elephant_model::model::Interner;
use elephant_parse::{Position, Problems};
pub use job::{Group, Job};

/// Receives the jobs of a trace.
pub trait Receiver {
    /// Takes a job that is complete, with the names of the machines that its tasks refer to.
    fn receive(&mut self, job: Job, machines: &Interner);

    /// All jobs of a trace were received.
    fn end(&mut self, machines: &Interner);
}

/// The result for one file.
#[derive(Debug)]
pub struct FileOutcome {
    /// The file's index in the list of sources.
    pub place: usize,
    /// The problems of the file.
    pub problems: Problems,
    /// Why it could not be opened.
    pub error: Option<InputError>,
}

/// Reads the tables of the traces and hands on their jobs, one trace after the other. The order of the jobs
/// depends on the files only. Calls `read` after each file with its index.
pub fn read(
    sources: &[Source],
    limits: &Limits,
    receiver: &mut dyn Receiver,
    mut read: impl FnMut(usize),
) -> Vec<FileOutcome> {
    let mut outcomes = Vec::new();
    for format in TraceFormat::ALL {
        let mut files = files_of(sources, format);
        files.sort_by_key(|&(table, place, _)| (table, place));
        let Some(mut reader) = (!files.is_empty()).then(|| reader(format)) else { continue };
        let lacks_tasks = files.iter().all(|&(table, ..)| table != format.tasks());
        for (table, place, source) in files {
            let mut problems = Problems::default();
            let file = File { source, table, name: source.path.to_string().into(), limits };
            let error = lines::read_table(reader.as_mut(), &file, &mut problems, receiver).err();
            if lacks_tasks && error.is_none() {
                problems.warn("trace-without-tasks", None, || {
                    format!(
                        "{} contains no tasks; name the table {} of the trace, too",
                        table.name(),
                        format.tasks().name()
                    )
                });
            }
            read(place);
            outcomes.push(FileOutcome { place, problems, error });
        }
        let repeated = reader.finish(receiver);
        if let Some(last) = outcomes.last_mut() {
            lines::tell_repeated(&mut last.problems, repeated);
        }
    }
    outcomes
}

/// The files of a trace, each with its table and its place in the list.
fn files_of(sources: &[Source], format: TraceFormat) -> Vec<(TraceTable, usize, &Source)> {
    let table = |(place, source): (usize, &'_ Source)| match source.kind {
        Some(SourceKind::Trace(table)) if table.format() == format => Some((table, place)),
        _ => None,
    };
    let of_format = sources.iter().enumerate().filter_map(|entry| Some((table(entry)?, entry.1)));
    of_format.map(|((table, place), source)| (table, place, source)).collect()
}

fn reader(format: TraceFormat) -> Box<dyn TraceReader> {
    match format {
        TraceFormat::Google2011 => Box::<google::Google>::default(),
        TraceFormat::Alibaba2017 => Box::new(alibaba::Alibaba::new(&alibaba_2017::SCHEMA)),
        TraceFormat::Alibaba2018 => Box::new(alibaba::Alibaba::new(&alibaba_2018::SCHEMA)),
    }
}

/// A file of a trace.
struct File<'a> {
    source: &'a Source,
    table: TraceTable,
    name: Arc<str>,
    limits: &'a Limits,
}

/// Reads the files of one trace.
trait TraceReader {
    /// Takes a row of a table that has jobs, and hands on the jobs that are complete.
    ///
    /// # Errors
    /// If the row cannot be used.
    fn row(
        &mut self,
        columns: &lines::Columns<'_>,
        file: &File<'_>,
        at: (Position, &mut Problems),
        receiver: &mut dyn Receiver,
    ) -> Result<(), lines::Refusal>;

    /// The number of repeated attempts since the last call.
    fn repeated(&mut self) -> u64;

    /// Hands on the jobs that are open at the end of the trace. Returns the number of repeated attempts in
    /// them.
    fn finish(self: Box<Self>, receiver: &mut dyn Receiver) -> u64;
}
