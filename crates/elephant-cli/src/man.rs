//! `elephant-rs man`

use std::error::Error;

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::{Args, Command, CommandFactory};
use thiserror::Error;

use super::output::Output;
use super::{Cli, Exit};

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs man | man -l -
  elephant-rs man --output-dir /usr/local/share/man/man1
      elephant-rs.1, elephant-rs-analyze.1 and a page for each other command";

#[derive(Debug, Args)]
pub(super) struct Man {
    /// Write one page per command to this folder, instead of a single page to standard output
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
}

/// The folder cannot be created.
#[derive(Debug, Error)]
#[error("cannot create the folder {folder} for the manual: {source}; choose another --output-dir", folder = folder.display())]
struct NoFolder {
    folder: PathBuf,
    source: io::Error,
}

impl Man {
    pub(super) fn run(&self) -> Result<Exit, Box<dyn Error>> {
        let mut root = Cli::command().disable_help_subcommand(true);
        root.build();
        if let Some(folder) = &self.output_dir {
            fs::create_dir_all(folder).map_err(|source| NoFolder { folder: folder.clone(), source })?;
            write_pages(&root, "elephant-rs", folder)?;
        } else {
            let page = one_page(&root)?;
            Output::open(None)?.write(|out| out.write_all(page.as_bytes()))?;
        }
        Ok(Exit::Clean)
    }
}

/// Subcommands that are not hidden.
fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

fn write_pages(command: &Command, name: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).render(&mut page)?;
    let page = with_examples_heading(page)?;
    Output::open(Some(&folder.join(format!("{name}.1"))))?.write(|out| out.write_all(page.as_bytes()))?;
    subcommands(command).try_for_each(|sub| write_pages(sub, &format!("{name}-{}", sub.get_name()), folder))
}

/// The page of the whole tool, with a section for each command.
fn one_page(root: &Command) -> io::Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(root.clone()).render(&mut page)?;
    let mut page = with_examples_heading(page)?;
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
    if command.get_after_help().is_some() {
        man.render_extra_section(&mut section)?;
    }
    // Sections of the command's own page become subsections here.
    let heading = format!(".SH \"ELEPHANT-RS {}\"\n", name.to_uppercase());
    page.push_str(&heading);
    page.push_str(&with_examples_heading(section)?.replace(".SH ", ".SS "));
    subcommands(command).try_for_each(|sub| add_section(sub, &format!("{name} {}", sub.get_name()), page))
}

/// The page, with the usual heading for the section that contains the examples.
fn with_examples_heading(page: Vec<u8>) -> io::Result<String> {
    let page = String::from_utf8(page).map_err(io::Error::other)?;
    Ok(page.replace(".SH EXTRA\n", ".SH EXAMPLES\n"))
}
