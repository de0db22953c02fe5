//! `diagnose`

use elephant_model::diagnosis::Actor;
use elephant_rule::finding::SettingChange;
use elephant_store::{StoredApplication, StoredTrouble};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{json, stored_json};
use crate::about::{About, Amounts, Level, Number, time};
use crate::analyses::Analysis;
use crate::failure::Failure;
use crate::library::{Context, Which};
use crate::page::{After, Part};
use crate::told::{Advice, Name, Sentence, Told, Value, Word};
use crate::tool::Question;

/// Lines of advice of one trouble: the others are alternatives.
const MOST_ADVICE: usize = 2;
/// Parts of the run time.
const MOST_PARTS: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Diagnose {
    /// The id of the application, as `list_applications` has it
    application: Word,
    /// Which one, if several have this id (attempts, clusters, copies): 1 is the first
    which: Option<Which>,
    /// The `next` of the part before
    cursor: Option<After>,
}

/// What is wrong with an application, and what to change.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Diagnosis {
    application: About,
    /// `history`: judged now from its history. `store`: as it was stored, with less
    from: Judged,
    /// Who can remove the cause of the failure that ended the run; null if no failure did
    whose_turn: Option<Turn>,
    /// Where the run time went, the largest parts; in the first part of the answer only
    #[schemars(length(max = 3))]
    run_time_parts: Vec<RunTimePart>,
    /// Root causes, the most important first
    troubles: Vec<Trouble>,
    /// Settings that are right for all troubles together
    configuration: Vec<Setting>,
    /// What the answer lacks, and what to do about it; null if it lacks nothing
    missing: Option<Advice>,
    /// The cursor of the next part; null at the end
    next: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Judged {
    History,
    Store,
}

/// Who acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Turn {
    /// The developers of the application: its code, libraries or data
    Developers,
    /// Whoever submits the application: a setting
    Settings,
    /// The operators of the cluster
    Operators,
}

impl From<Actor> for Turn {
    fn from(actor: Actor) -> Self {
        match actor {
            Actor::UserCode => Self::Developers,
            Actor::Configuration => Self::Settings,
            Actor::Cluster => Self::Operators,
        }
    }
}

impl Turn {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Developers => "the developers of the application (code, libraries or data)",
            Self::Settings => "whoever submits the application (a setting)",
            Self::Operators => "the operators of the cluster",
        }
    }
}

/// A part of the run time.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct RunTimePart {
    name: Told<100>,
    time_ms: Number,
    share_ratio: Number,
}

/// A root cause.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Trouble {
    /// Its identity in this application; null in a store
    id: Option<Name>,
    kind: Told<40>,
    severity: Level,
    cause: Sentence,
    /// How sure the cause is: measured, inferred or weak; null in a store
    confidence: Option<Told<20>>,
    #[schemars(length(max = 2))]
    advice: Vec<Advice>,
    savings: Savings,
}

/// What removing a trouble saves.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Savings {
    /// estimated, `within_error` (too little to be told from the model's error), or unknown; `stored` without a range
    status: Told<20>,
    /// Why it is unknown
    reason: Option<Told<240>>,
    /// With the range of the prediction
    alone: Option<Amounts>,
    /// If the saving is unknown, what the trouble cost at most
    at_most: Option<Amounts>,
    /// As stored, without a range
    #[serde(default)]
    stored_ms: Option<u64>,
    /// As stored, without a range
    #[serde(default)]
    stored_gb_hours: Option<Number>,
}

/// A setting to change.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Setting {
    setting: Name,
    /// The value in force; null if the application set none
    from: Option<Value>,
    to: Value,
    /// The line to paste; null if it is too long, or has characters that are not seen
    line: Option<Line>,
}

/// A line of configuration.
type Line = Told<400>;

/// The part of the report's JSON that is told.
#[derive(Debug, Deserialize)]
struct Report {
    run_time_parts: Vec<RunTimePart>,
    troubles: Vec<Trouble>,
}

impl Report {
    /// With the largest parts of the run time, and the first advice.
    fn bounded(mut self) -> Self {
        self.run_time_parts.truncate(MOST_PARTS);
        for trouble in &mut self.troubles {
            trouble.advice.truncate(MOST_ADVICE);
        }
        self
    }
}

impl Question for Diagnose {
    type Answer = Diagnosis;
    const NAME: &'static str = "diagnose";
    const TITLE: &'static str = "What is wrong with an application, and what to change";
    const ABOUT: &'static str = "The root causes of one application in the order of importance, each with advice and \
        what removing it saves; who must act if it failed; the configuration lines to paste. Ask this first about an \
        application that is slow, wasteful or failed.";

