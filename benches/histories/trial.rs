//! Commands that run in turns.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4;

use crate::costs::{Cost, Costs};

/// A command, and what it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trial {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Given as the last arguments, unless `skip` says that the only one goes to standard input.
    pub(crate) paths: Vec<PathBuf>,
    /// Gives the path on standard input, without its first bytes.
    pub(crate) skip: Option<u64>,
    /// Runs only in the first round, since it takes long.
    pub(crate) once: bool,
}

/// A trial's place in [`Trials`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Id(usize);

/// All commands of a benchmark. Equal ones run as one.
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

    /// Runs all commands in turns, so that what disturbs the machine for a while disturbs all of them.
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
    /// Runs the command to its end without its output.
    ///
    /// A child's peak starts at its parent's peak, which therefore has to stay below it: histories are written
    /// by another process, and files are read piece by piece.
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

/// Brings a file, or all files of a folder, into the page cache.
fn read(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| read(&entry?.path()));
    }
    let (mut file, mut buffer) = (File::open(path)?, vec![0; 1 << 16]);
    while file.read(&mut buffer)? > 0 {}
    Ok(())
}
