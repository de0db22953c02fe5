//! Runs commands in alternation.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4;

use crate::costs::{Cost, Costs};

/// A command and its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trial {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Passed as the last arguments. If `skip` is set, the only path is passed on standard input instead.
    pub(crate) paths: Vec<PathBuf>,
    /// Passes the file on standard input, without this many leading bytes.
    pub(crate) skip: Option<u64>,
    /// Runs only in the first round, because it takes long.
    pub(crate) once: bool,
}

/// Index of a trial in [`Trials`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Id(usize);

/// All commands of a benchmark. Equal ones run only once.
#[derive(Default)]
pub(crate) struct Trials(Vec<(Trial, Costs)>);

impl Trials {
    pub(crate) fn add(&mut self, trial: Trial) -> Id {
        let known = self.0.iter().position(|(other, _)| *other == trial);
        Id(known.unwrap_or_else(|| {
            self.0.push((trial, Costs::default()));
            self.0.len() - 1
        }))
    }

    /// Alternates between the commands, so that temporary load affects all of them.
    pub(crate) fn run(&mut self, rounds: usize) -> io::Result<()> {
        for round in 1..=rounds {
            eprintln!("round {round} of {rounds}");
            for (trial, costs) in &mut self.0 {
                if round == 1 || !trial.once {
                    trial.paths.iter().try_for_each(|path| read(path))?;
                    costs.push(trial.run()?);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn costs(&self, id: Id) -> Option<&Costs> {
        self.0.get(id.0).map(|(_, costs)| costs)
    }
}

impl Trial {
    /// Runs the command to its end and discards its output.
    ///
    /// A child's peak memory starts at its parent's, which must therefore stay small: another process writes
    /// the logs, and files are read in pieces.
    pub(crate) fn run(&self) -> io::Result<Cost> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdout(Stdio::null()).stderr(Stdio::null());
        match (self.skip, self.paths.first()) {
            (Some(bytes), Some(path)) => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(bytes))?;
                command.stdin(file)
            }
            _ => command.args(&self.paths).stdin(Stdio::null()),
        };
        let started = Instant::now();
        let result = command.spawn()?.wait4()?;
        let wall = started.elapsed();
        if !result.status.success() {
            return Err(io::Error::other(format!("{command:?}: {}", result.status)));
        }
        let usage = result.rusage;
        Ok(Cost { cpu: usage.utime + usage.stime, wall, peak_bytes: usage.maxrss })
    }
}

/// Loads a file, or all files of a folder, into the page cache.
fn read(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| read(&entry?.path()));
    }
    let (mut file, mut buffer) = (File::open(path)?, vec![0; 1 << 16]);
    while file.read(&mut buffer)? > 0 {}
    Ok(())
}
