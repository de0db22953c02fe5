//! `elephant-rs completions SHELL`

use std::error::Error;
use std::fmt::Write as _;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Args, Command, CommandFactory};
use clap_complete::Shell;

use super::output::Output;
use super::{Cli, Exit};
use elephant_engine::conditions;
use elephant_engine::results::Metric;
use elephant_lab::cluster::detectors;
use elephant_model::diagnosis::FailureKind;
use elephant_ruleset::custom::reference::{Line, sections};
use elephant_ruleset::{PRESETS, settings};

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
        let mut command = with_values(Cli::command());
        let name = command.get_name().to_owned();
        // The generator panics on write errors, so write to memory first.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        let mut script = repaired(&String::from_utf8(script)?, self.shell);
        if self.shell == Shell::Fish {
            for command in command.get_subcommands() {
                let condition = format!("__fish_elephant_rs_using_subcommand {}", command.get_name());
                add_positional_values(command, &condition, &mut script);
            }
        }
        Output::open(None)?.write(|out| out.write_all(script.as_bytes()))?;
        Ok(Exit::Clean)
    }
}

/// The command with possible values for completion. The parser accepts others, because rule files may define more.
fn with_values(command: Command) -> Command {
    let is_show = command.get_name() == "show";
    let is_reference = command.get_name() == "reference";
    let command = command.mut_args(|arg| match arg.get_long() {
        Some("rule") => among(arg, rules()),
        Some("detector") => among(arg, detectors::names().into_iter().map(PossibleValue::new)),
        Some("tolerance") => among(arg, metrics().into_iter().map(begun)),
        Some("where") => {
            among(arg, conditions::FIELDS.map(|field| format!("{field}=")).into_iter().map(begun))
        }
        Some("rules") => among(arg, PRESETS.iter().map(|(name, _)| PossibleValue::new(*name))),
        None if is_show && arg.is_positional() => {
            let settings = settings::ALL.iter().map(|known| PossibleValue::new(known.id));
            let failures =
                FailureKind::ALL.iter().map(|kind| PossibleValue::new(kind.name()).help(kind.cause()));
            among(arg, rules().chain(settings).chain(failures))
        }
        None if is_reference && arg.is_positional() => among(arg, words().map(PossibleValue::new)),
        _ => arg,
    });
    command.mut_subcommands(with_values)
}

/// The words that `rules reference` explains.
fn words() -> impl Iterator<Item = &'static str> {
    sections().into_iter().flat_map(|section| {
        // The names of types and operators are not words to look up.
        let has_words = !["types", "operators"].contains(&section.name);
        let lines = section.lines.into_iter().filter(move |_| has_words);
        // The builder takes static texts, and the process ends after one script.
        let word = |line: Line| &*line.written.leak();
        let word = move |line| word(line).split(['(', ',']).next().unwrap_or_default();
        std::iter::once(section.name).chain(lines.map(word))
    })
}

/// The beginnings of values of `--tolerance`.
fn metrics() -> Vec<String> {
    Metric::ALL.iter().map(|metric| format!("{}=", metric.key())).collect()
}

/// The beginning of a value. The builder takes static texts, and the process ends after one script.
fn begun(text: String) -> PossibleValue {
    PossibleValue::new(&*text.leak())
}

fn rules() -> impl Iterator<Item = PossibleValue> {
    elephant_heuristics::BUILT_IN.rules().map(|rule| PossibleValue::new(rule.id).help(rule.title))
}

fn among(arg: Arg, values: impl Iterator<Item = PossibleValue>) -> Arg {
    arg.value_parser(PossibleValuesParser::new(values))
}

/// Adds the values of positional arguments, which the generator for fish leaves out.
fn add_positional_values(command: &Command, condition: &str, script: &mut String) {
    for values in command.get_positionals().map(Arg::get_possible_values).filter(|values| !values.is_empty())
    {
        let value = |value: &PossibleValue| {
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            format!("{}\\t'{}'", value.get_name(), help.replace(['\'', '"', '$', '\\'], ""))
        };
        let values: Vec<String> = values.iter().map(value).collect();
        // Writing to a string cannot fail.
        let _ =
            writeln!(script, "complete -c elephant-rs -n \"{condition}\" -f -a \"{}\"", values.join("\n"));
    }
    for command in command.get_subcommands() {
        let condition = format!("{condition}; and __fish_seen_subcommand_from {}", command.get_name());
        add_positional_values(command, &condition, script);
    }
}

/// A line of a script for bash, which adds no blank if all completions end in `=`.
fn continued(line: &str) -> String {
    let words = line.split_once("compgen -W \"").and_then(|(_, rest)| rest.split_once('"'));
    match words {
        Some((words, _)) if words.split(' ').all(|word| word.ends_with('=')) => {
            line.replacen("COMPREPLY=", "compopt -o nospace 2>/dev/null; COMPREPLY=", 1)
        }
        _ => line.to_owned(),
    }
}

/// How a script for bash sets the word before the one to complete.
const PREVIOUS_WORD: &str = "\n    prev=\"$3\"\n";
const BEFORE_EQUALS: &str = "    [[ \"${prev}\" == \"=\" ]] && prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n";

/// The script with paths next to the presets of `--rules`, and without an error of the generator.
fn repaired(script: &str, shell: Shell) -> String {
    let presets: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
    let (first, presets) = (presets.first().copied().unwrap_or_default(), presets.join(" "));
    match shell {
        Shell::Bash => {
            let only_presets = format!("compgen -W \"{presets}\" -- \"${{cur}}\"");
            // In a name with a hyphen, clap_complete 4.6 separates the words in two ways, so no label would match.
            let script = script.replace("elephant__subcmd__rs", "elephant__rs");
            // bash makes three words of `--format=json`.
            let script = script.replacen(PREVIOUS_WORD, &format!("{PREVIOUS_WORD}{BEFORE_EQUALS}"), 1);
            let script =
                script.replace(&only_presets, &format!("{only_presets}; compgen -f -- \"${{cur}}\""));
            // No blank after the beginning of a value.
            script.split_inclusive('\n').map(continued).collect()
        }
        Shell::Zsh => {
            let with_files = format!(
                "\n_elephant-rs_rule_files() {{\n    _alternative 'presets:preset:({presets})' 'files:file:_files'\n}}\n"
            );
            let script = script.replace(&format!(":PATH:({presets})"), ":PATH:_elephant-rs_rule_files");
            script.replacen(
                "\nautoload -U is-at-least\n",
                &format!("\nautoload -U is-at-least\n{with_files}"),
                1,
            )
        }
        Shell::Fish => script.replace(&format!("-r -f -a \"{first}\\t"), &format!("-r -F -a \"{first}\\t")),
        _ => script.to_owned(),
    }
}
