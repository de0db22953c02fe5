//! The common parts of all pages: style, the script that sorts tables, and the content security policy that
//! allows only these.

use std::collections::BTreeMap;

use elephant_engine::results::SourceProblem;
use elephant_parse::Level;

/// Code that a page contains, and its hash in the policy. A test compares the two.
pub(crate) struct Code {
    pub(crate) text: &'static str,
    pub(crate) hash: &'static str,
}

/// Colours, tables and charts of every page.
pub(crate) const STYLE: Code = Code {
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/page.css")),
    hash: "sha256-GrL+B4HzpxeAtLlxiR1g/dIqvMd6SyIBB8GSG7NdFT4=",
};
/// The additional style of the pages of `nodes`, `whatif`, `diff` and `stragglers`.
pub(crate) const CHART_STYLE: Code = Code {
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/charts.css")),
    hash: "sha256-L7xZwdpeI5VGOmRQwao0aN8gU8tgxQvwKa0UTJzEh7g=",
};
/// Tells the style sheet that scripts run, before the page is laid out.
pub(crate) const FLAG: Code = Code {
    text: "document.documentElement.className = \"js\";",
    hash: "sha256-N9v3EnPaUyp6HvI/g75KoK11mUw7quk1fPSwEhREnaU=",
};
/// Sorts tables.
pub(crate) const SORT: Code = Code {
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/sort.js")),
    hash: "sha256-qd74N1Xy9+ymfwVB7Z0xi8hQ52JdB0eZk1A/e8/n6ow=",
};

/// Shows the jobs of a page as their links are followed.
pub(crate) const JOBS: Code = Code {
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/jobs.js")),
    hash: "sha256-l8ByNFAy1/OFuXmLyT4Rx/dZbejLqN5GJDEqaH/p844=",
};

/// Forms and links of the pages of a server.
#[cfg(feature = "site")]
pub(crate) const SITE_STYLE: Code = Code {
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/site.css")),
    hash: "sha256-ssMXjGFpSEcK22WzpO9zj2DfI9vnIId3Od0fGmlzgsk=",
};

/// The version in the head and the foot of a page.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The content security policy that allows only these styles and scripts, and forms that are sent to `forms`.
pub(crate) fn policy(forms: &str, styles: &[Code], scripts: &[Code]) -> String {
    let hashes =
        |codes: &[Code]| codes.iter().map(|code| format!(" '{}'", code.hash)).collect::<Vec<_>>().concat();
    let (style, flag, script) = (hashes(styles), hashes(&[FLAG]), hashes(scripts));
    format!(
        "default-src 'none'; style-src{style}; script-src{flag}{script}; base-uri 'none'; form-action {forms}"
    )
}

/// The beginning of a page, up to its body. `title` is HTML. The policy allows only this style and these scripts.
pub(crate) fn head(title: &str, forms: &str, styles: &[Code], scripts: &[Code]) -> String {
    let policy = policy(forms, styles, scripts);
    let styles: Vec<String> = styles.iter().map(|code| format!("\n<style>{}</style>", code.text)).collect();
    let (styles, set_flag) = (styles.concat(), FLAG.text);
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="elephant-rs {VERSION}">
<title>{title}</title>{styles}
<script>{set_flag}</script>
</head>"#
    )
}

/// Maximum number of problems listed.
pub(crate) const MAX_PROBLEMS: usize = 500;
/// Notes of one kind that are listed; the others are counted.
const NOTES: usize = 3;

/// A row of the table of problems.
pub(crate) enum ProblemRow<'a> {
    /// A problem.
    One(&'a SourceProblem),
    /// The number of further notes of the same kind.
    More(u64),
}

/// The kind of a note.
fn kind(entry: &SourceProblem) -> Option<&str> {
    (entry.problem.level == Level::Info).then_some(entry.problem.code.as_ref())
}

/// The rows of the table of problems. Notes, such as that an application is in two files, may be as many as files.
pub(crate) fn problem_rows(problems: &[SourceProblem]) -> Vec<ProblemRow<'_>> {
    let mut notes: BTreeMap<&str, usize> = BTreeMap::new();
    for code in problems.iter().filter_map(kind) {
        *notes.entry(code).or_default() += 1;
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for entry in problems {
        let Some(code) = kind(entry) else {
            rows.push(ProblemRow::One(entry));
            continue;
        };
        let place = seen.entry(code).or_default();
        *place += 1;
        let more = notes.get(code).copied().unwrap_or_default().saturating_sub(NOTES);
        match *place {
            // A single further note takes as much room as a row with its count.
            place if place <= NOTES || more == 1 => rows.push(ProblemRow::One(entry)),
            place if place == NOTES + 1 => rows.push(ProblemRow::More(more as u64)),
            _ => {}
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_parse::Problem;

    #[test]
    fn notes_of_one_kind_are_counted() {
        let entry = |level, code: &'static str| SourceProblem {
            source: "a".to_owned(),
            problem: Problem { level, code: code.into(), position: None, message: String::new(), count: 1 },
        };
        let mut problems = vec![entry(Level::Info, "duplicate"); 147];
        problems.insert(5, entry(Level::Warning, "truncated"));
        problems.extend(vec![entry(Level::Info, "other"); NOTES + 1]);
        let rows: Vec<_> = problem_rows(&problems)
            .iter()
            .map(|row| match row {
                ProblemRow::One(entry) => entry.problem.code.clone().into_owned(),
                ProblemRow::More(more) => format!("{more} more"),
            })
            .collect();
        let expected = [
            "duplicate",
            "duplicate",
            "duplicate",
            "144 more",
            "truncated",
            "other",
            "other",
            "other",
            "other",
        ];
        assert_eq!(rows, expected);
    }
}
