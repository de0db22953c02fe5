//! The built-in rule files as an editable folder.

use elephant_catalogue::{Catalogue, Rule};

use super::{RuleFile, schema, settings};

/// The name of the schema next to the rule files.
const SCHEMA: &str = "rules.schema.json";

/// Every built-in file with its path in the folder and the rule's description as a header, and the schema
/// for editors.
#[must_use]
pub fn defaults(catalogue: Catalogue) -> Vec<RuleFile> {
    let rule = |rule: &'static Rule| {
        file(&format!("{}/{}.yaml", rule.folder, rule.id), &format!("../{SCHEMA}"), rule.page, rule.defaults)
    };
    let settings = settings::ALL.iter().map(|settings| {
        file(&format!("{}.yaml", settings.id), &format!("./{SCHEMA}"), settings.page, settings.defaults)
    });
    let schema = RuleFile { name: SCHEMA.to_owned(), text: schema::text(catalogue) };
    catalogue.rules().map(rule).chain(settings).chain([schema]).collect()
}

fn file(name: &str, schema: &str, page: &str, defaults: &str) -> RuleFile {
    let modeline = format!("# yaml-language-server: $schema={schema}\n#");
    let comment = |line: &str| format!("# {line}").trim_end().to_owned();
    let lines: Vec<String> = std::iter::once(modeline).chain(introduction(page).map(comment)).collect();
    RuleFile { name: name.to_owned(), text: format!("{}\n#\n{defaults}", lines.join("\n")) }
}

/// The title of a page and its first section.
fn introduction(page: &str) -> impl Iterator<Item = &str> {
    let title = page.lines().next().map(|line| line.trim_start_matches("# "));
    let first = page.lines().skip_while(|line| !line.starts_with("## ")).skip(1);
    let section: Vec<&str> = first.take_while(|line| !line.starts_with("## ")).collect();
    title.into_iter().chain([""]).chain(without_blank_ends(&section).to_vec())
}

fn without_blank_ends<'l, 's>(lines: &'l [&'s str]) -> &'l [&'s str] {
    let blank = |line: &&&str| line.trim().is_empty();
    let start = lines.iter().take_while(blank).count();
    let end = lines.len() - lines.iter().rev().take_while(blank).count();
    lines.get(start..end).unwrap_or_default()
}
