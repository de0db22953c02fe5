//! Splits a rule's page into its parts.

/// The headings of a rule's page, in order.
pub(crate) const RULE_HEADINGS: [&str; 8] = [
    "What it does",
    "Why it matters",
    "How severity is computed",
    "Evidence",
    "What to change",
    "Known problems",
    "Differences from Dr. Elephant",
    "Source",
];

/// The headings of a page about parameters that do not belong to a rule, in order.
pub(crate) const SETTINGS_HEADINGS: [&str; 5] =
    ["What they are", "How they are computed", "Known problems", "Differences from Dr. Elephant", "Source"];

/// The text of a page's first line, without its `#`.
pub(crate) fn title(page: &str) -> Option<&str> {
    page.lines().next()?.strip_prefix("# ")
}

/// The headings of a page below its title, in order.
pub(crate) fn headings(page: &str) -> Vec<&str> {
    page.lines().filter_map(|line| line.strip_prefix("## ")).collect()
}

/// The text below one heading; empty if the page does not have it.
pub(crate) fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = format!("\n## {heading}\n");
    let Some((_, rest)) = page.split_once(&start) else { return "" };
    rest.split("\n## ").next().unwrap_or_default().trim()
}

/// The first sentence of a section, on one line.
pub(crate) fn first_sentence(section: &str) -> String {
    let paragraph = section.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    match paragraph.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => paragraph,
    }
}

/// Whether a text names a key in backticks, alone or with a value: `key`, `key: value`.
pub(crate) fn names(text: &str, key: &str) -> bool {
    text.contains(&format!("`{key}`")) || text.contains(&format!("`{key}: "))
}

/// Whether a text has a list that starts with a number, as cut-offs do.
pub(crate) fn has_cutoff_list(text: &str) -> bool {
    text.split('[').skip(1).any(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}
