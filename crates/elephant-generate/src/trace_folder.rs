//! The tables of a cluster trace as files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::traces::{Table, Tables, Trace};

/// The tables as they are distributed: a folder for each table of Google, with parts, or a file for each of Alibaba.
pub struct Folder {
    trace: Trace,
    path: PathBuf,
    gzip: bool,
    /// Lines in each part of the tasks.
    part: u64,
    tasks: u64,
    open: Vec<(String, Box<dyn Write>)>,
}

impl Folder {
    /// A new folder.
    #[must_use]
    pub fn new(trace: Trace, path: &Path, gzip: bool, part: u64) -> Self {
        Self { trace, path: path.to_owned(), gzip, part, tasks: 0, open: Vec::new() }
    }

    fn name(&self, table: Table) -> String {
        let gzip = if self.gzip { ".gz" } else { "" };
        let name = match (self.trace, table) {
            (Trace::Google2011, Table::Jobs) => "job_events/part-00000.csv".to_owned(),
            (Trace::Google2011, Table::Machines) => "machine_events/part-00000.csv".to_owned(),
            (Trace::Google2011, Table::Tasks) => {
                format!("task_events/part-{:05}.csv", self.tasks / self.part)
            }
            (Trace::Alibaba2017, Table::Machines) => "server_event.csv".to_owned(),
            (Trace::Alibaba2018, Table::Machines) => "machine_meta.csv".to_owned(),
            (_, Table::Jobs) => "batch_task.csv".to_owned(),
            (_, Table::Tasks) => "batch_instance.csv".to_owned(),
        };
        format!("{name}{gzip}")
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Write>> {
        let path = self.path.join(name);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let file = io::BufWriter::with_capacity(1 << 18, std::fs::File::create(path)?);
        Ok(if self.gzip {
            Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()))
        } else {
            Box::new(file)
        })
    }
}

impl Tables for Folder {
    fn line(&mut self, table: Table, line: &str) -> io::Result<()> {
        let name = self.name(table);
        self.tasks += u64::from(table == Table::Tasks);
        if !self.open.iter().any(|(open, _)| *open == name) {
            // The parts before it are complete.
            self.open.clear();
            self.open.push((name.clone(), self.create(&name)?));
        }
        let open = self.open.iter_mut().find(|(open, _)| *open == name);
        open.map_or(Ok(()), |(_, out)| writeln!(out, "{line}"))
    }
}
