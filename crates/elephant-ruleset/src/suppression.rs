//! Suppressed findings: reviewed and accepted, with a reason and preferably an end date.

use std::sync::Arc;

use chrono::NaiveDate;

use super::RuleFile;
use super::known::KnownIds;
use super::scope::{Pattern, Scope};
use elephant_model::model::Application;
use elephant_rule::finding::Finding;
use elephant_rule::params::Problems;
use elephant_rule::params::lines::Lines;
use elephant_rule::params::words::did_you_mean;
use elephant_rule::params::yaml::{Node, Span, Spanned};

const KEYS: [&str; 6] = ["suppress", "for", "application", "subject", "reason", "until"];

/// One document `suppress: <rule>`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Suppression {
    /// Its file.
    pub file: Arc<RuleFile>,
    /// The position of the rule's id.
    pub span: Span,
    /// The rules whose findings it suppresses.
    pub rules: Pattern,
    /// The applications.
    pub scope: Scope,
    /// Their ids, if it applies only to some runs.
    pub application: Option<Pattern>,
    /// The subject of the findings, as reports name it.
    pub subject: Option<Pattern>,
    /// The reason.
    pub reason: String,
    /// The last day that it applies; `None` if it never expires.
    pub until: Option<NaiveDate>,
    /// The line of the rule's id.
    line: usize,
}

#[doc(hidden)]
impl Suppression {
    pub(super) fn read(
        file: &Arc<RuleFile>,
        lines: &Lines,
        entries: &[(Spanned<String>, Node)],
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut fields = Fields::default();
        for (key, node) in entries {
            let text = || node.read::<String>();
            let read = match key.value.as_str() {
                "suppress" => text().map(|text| fields.rules = Some((text, node.span.clone()))),
                "application" => text().map(|text| fields.application = Some((text, node.span.clone()))),
                "subject" => text().map(|text| fields.subject = Some((text, node.span.clone()))),
                "reason" => text().map(|text| fields.reason = Some(text)),
                "until" => text().map(|text| fields.until = Some((text, node.span.clone()))),
                "for" => {
                    fields.scope = Some(node);
                    Ok(())
                }
                other => {
                    let message =
                        format!("a suppression has no key \"{other}\"; its keys are {}", KEYS.join(", "));
                    problems.error(file, &key.span, message, did_you_mean(other, KEYS.into_iter()));
                    Ok(())
                }
            };
            read.unwrap_or_else(|error| problems.unreadable(file, &node.span, error));
        }
        let line = fields.rules.as_ref().map_or(1, |(_, span)| lines.line(span.start));
        fields.finish(file, line, problems)
    }

    /// Its position, `file:line`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}:{}", self.file.name, self.line)
    }

    /// Whether its last day has passed.
    #[must_use]
    pub fn is_expired(&self, today: NaiveDate) -> bool {
        self.until.is_some_and(|until| until < today)
    }

    /// Whether it applies to this finding.
    #[must_use]
    pub(crate) fn covers(&self, app: &Application, finding: &Finding) -> bool {
        let fits = |pattern: &Option<Pattern>, text: &str| pattern.as_ref().is_none_or(|p| p.matches(text));
        self.rules.matches(&finding.rule)
            && fits(&self.application, &app.id)
            && fits(&self.subject, &finding.subject.name())
            && self.scope.applies_to(app)
    }
}

#[derive(Default)]
struct Fields<'n> {
    rules: Option<(String, Span)>,
    scope: Option<&'n Node>,
    application: Option<(String, Span)>,
    subject: Option<(String, Span)>,
    reason: Option<String>,
    until: Option<(String, Span)>,
}

impl Fields<'_> {
    fn finish(self, file: &Arc<RuleFile>, line: usize, problems: &mut Problems) -> Option<Suppression> {
        let (written, span) = self.rules?;
        let mut pattern = |written: Option<(String, Span)>| {
            let (text, span) = written?;
            Pattern::parse(&text).map_err(|message| problems.error(file, &span, message, None)).ok()
        };
        let rules = pattern(Some((written, span.clone())));
        let (application, subject) = (pattern(self.application), pattern(self.subject));
        let scope = self.scope.map(|node| Scope::read(file, node, problems)).unwrap_or_default();
        let until = self.until.and_then(|(text, at)| {
            let day = text.parse::<NaiveDate>();
            let help = Some("write it as 2027-01-31".to_owned());
            day.map_err(|_| problems.error(file, &at, format!("\"{text}\" is not a valid date"), help)).ok()
        });
        let reason = self.reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        if reason.is_none() {
            let help = Some("add reason: why these findings are accepted".to_owned());
            problems.error(file, &span, "a suppression needs a reason", help);
        }
        let (rules, reason) = (rules?, reason?);
        let file = Arc::clone(file);
        Some(Suppression { file, span, rules, scope, application, subject, reason, until, line })
    }
}

/// Whether the named rules exist; `known` are the ids of all rules.
pub(super) fn check_rules(suppression: &Suppression, known: &mut KnownIds<'_>, problems: &mut Problems) {
    let written = suppression.rules.to_string();
    if !known.contains(&written) && !known.all().any(|id| suppression.rules.matches(id)) {
        let help =
            known.suggestion(&written).unwrap_or_else(|| "`elephant-rs rules list` lists all ids".to_owned());
        problems.error(
            &suppression.file,
            &suppression.span,
            format!("there is no rule \"{written}\""),
            Some(help),
        );
    }
}
