//! `elephant-rs rules reference`

use std::error::Error;

use clap::Args;

use super::padded;
use elephant_report::wrap::{lines, width};
use elephant_rule::params::words::nearest;
use elephant_ruleset::custom::reference::{Line, Section, sections};

pub(super) const EXAMPLES: &str = "\
Examples:
  elephant-rs rules reference
      keys of rule files, names, functions, types, and defaults of settings
  elephant-rs rules reference app
      one section; file is about the keys of rule files
  elephant-rs rules reference task.gc_time
      one name
  elephant-rs rules reference shuffle bytes
      the names with all these words in the name or its description";

/// Names up to this width are aligned in a column; wider ones get their own line.
const WIDEST: usize = 34;
/// Least width of the column of meanings; if there is less room, the section is a list.
const LEAST: usize = 20;
/// Between columns.
const MARGIN: &str = "  ";

#[derive(Debug, Args)]
pub(crate) struct Reference {
    /// A section, a name, or words of a description
    #[arg(value_name = "NAME")]
    words: Vec<String>,
}

impl Reference {
    /// The reference in lines of at most `columns`, where words allow it.
    pub(super) fn text(&self, columns: usize) -> Result<String, Box<dyn Error>> {
        let all = sections();
        let found = select(&all, &self.words);
        if found.is_empty() {
            let word = self.words.join(" ");
            let names = all.iter().flat_map(|section| section.lines.iter().map(|line| line.written.as_str()));
            let sections: Vec<&str> = all.iter().map(|section| section.name).collect();
            let help = nearest(&word, names.chain(sections.iter().copied())).map_or_else(
                || format!("its sections are {}", sections.join(", ")),
                |near| format!("did you mean \"{near}\"?"),
            );
            return Err(format!("the reference has no \"{word}\"; {help}").into());
        }
        Ok(found.iter().map(|section| shown(section, columns)).collect::<Vec<_>>().join("\n"))
    }
}

/// The sections with those of their lines that the words select.
fn select(all: &[Section], words: &[String]) -> Vec<Section> {
    let only = |lines: &dyn Fn(&Section) -> Vec<Line>| -> Vec<Section> {
        let sections = all.iter().map(|section| Section { lines: lines(section), ..section.clone() });
        sections.filter(|section| !section.lines.is_empty()).collect()
    };
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    if let [word] = words.as_slice() {
        let wanted = if word == "attempt" { "task" } else { word };
        if let Some(section) = all.iter().find(|section| section.name == wanted) {
            return vec![section.clone()];
        }
        // `attempt` has the same names as `task`.
        let name = word.strip_prefix("attempt.").map(|rest| format!("task.{rest}"));
        let name = name.as_deref().unwrap_or(word);
        let is_it = |line: &&Line| {
            line.written.to_lowercase() == name || line.written.split('(').next() == Some(name)
        };
        let exact = only(&|section| section.lines.iter().filter(is_it).cloned().collect());
        if !exact.is_empty() {
            return exact;
        }
    }
    let has = |line: &&Line| {
        let text = format!("{} {} {}", line.written, line.kind, line.meaning).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    only(&|section| section.lines.iter().filter(has).cloned().collect())
}

/// A section as text in columns, or as a list where there is no room for columns.
fn shown(section: &Section, columns: usize) -> String {
    let mut text = lines(&format!("{}: {}", section.name, plain(section.about)), columns).join("\n") + "\n\n";
    let widest = |part: fn(&Line) -> &str, most: usize| {
        section.lines.iter().map(|line| width(part(line))).filter(|width| *width <= most).max().unwrap_or(0)
    };
    let written = widest(|line| &line.written, WIDEST).max(8);
    let kind = widest(|line| &line.kind, columns);
    let indentation = " ".repeat(2 * MARGIN.len() + written);
    let room = columns.saturating_sub(3 * MARGIN.len() + written + kind);
    if room < LEAST {
        section.lines.iter().for_each(|line| text.push_str(&entry(line, columns)));
    }
    for line in section.lines.iter().filter(|_| room >= LEAST) {
        let (name, gap) = (&line.written, " ".repeat(written.saturating_sub(width(&line.written))));
        let start = if width(name) <= written {
            format!("{MARGIN}{name}{gap}{MARGIN}")
        } else {
            format!("{MARGIN}{name}\n{indentation}")
        };
        text.push_str(&start);
        let meaning = plain(&line.meaning);
        // A word that is too wide, such as the name of a class, gets a line of its own.
        let fits = meaning.split_whitespace().all(|word| width(word) <= room);
        let left = if fits { indentation.len() + kind + MARGIN.len() } else { 3 * MARGIN.len() };
        let hanging = format!("\n{}", " ".repeat(left));
        if fits {
            text.push_str(&padded(&line.kind, kind + MARGIN.len()));
        } else {
            text.extend([line.kind.as_str(), &hanging]);
        }
        text.push_str(&lines(&meaning, columns.saturating_sub(left)).join(&hanging));
        text.push('\n');
    }
    if !section.sample.is_empty() {
        text.push_str("\n  For example\n\n");
        text.extend(section.sample.lines().map(|line| format!("    {line}\n")));
    }
    text
}

/// A line of the reference without columns: the name, and below it the type and the meaning.
fn entry(line: &Line, columns: usize) -> String {
    let below = MARGIN.repeat(3);
    let text = format!("{}: {}", line.kind, plain(&line.meaning));
    let wrapped = lines(&text, columns.saturating_sub(below.len()));
    let wrapped: String = wrapped.iter().flat_map(|line| [below.as_str(), line, "\n"]).collect();
    format!("{MARGIN}{}\n{wrapped}", line.written)
}

/// Text without the marks of code.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(words: &[&str]) -> Result<String, String> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Reference { words }.text(80).map_err(|error| error.to_string())
    }

    #[test]
    fn the_whole_reference_fits_a_terminal_and_has_everything() {
        let text = reference(&[]).unwrap();
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
        for columns in [40, 60, 120] {
            let text = Reference { words: Vec::new() }.text(columns).unwrap();
            // Names and values may be single words that are too long.
            let wide =
                |line: &&str| width(line) > columns && !line.starts_with("    ") && line.trim().contains(' ');
            let wide: Vec<&str> = text.lines().filter(wide).collect();
            assert!(wide.iter().all(|line| line.contains('(')), "{wide:#?}");
        }
        for section in sections() {
            for line in section.lines {
                assert!(text.contains(&line.written), "{line:?}");
            }
        }
    }

    #[test]
    fn sections_names_and_words_select() {
        let app = reference(&["app"]).unwrap();
        assert!(app.starts_with("app: The application.\n\n") && !app.contains("task.run_time"), "{app}");
        let one = reference(&["attempt.gc_time"]).unwrap();
        assert!(one.ends_with("\n  task.gc_time  time  counter GC_TIME_MILLIS\n"), "{one}");
        assert_eq!(one.matches("task.").count(), 1, "{one}");
        assert!(reference(&["conf_bytes"]).unwrap().contains("conf_bytes(\"name\")"));
        let several = reference(&["Shuffle", "bytes", "read"]).unwrap();
        assert!(several.contains("task.shuffle_bytes_read") && several.contains("executor."), "{several}");
        assert!(!several.contains("task.gc_time"), "{several}");
        let default = reference(&["spark.speculation.quantile"]).unwrap();
        assert!(default.contains("0.75 from 1.0, 0.9 from 4.0"), "{default}");
        let error = reference(&["task.gc_tme"]).unwrap_err();
        assert_eq!(error, "the reference has no \"task.gc_tme\"; did you mean \"task.gc_time\"?");
    }
}
