//! One application, rendered while others are read. Its heading is written later, when the number of its job is known.

use std::io::{self, Write};

use crate::words::{saves_briefly, title, with_start};
use crate::wrap::clean;
use elephant_base::severity::Severity;
use elephant_engine::results::{ApplicationReport, Leading};
use elephant_model::model::Status;
use elephant_rule::finding::{Advice, SettingChange};
use elephant_verdict::savings::SavingStatus;
use elephant_verdict::troubles::Trouble;

/// An application: the fields of its heading, and the text below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) severity: Severity,
    pub(super) score: &'a str,
    /// The id, with the attempt.
    pub(super) id: &'a str,
    /// The name; empty if it is unknown.
    pub(super) name: &'a str,
    /// "alice · 2026-10-05 22:11 UTC".
    pub(super) who: &'a str,
    /// What removing the first trouble saves; empty without troubles.
    pub(super) saves: &'a str,
    /// The first trouble in a few words; empty without troubles.
    pub(super) headline: &'a str,
    /// The remedy for it: a setting, or the first advice; empty without one.
    pub(super) remedy: &'a str,
    /// Why the run comes first among those of its job.
    pub(super) lead: &'a str,
    /// The history's path.
    pub(super) source: &'a str,
    pub(super) body: &'a str,
}

/// Writes the fields of the heading, one a line. Cleaned text has no line breaks.
pub(super) fn write_head(app: &ApplicationReport, out: &mut Vec<u8>) -> io::Result<()> {
    let attempt = app.attempt.as_deref().map(|attempt| format!(" ({})", clean(attempt)));
    writeln!(out, "{}", app.severity.value())?;
    writeln!(out, "{}", app.score)?;
    writeln!(out, "{}{}", clean(&app.id), attempt.unwrap_or_default())?;
    writeln!(out, "{}", clean(app.name.as_deref().unwrap_or_default()).trim())?;
    writeln!(out, "{}", with_start(app))?;
    let currency = app.savings.as_ref().and_then(|savings| savings.currency.as_deref());
    let first = app.troubles.first();
    writeln!(out, "{}", first.map(|it| saves_briefly(&it.savings, currency)).unwrap_or_default())?;
    writeln!(out, "{}", first.map(title).unwrap_or_default())?;
    writeln!(out, "{}", app.troubles.first().map(remedy).unwrap_or_default())?;
    writeln!(out, "{}", lead(app))?;
    writeln!(out, "{}", app.sources.first().map(|source| clean(source)).unwrap_or_default())
}

/// The reason why the run comes first among those of its job. Savings within the error of their estimate may
/// decide, too, but they are not called the most to save.
fn lead(app: &ApplicationReport) -> &'static str {
    let failed = app.status == Status::Failed;
    let estimated = app.troubles.iter().any(|trouble| trouble.savings.status == SavingStatus::Estimated);
    match app.leading {
        Leading::Worth(_) if !failed && !estimated => "the first run in the report",
        _ => app.leading.reason(failed),
    }
}

/// The settings of the first line of advice, which belong together, or else the line.
fn remedy(trouble: &Trouble) -> String {
    let with_first = |advice: &&Advice| trouble.change.first().is_some_and(|it| advice.settings.contains(it));
    let line = trouble.advice.iter().find(with_first);
    let belongs = |it: &&SettingChange| line.is_none_or(|line| line.settings.contains(it));
    let changes: Vec<String> = trouble.change.iter().filter(belongs).map(SettingChange::argument).collect();
    let change = (!changes.is_empty()).then(|| changes.join(" "));
    clean(&change.or_else(|| Some(trouble.advice.first()?.text.clone())).unwrap_or_default())
}

impl<'a> Piece<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(bytes).ok()?.splitn(11, '\n');
        let value: u8 = parts.next()?.parse().ok()?;
        let severity = Severity::ALL.into_iter().find(|level| level.value() == u64::from(value))?;
        Some(Self {
            severity,
            score: parts.next()?,
            id: parts.next()?,
            name: parts.next()?,
            who: parts.next()?,
            saves: parts.next()?,
            headline: parts.next()?,
            remedy: parts.next()?,
            lead: parts.next()?,
            source: parts.next()?,
            body: parts.next()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_in_their_field() {
        let app = ApplicationReport {
            name: Some("a\nb\u{1b}[31m".to_owned()),
            score: 7,
            severity: Severity::Severe,
            ..ApplicationReport::blank("app\r\n1")
        };
        let mut bytes = Vec::new();
        write_head(&app, &mut bytes).unwrap();
        bytes.extend_from_slice(b"body\nmore\n");
        let piece = Piece::parse(&bytes).unwrap();
        assert_eq!((piece.severity, piece.score, piece.body), (Severity::Severe, "7", "body\nmore\n"));
        assert_eq!((piece.id, piece.name, piece.headline), ("app  1", "a b [31m", ""));
    }
}