    fn answer(&self, context: &Context<'_>) -> Result<(Diagnosis, String), Failure> {
        let found = context.application(&self.application, self.which)?;
        let mut part = Part::after(self.cursor.as_ref())?;
        let about = About::of(&found);
        part.line(&about.to_string());
        let told = match context.analysis(&found.stored) {
            Ok(analysis) => of_history(&analysis)?,
            Err(Failure::Gone(why)) => of_store(&found.stored, &why),
            Err(failure) => return Err(failure),
        };
        let parts = if part.is_first() { told.parts } else { Vec::new() };
        part.reserve(&(&about, &parts, &told.missing, &told.missing));
        let turn = told.turn.map_or(String::new(), |turn| format!(" Whose turn: {}.", turn.words()));
        let troubles = part.take(told.troubles, trouble_line);
        let configuration = part.take(told.settings, setting_line);
        let lacks = told.missing.as_ref().map_or(String::new(), |missing| format!(" {missing}."));
        let text = part.text(&format!("What is wrong, the most important first.{turn}{lacks}"));
        let diagnosis = Diagnosis {
            application: about,
            from: told.from,
            whose_turn: told.turn,
            run_time_parts: parts,
            troubles,
            configuration,
            missing: told.missing,
            next: part.next(),
        };
        Ok((diagnosis, text))
    }
}

/// What is known, before it is divided into parts.
struct Known {
    from: Judged,
    turn: Option<Turn>,
    parts: Vec<RunTimePart>,
    troubles: Vec<Trouble>,
    settings: Vec<Setting>,
    missing: Option<Advice>,
}

fn of_history(analysis: &Analysis) -> Result<Known, Failure> {
    let Some(app) = analysis.application() else {
        return Err(Failure::Gone("the history has no application".to_owned()));
    };
    let report = json::<Report>(analysis)?.bounded();
    Ok(Known {
        from: Judged::History,
        turn: app.who_acts().map(Turn::from),
        parts: report.run_time_parts,
        troubles: report.troubles,
        settings: app.recommended.iter().map(|recommended| setting(&recommended.change)).collect(),
        missing: app.incomplete.as_ref().map(|why| Told::of(&format!("the history is incomplete: {why}"))),
    })
}

fn of_store(app: &StoredApplication, why: &str) -> Known {
    let report = stored_json::<Report>(app).map(Report::bounded);
    let lacks = match &report {
        Some(_) => format!("as it was when it was stored, and whose turn is unknown: {why}"),
        None => format!("ranges, whose turn and the account of the run time are unknown: {why}"),
    };
    let Report { run_time_parts, troubles } = report.unwrap_or_else(|| Report {
        run_time_parts: Vec::new(),
        troubles: app.troubles.iter().map(stored_trouble).collect(),
    });
    let change = |setting: &elephant_store::StoredSetting| SettingChange {
        setting: setting.name.clone(),
        from: setting.from.clone(),
        to: setting.to.clone(),
    };
    Known {
        from: Judged::Store,
        turn: None,
        parts: run_time_parts,
        troubles,
        settings: app.settings.iter().map(|stored| setting(&change(stored))).collect(),
        missing: Some(Told::of(&lacks)),
    }
}

fn stored_trouble(trouble: &StoredTrouble) -> Trouble {
    Trouble {
        id: None,
        kind: Told::of(&trouble.kind),
        severity: trouble.severity.into(),
        cause: Told::of(&trouble.cause),
        confidence: None,
        advice: trouble.remedy.iter().map(Told::from).collect(),
        savings: Savings {
            status: Told::of("stored"),
            reason: None,
            alone: None,
            at_most: None,
            stored_ms: trouble.saved_time.map(elephant_base::units::Millis::get),
            stored_gb_hours: trouble.saved_gb_hours.map(Number::of),
        },
    }
}

fn setting(change: &SettingChange) -> Setting {
    Setting {
        setting: Told::of(&change.setting),
        from: change.from.as_ref().map(Told::from),
        to: Told::of(&change.to),
        line: Told::whole(&change.argument()),
    }
}

fn setting_line(setting: &Setting) -> String {
    let Setting { setting, from, to, line } = setting;
    let now = from.as_ref().map_or(String::new(), |from| format!(" (now {from})"));
    line.as_ref().map_or_else(|| format!("set {setting} to {to}{now}"), |line| format!("{line}{now}"))
}

fn trouble_line(trouble: &Trouble) -> String {
    let Trouble { kind, severity, cause, advice, savings, .. } = trouble;
    let saves = match (savings.alone, savings.at_most, savings.stored_ms) {
        (Some(alone), _, _) => format!("; removing it saves {alone} ({})", savings.status),
        (None, Some(limit), _) => format!("; removing it saves at most {}", time(limit.wall_ms.high)),
        (None, None, Some(ms)) => format!("; removing it saves {}", elephant_base::units::Millis::new(ms)),
        (None, None, None) => String::new(),
    };
    let advice: Vec<&str> = advice.iter().map(Told::as_str).collect();
    let todo = if advice.is_empty() { String::new() } else { format!(" → {}", advice.join("; or: ")) };
    format!("{severity} {kind}: {cause}{todo}{saves}")
}
