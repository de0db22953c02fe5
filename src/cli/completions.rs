//! `elephant-rs completions SHELL`

use std::error::Error;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::output::Output;
use super::{Cli, Exit};

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs completions bash > /etc/bash_completion.d/elephant-rs
  elephant-rs completions zsh > ~/.zfunc/_elephant-rs
      with ~/.zfunc in $fpath
  elephant-rs completions fish > ~/.config/fish/completions/elephant-rs.fish";

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell to write the script for
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let mut command = Cli::command();
        let name = command.get_name().to_owned();
        // The generator panics on write errors, so write to memory first.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        Output::open(None)?.write(|out| out.write_all(&script))?;
        Ok(Exit::Clean)
    }
}
