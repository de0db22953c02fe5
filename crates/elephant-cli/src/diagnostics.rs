//! Prints problems of rule files with place, excerpt and help.

use std::io::{self, Write};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstream::{AutoStream, ColorChoice};

use super::output::in_locale;
use elephant_ruleset::{Importance, RuleProblem};

/// Limits the output for files that are not rule files, which may have a problem in every line.
const MAX_SHOWN: usize = 200;

/// Prints problems to standard error. Write errors are ignored, because standard error may be closed.
pub(super) fn print_problems(problems: &[RuleProblem]) {
    let color = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut out = io::stderr();
    for problem in problems.iter().take(MAX_SHOWN) {
        let _ = writeln!(out, "{}\n", in_locale(&renderer.render(&[group(problem)])));
    }
    if problems.len() > MAX_SHOWN {
        let _ = writeln!(out, "and {} more problems", problems.len() - MAX_SHOWN);
    }
}

fn group(problem: &RuleProblem) -> Group<'_> {
    let level = match problem.importance {
        Importance::Error => Level::ERROR,
        Importance::Warning => Level::WARNING,
    };
    let text = problem.file.text.as_str();
    let end = problem.span.end.min(text.len());
    let start = problem.span.start.min(end);
    // Pass only the lines of the problem: rendering the whole file is slow if it has thousands of problems.
    let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let to = text.get(end..).and_then(|rest| rest.find('\n')).map_or(text.len(), |newline| end + newline);
    let snippet = Snippet::source(text.get(from..to).unwrap_or_default())
        .line_start(problem.place().0)
        .path(problem.file.name.as_str())
        .annotation(AnnotationKind::Primary.span(start - from..end - from));
    let group = level.primary_title(problem.message.as_str()).element(snippet);
    match &problem.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}
