//! `explain_failure`

use elephant_engine::results::ApplicationReport;
use elephant_model::diagnosis::FailureKind;
use elephant_rule::finding::TroubleKind;
use elephant_rule::params::words::did_you_mean;
use elephant_store::StoredApplication;
use elephant_verdict::troubles::Trouble;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnose::Turn;
use super::explain_rule::PageLine;
use crate::about::{About, Level};
use crate::failure::Failure;
use crate::library::{Context, Which};
use crate::page::{After, Part};
use crate::told::{Advice, Name, Sentence, Told, Value, Word};
use crate::tool::Question;

/// Lines of advice of one failure.
const MOST_ADVICE: usize = 2;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainFailure {
    /// The id of an application that failed; give this or kind
    application: Option<Word>,
    /// Which one, if several have this id (attempts, clusters, copies): 1 is the first
    which: Option<Which>,
    /// A kind of failure, such as heap-space, to read its page; give this or application
    kind: Option<Word>,
    /// The `next` of the part before
    cursor: Option<After>,
}

/// Why an application failed, or what a kind of failure is.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Explained {
    application: Option<About>,
    /// Who can remove the cause of the failure that ended the run; null if no failure did
    whose_turn: Option<Turn>,
    /// Root causes, the most important first
    failures: Vec<Cause>,
    /// What only followed from these: nothing to do about it
    followed: Vec<Followed>,
    /// The page of the kind of failure that was asked for: lines of Markdown
    page: Vec<PageLine>,
    /// What the answer lacks, and what to do about it; null if it lacks nothing
    missing: Option<Advice>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

/// The root cause of a failure.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Cause {
    /// The kind of failure, which has a page; null if it is unknown
    kind: Option<Told<40>>,
    /// What such a failure is
    what: Option<Told<240>>,
    /// What happened here
    cause: Sentence,
    severity: Level,
    /// The innermost exception
    exception: Option<Name>,
    exit_code: Option<i32>,
    /// The message that says so, as logged
    message: Option<Value>,
    /// Who acts in most cases
    whose_turn: Option<Turn>,
    #[schemars(length(max = 2))]
    advice: Vec<Advice>,
}

/// A finding that is a consequence.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Followed {
    rule: Name,
    subject: Name,
    message: Value,
}

impl Question for ExplainFailure {
    type Answer = Explained;
    const NAME: &'static str = "explain_failure";
    const TITLE: &'static str = "Why an application failed, and whose turn it is";
    const ABOUT: &'static str = "For an application: the innermost causes of its failures with exception, exit code and \
        logged message, what only followed from them, who must act and what to do. For a kind of failure such as \
        heap-space: how it shows, and its remedies.";

    fn answer(&self, context: &Context<'_>) -> Result<(Explained, String), Failure> {
        let part = Part::after(self.cursor.as_ref())?;
        match (&self.application, &self.kind) {
            (Some(id), None) => of_application(context, id, self.which, part),
            (None, Some(kind)) => of_kind(kind.as_str(), part),
            _ => Err(Failure::Bad("give either application or kind".to_owned())),
        }
    }
}

fn of_application(
    context: &Context<'_>,
    id: &Word,
    which: Option<Which>,
    mut part: Part,
) -> Result<(Explained, String), Failure> {
    let found = context.application(id, which)?;
    let about = About::of(&found);
    part.line(&about.line.to_string());
    let (turn, causes, consequences, missing) = match context.analysis(&found.stored) {
        Ok(analysis) => match analysis.application() {
            Some(app) => (app.who_acts().map(Turn::from), causes(app), followed(app), None),
            None => (None, Vec::new(), Vec::new(), None),
        },
        Err(Failure::Gone(why)) => {
            let missing = format!("The kind of failure, its message and what followed are unknown: {why}");
            (None, stored_causes(&found.stored), Vec::new(), Some(Told::of(&missing)))
        }
        Err(failure) => return Err(failure),
    };
    part.reserve(&(&about, &missing, &missing));
    let failures = part.take(causes, cause_line);
    let followed =
        part.take(consequences, |it| format!("only followed: {} in {}: {}", it.rule, it.subject, it.message));
    let introduction = match (failures.is_empty() && part.is_first(), turn) {
        (true, _) => "No failure was found in this application.".to_owned(),
        (false, Some(turn)) => format!("Why it failed. Whose turn: {}.", turn.words()),
        (false, None) => "Failures, none of which is known to have ended the run.".to_owned(),
    };
    let lacks = missing.as_ref().map_or(String::new(), |missing: &Advice| format!(" {missing}."));
    let text = part.text(&format!("{introduction}{lacks}"));
    let next = part.next();
    let application = Some(about);
    let page = Vec::new();
    Ok((Explained { application, whose_turn: turn, failures, followed, page, missing, next }, text))
}

