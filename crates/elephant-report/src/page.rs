//! Pages in Markdown, and lists, as wide as the terminal.

use super::wrap::{lines, width};

/// Pages are written with lines of this width. They stay as they are in a terminal of this width.
const OF_PAGES: usize = 80;
/// Additional indent of the rest of a line that is broken.
const HANGING: usize = 4;

/// The same page with paragraphs and lists in lines of at most `columns`. Code and tables are broken only where they do
/// not fit.
#[must_use]
pub fn reflow(page: &str, columns: usize) -> String {
    let mut blocks = Blocks { columns, text: String::new(), block: None };
    let mut in_fence = false;
    for line in page.lines() {
        if line.starts_with("```") {
            in_fence = !in_fence;
            blocks.verbatim(line);
        } else if in_fence || line.is_empty() || line.starts_with(['#', '|']) {
            blocks.verbatim(line);
        } else if let Some(marker) = marker(line) {
            blocks.begin(line, marker);
        } else if !blocks.goes_on(line) {
            if line.starts_with("    ") { blocks.verbatim(line) } else { blocks.begin(line, 0) }
        }
    }
    blocks.finish();
    blocks.text
}

/// Breaks every line that is wider than `columns`; the rest continues below, with more indent.
#[must_use]
pub fn within(text: &str, columns: usize) -> String {
    let mut narrow = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        push_within(&mut narrow, content, columns);
        narrow.push_str(line.get(content.len()..).unwrap_or_default());
    }
    narrow
}

fn push_within(text: &mut String, line: &str, columns: usize) {
    if width(line) <= columns {
        text.push_str(line);
        return;
    }
    let indent = line.len() - line.trim_start().len();
    for (place, part) in lines(line, columns.saturating_sub(indent + HANGING)).iter().enumerate() {
        let blanks = if place == 0 { indent } else { indent + HANGING };
        if place > 0 {
            text.push('\n');
        }
        text.push_str(&" ".repeat(blanks));
        text.push_str(part);
    }
}

/// The columns of "- " or "12. " with the blanks before it, at the beginning of an item of a list.
fn marker(line: &str) -> Option<usize> {
    let rest = line.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_item = rest.starts_with("- ") || digits > 0 && rest.get(digits..)?.starts_with(". ");
    let mark = if digits > 0 { digits + 2 } else { 2 };
    is_item.then_some(line.len() - rest.len() + mark)
}

/// A paragraph or an item of a list.
struct Block<'a> {
    lines: Vec<&'a str>,
    /// The columns before its text.
    indent: usize,
}

struct Blocks<'a> {
    columns: usize,
    text: String,
    block: Option<Block<'a>>,
}

impl<'a> Blocks<'a> {
    fn begin(&mut self, line: &'a str, indent: usize) {
        self.finish();
        self.block = Some(Block { lines: vec![line], indent });
    }

    /// Adds a line to the block if it belongs to it, and returns whether it does.
    fn goes_on(&mut self, line: &'a str) -> bool {
        let indent = line.len() - line.trim_start().len();
        let block =
            self.block.as_mut().filter(|block| indent == block.indent || block.indent == 0 && indent < 4);
        block.map(|block| block.lines.push(line)).is_some()
    }

    fn verbatim(&mut self, line: &str) {
        self.finish();
        push_within(&mut self.text, line, self.columns);
        self.text.push('\n');
    }

    fn finish(&mut self) {
        let Some(Block { lines: written, indent }) = self.block.take() else { return };
        let fits = self.columns <= OF_PAGES && written.iter().all(|line| width(line) <= self.columns);
        if fits {
            for line in written {
                self.text.extend([line, "\n"]);
            }
            return;
        }
        let first = written.first().copied().unwrap_or_default();
        let (mark, start) = first.split_at_checked(indent).unwrap_or(("", first));
        let rest = written.iter().skip(1).map(|line| line.trim_start());
        let text = std::iter::once(start).chain(rest).collect::<Vec<_>>().join(" ");
        for (place, line) in lines(&text, self.columns.saturating_sub(indent)).iter().enumerate() {
            let before = if place == 0 { mark.to_owned() } else { " ".repeat(indent) };
            self.text.extend([before.as_str(), line, "\n"]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A\n\nOne two three four five six seven eight nine ten eleven\ntwelve.\n\n1. First item of\n   two lines.\n2. Second.\n- dash\n\n    code = a  +  b\n    more\n\nEnd\n";

    #[test]
    fn pages_of_their_own_width_stay_as_they_are() {
        assert_eq!(reflow(PAGE, 80), PAGE);
        assert_eq!(reflow(PAGE, 60), PAGE);
    }

    #[test]
    fn paragraphs_and_items_follow_the_width() {
        let wide = "# A\n\nOne two three four five six seven eight nine ten eleven twelve.\n\n1. First item of two lines.\n2. Second.\n- dash\n\n    code = a  +  b\n    more\n\nEnd\n";
        assert_eq!(reflow(PAGE, 120), wide);
        let narrow = "# A\n\nOne two three\nfour five six\nseven eight nine\nten eleven\ntwelve.\n\n1. First item of\n   two lines.\n2. Second.\n- dash\n\n    code = a\n        + b\n    more\n\nEnd\n";
        assert_eq!(reflow(PAGE, 16), narrow);
    }

    #[test]
    fn every_page_of_a_rule_follows_the_width() {
        let rules = elephant_ruleset::RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        for active in rules.rules() {
            assert_eq!(reflow(&active.info.page, 80), *active.info.page, "{}", active.info.id);
            for columns in [40, 60, 120] {
                let text = reflow(&active.info.page, columns);
                let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                assert_eq!(words(&text), words(&active.info.page), "{}", active.info.id);
                let wide = text.lines().find(|line| width(line) > columns && line.trim().contains(' '));
                assert!(wide.is_none(), "{}: {wide:?}", active.info.id);
            }
        }
    }

    #[test]
    fn wide_lines_go_on_below() {
        assert_eq!(within("  ab cd ef\nx\n", 8), "  ab\n      cd\n      ef\nx\n");
        assert_eq!(within("  ab cd", 80), "  ab cd");
    }
}
