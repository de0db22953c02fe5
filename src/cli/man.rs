//! `elephant-rs man`

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};

use super::output::Output;
use super::{Cli, Exit};

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs man | man -l -
  elephant-rs man --output-dir /usr/local/share/man/man1
      elephant-rs.1, elephant-rs-analyze.1 and a page for each other command";

#[derive(Debug, Args)]
pub(super) struct Man {
    /// Write a page for each command into a folder, instead of one with all of them to standard output
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let mut root = Cli::command();
        root.build();
        match &self.output_dir {
            Some(folder) => write_pages(&root, "elephant-rs", folder)?,
            None => {
                let page = one_page(&root)?;
                Output::open(None)?.write(|out| out.write_all(page.as_bytes()))?;
            }
        }
        Ok(Exit::Clean)
    }
}

/// Commands that a user may type; clap adds a help to each.
fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set())
}

fn write_pages(command: &Command, name: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).render(&mut page)?;
    Output::open(Some(&folder.join(format!("{name}.1"))))?.write(|out| out.write_all(&page))?;
    subcommands(command)
        .try_for_each(|sub| write_pages(sub, &format!("{name}-{}", sub.get_name()), folder))
}

/// The page of the whole tool, with a section for each command.
fn one_page(root: &Command) -> io::Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(root.clone()).render(&mut page)?;
    let mut page = text(page)?;
    for command in subcommands(root) {
        add_section(command, command.get_name(), &mut page)?;
    }
    Ok(page)
}

fn add_section(command: &Command, name: &str, page: &mut String) -> io::Result<()> {
    let man = clap_mangen::Man::new(command.clone());
    let mut section = Vec::new();
    man.render_synopsis_section(&mut section)?;
    man.render_description_section(&mut section)?;
    man.render_options_section(&mut section)?;
    man.render_extra_section(&mut section)?;
    // What is a section on a page of its own is a part of one here.
    page.push_str(&format!(".SH \"ELEPHANT-RS {}\"\n", name.to_uppercase()));
    page.push_str(&text(section)?.replace(".SH ", ".SS "));
    subcommands(command).try_for_each(|sub| add_section(sub, &format!("{name} {}", sub.get_name()), page))
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(io::Error::other)
}
