//! Problems of rule files as people read them: the place, the excerpt, what to do.

use std::io::{self, Write};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstream::{AutoStream, ColorChoice};

use crate::rules::{Importance, RuleProblem};

/// Shows problems on standard error; that it may be closed is no reason to fail.
#[allow(clippy::let_underscore_must_use)]
pub(super) fn complain_about(problems: &[RuleProblem]) {
    let color = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut out = io::stderr();
    for problem in problems {
        let _ = writeln!(out, "{}\n", renderer.render(&[group(problem)]));
    }
}

fn group(problem: &RuleProblem) -> Group<'_> {
    let level = match problem.importance {
        Importance::Error => Level::ERROR,
        Importance::Warning => Level::WARNING,
    };
    let text = problem.file.text.as_str();
    let end = problem.span.end.min(text.len());
    let snippet = Snippet::source(text)
        .path(problem.file.name.as_str())
        .annotation(AnnotationKind::Primary.span(problem.span.start.min(end)..end));
    let group = level.primary_title(problem.message.as_str()).element(snippet);
    match &problem.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}
