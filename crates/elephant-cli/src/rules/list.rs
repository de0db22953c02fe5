//! `elephant-rs rules list`

use std::error::Error;

use clap::Args;

use super::super::finding_args::RuleArgs;
use super::padded;
use super::show::parameters;
use elephant_model::diagnosis::FailureKind;
use elephant_report::wrap::{clean, lines};
use elephant_rule::params::layers::Origin;
use elephant_ruleset::{ActiveRule, RuleCheck, RuleSet};
use elephant_verdict::troubles::saves;

pub(super) const EXAMPLES: &str = "\
Columns: the rule's id; the engine whose applications it judges; what its remedies save, as far as reports compute it \
(run time, memory over time, or - for neither); and its origin: built-in, a preset, or the file that changes or defines it.

Examples:
  elephant-rs rules list
  elephant-rs rules list skew
      rules of all engines about skew, with the first sentence of their pages
  elephant-rs rules list shuffle.partitions
      rules whose pages name this setting
  elephant-rs rules list failures
      the kinds of failures that reports tell apart, and who can remove their cause
  elephant-rs rules list --rules our-rules/
      which rules your files change or switch off";

/// The width of the column of ids; longer ids have a line of their own.
const ID: usize = 34;
/// The widths of the other columns, with their blanks.
const ENGINE: usize = 11;
const SAVES: usize = 14;
const ORIGIN: usize = 8;
/// The word that lists the kinds of failures.
const FAILURES: &str = "failures";
/// The indentation of lines below a rule.
const BELOW: &str = "    ";

#[derive(Debug, Args)]
pub(crate) struct List {
    /// List only rules with all these words in their id, title, first paragraph or settings, and the kinds of failures
    /// whose pages have them; the word failures lists all kinds of failures
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    #[command(flatten)]
    rules: RuleArgs,
    /// Also list thresholds and other parameters that have their built-in values
    #[arg(long)]
    parameters: bool,
}

impl List {
    /// The list in lines of at most `columns`, where words allow it.
    pub(super) fn text(&self, columns: usize) -> Result<String, Box<dyn Error>> {
        let rules = self.rules.load()?;
        let words: Vec<String> = self.words.iter().map(|word| word.to_lowercase()).collect();
        let found: Vec<&ActiveRule> = rules.rules().iter().filter(|active| has(active, &words)).collect();
        let failures = failures(&words, columns);
        if found.is_empty() && !failures.is_empty() {
            return Ok(failures);
        }
        if found.is_empty() {
            return Err(format!(
                "no rule and no kind of failure has \"{}\" in its id, title, first paragraph or settings; `elephant-rs rules list` lists all rules, `elephant-rs rules \
                 list failures` all kinds of failures",
                self.words.join(" ")
            )
            .into());
        }
        let heading = row("rule", ["engine", "saves", "origin"], columns);
        let entries = found.into_iter().map(|active| self.entry(active, &rules, columns));
        let separator = if failures.is_empty() { "" } else { "\n" };
        Ok(std::iter::once(heading).chain(entries).collect::<String>() + separator + &failures)
    }

    /// The lines of a rule: the columns, what it finds if words were given, what files change, and parameters.
    fn entry(&self, active: &ActiveRule, rules: &RuleSet, columns: usize) -> String {
        let saves = saves(&active.info.id, active.facts);
        let saves = if saves.is_empty() { "-".to_owned() } else { saves.join(", ") };
        let mut text = row(&active.info.id, [active.engine(), &saves, origin(active, rules)], columns);
        let mut below = Vec::new();
        if !self.words.is_empty() {
            below.push(format!(
                "{}: {}",
                clean(&active.info.title),
                clean(first_sentence(&active.info.page))
            ));
        }
        below.extend(notes(active, rules));
        for note in below {
            let wrapped = lines(&note, columns.saturating_sub(BELOW.len()));
            text.extend(wrapped.into_iter().map(|line| format!("{BELOW}{line}\n")));
        }
        let listed = active.params.iter();
        let listed = listed.filter(|parameter| self.parameters || parameter.origin != Origin::BuiltIn);
        text + &parameters(listed, columns)
    }
}