fn of_kind(name: &str, mut part: Part) -> Result<(Explained, String), Failure> {
    let known = FailureKind::ALL.iter().find(|kind| kind.name() == name);
    let kind = known.ok_or_else(|| {
        let similar = did_you_mean(name, FailureKind::ALL.iter().map(|kind| kind.name()));
        let help = similar.unwrap_or_else(|| "explain_failure of an application names its kind".to_owned());
        Failure::Missing(format!("kind of failure \"{name}\"; {help}"))
    })?;
    let turn = Turn::from(kind.actor());
    let page = part.take(kind.page().lines().map(PageLine::of), ToString::to_string);
    let text = part.own_text(&format!("{} Who acts in most cases: {}.", kind.cause(), turn.words()));
    let next = part.next();
    Ok((Explained { whose_turn: Some(turn), page, next, ..Explained::default() }, text))
}

fn causes(app: &ApplicationReport) -> Vec<Cause> {
    app.troubles.iter().filter(|trouble| trouble.failure.is_some()).map(cause).collect()
}

fn cause(trouble: &Trouble) -> Cause {
    let failure = trouble.failure.as_ref();
    Cause {
        kind: failure.map(|failure| Told::of(failure.kind.name())),
        what: failure.map(|failure| Told::of(failure.kind.cause())),
        cause: Told::of(&trouble.cause),
        severity: trouble.severity.into(),
        exception: failure.and_then(|failure| failure.exception.as_ref()).map(Told::from),
        exit_code: failure.and_then(|failure| failure.exit_code),
        message: failure.and_then(|failure| failure.message.as_ref()).map(Told::from),
        whose_turn: failure.map(|failure| failure.kind.actor().into()),
        advice: trouble.advice.iter().take(MOST_ADVICE).map(|advice| Told::of(&advice.text)).collect(),
    }
}

fn stored_causes(app: &StoredApplication) -> Vec<Cause> {
    let failures = app.troubles.iter().filter(|trouble| trouble.kind == TroubleKind::Failures.name());
    let causes = failures.map(|trouble| Cause {
        kind: None,
        what: None,
        cause: Told::of(&trouble.cause),
        severity: trouble.severity.into(),
        exception: None,
        exit_code: None,
        message: None,
        whose_turn: None,
        advice: trouble.remedy.iter().map(Told::from).collect(),
    });
    causes.collect()
}

/// The findings that are consequences of failures.
fn followed(app: &ApplicationReport) -> Vec<Followed> {
    let failures = || app.troubles.iter().filter(|trouble| trouble.failure.is_some());
    let consequences =
        app.findings.iter().filter(|finding| failures().any(|trouble| trouble.tells(finding) == Some(true)));
    let followed = consequences.map(|finding| Followed {
        rule: Told::of(&finding.rule),
        subject: Told::of(&finding.subject.name()),
        message: Told::of(&finding.message),
    });
    followed.collect()
}

fn cause_line(cause: &Cause) -> String {
    let kind = cause.kind.as_ref().map_or("failure", Told::as_str);
    let advice: Vec<&str> = cause.advice.iter().map(Told::as_str).collect();
    let todo = if advice.is_empty() { String::new() } else { format!(" → {}", advice.join("; or: ")) };
    format!("{} {kind}: {}{todo}", cause.severity, cause.cause)
}