/// The kinds of failures that the words are about: all of them for `failures`, and none without a word.
fn failures(words: &[String], columns: usize) -> String {
    let all = matches!(words, [only] if only == FAILURES);
    let is_meant = |kind: &&FailureKind| {
        let text = format!("{} {} {}", kind.name(), kind.cause(), kind.page()).to_lowercase();
        all || words.iter().all(|word| text.contains(word))
    };
    let found: Vec<FailureKind> =
        FailureKind::ALL.iter().filter(is_meant).copied().filter(|_| !words.is_empty()).collect();
    if found.is_empty() {
        return String::new();
    }
    let mut text = format!("{}who acts\n", padded("kind of failure", ID));
    for kind in found {
        text += &[&padded(kind.name(), ID), kind.actor().words(), "\n"].concat();
        let wrapped = lines(kind.cause(), columns.saturating_sub(BELOW.len()));
        text.extend(wrapped.into_iter().map(|line| format!("{BELOW}{line}\n")));
    }
    let hint = "elephant-rs rules show KIND: how it shows in logs, and what to change";
    text + "\n" + &lines(hint, columns).join("\n") + "\n"
}

/// The id with the other columns next to it, or below it where there is no room.
fn row(id: &str, [engine, saves, origin]: [&str; 3], columns: usize) -> String {
    if columns < ID + ENGINE + SAVES + ORIGIN {
        return format!("{id}\n{BELOW}{}{}{origin}\n", padded(engine, ENGINE), padded(saves, SAVES));
    }
    let first = if id.len() < ID { padded(id, ID) } else { format!("{id}\n{}", " ".repeat(ID)) };
    format!("{first}{}{}{origin}\n", padded(engine, ENGINE), padded(saves, SAVES))
}

/// Whether what is said about the rule contains all words.
fn has(active: &ActiveRule, words: &[String]) -> bool {
    let page = &active.info.page;
    let keys: Vec<&str> = active.params.iter().map(|parameter| parameter.key.as_ref()).collect();
    // Text marked as code on a page names settings, counters and other rules.
    let code = page.split('`').skip(1).step_by(2).filter(|code| code.contains(['.', '_']));
    let code: Vec<&str> = code.collect();
    let all =
        [&*active.info.id, &*active.info.title, first_paragraph(page), &keys.join(" "), &code.join(" ")];
    let all = all.join("\n").to_lowercase();
    words.iter().all(|word| all.contains(word))
}

/// The first paragraph of a page that is not a heading.
fn first_paragraph(page: &str) -> &str {
    let mut paragraphs = page.split("\n\n").map(str::trim);
    paragraphs.find(|text| !text.is_empty() && !text.starts_with('#')).unwrap_or_default()
}

fn first_sentence(page: &str) -> &str {
    let paragraph = first_paragraph(page);
    let ends = paragraph.match_indices('.').map(|(place, _)| place + 1);
    let mut ends = ends.filter(|end| {
        paragraph.get(*end..).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    });
    ends.next().and_then(|end| paragraph.get(..end)).unwrap_or(paragraph)
}

/// Where the rule comes from, or what changed it last.
fn origin(active: &ActiveRule, rules: &RuleSet) -> &'static str {
    let is_preset = |name: &str| name.starts_with("preset ");
    let last = rules.documents_about(active).last().map(|document| is_preset(&document.layer.file.name));
    match (&active.check, last) {
        (RuleCheck::Defined(_), _) | (_, Some(false)) => "file",
        (_, Some(true)) => "preset",
        (_, None) => "built-in",
    }
}

fn notes(active: &ActiveRule, rules: &RuleSet) -> Vec<String> {
    let mut notes = Vec::new();
    if !active.enabled.value {
        notes.push(format!("off: {}", active.enabled.origin));
    }
    if let Some(cap) = &active.max_severity {
        notes.push(format!("at most {}: {}", cap.value, cap.origin));
    }
    let scoped = rules.documents_about(active).filter(|document| !document.scope.is_everything()).count();
    match scoped {
        0 => {}
        1 => notes.push("1 document for some applications".to_owned()),
        count => notes.push(format!("{count} documents for some applications")),
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_is_below_the_headings() {
        let page = "# A\n\n## What it does\n\nFinds 1.5 GB\nof `a.b`. More.\n\nOther.\n";
        assert_eq!(first_sentence(page), "Finds 1.5 GB\nof `a.b`.");
        assert_eq!(first_sentence("# A\n\nno end"), "no end");
        assert_eq!(first_sentence("# A\n"), "");
    }

    #[test]
    fn long_ids_have_a_line_of_their_own() {
        let id = "a".repeat(50);
        let columns = ["spark", "time", "file"];
        assert_eq!(row(&id, columns, 80), format!("{id}\n{}spark      time          file\n", " ".repeat(ID)));
        assert_eq!(row("a", columns, 60), "a\n    spark      time          file\n");
    }
}
