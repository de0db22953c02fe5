//! A trouble in a few words, for messages that have no room for a report.

use super::words::{currency, saves_briefly, title};
use super::wrap::clean;
use elephant_engine::results::ApplicationReport;
use elephant_verdict::troubles::Trouble;

/// A trouble in a few words. No text has control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// "Skew in stage 4.0 of query 3".
    pub title: String,
    /// What is wrong, in a sentence.
    pub cause: String,
    /// What to do first.
    pub advice: Option<String>,
    /// The settings to change, as arguments to paste: `--conf spark.executor.memory=6g`. They suit all troubles of the
    /// application together.
    pub settings: Vec<String>,
    /// "saves 9.0 s ± 1.5 s", or that this is unknown.
    pub saves: String,
}

/// A trouble of an application in a few words.
#[must_use]
pub fn brief(app: &ApplicationReport, trouble: &Trouble) -> Brief {
    let own = app.recommended.iter().filter(|recommended| recommended.why.contains(&trouble.id));
    Brief {
        title: title(trouble),
        cause: clean(&trouble.cause),
        advice: trouble.advice.first().map(|advice| clean(&advice.text)),
        settings: own.map(|recommended| clean(&recommended.change.argument())).collect(),
        saves: clean(&saves_briefly(&trouble.savings, currency(app))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_rule::finding::SettingChange;
    use elephant_verdict::troubles::Recommended;

    #[test]
    fn a_trouble_has_its_own_settings_and_no_control_characters() {
        let mut app = ApplicationReport::blank("app_1");
        let set = |name: &str| SettingChange { setting: name.to_owned(), from: None, to: "2".to_owned() };
        let recommend = |name: &str, why: &str| Recommended { change: set(name), why: vec![why.to_owned()] };
        app.recommended = vec![recommend("spark.a", "a\u{1b}[2J"), recommend("spark.b", "other")];
        let brief = brief(&app, &Trouble::named("a\u{1b}[2J"));
        assert_eq!(brief.settings, ["--conf spark.a=2"]);
        assert!(brief.saves.starts_with("saving unknown"), "{brief:?}");
        let texts = [brief.title, brief.cause, brief.saves, brief.advice.unwrap()];
        assert!(texts.iter().all(|text| !text.contains('\u{1b}')), "{texts:?}");
    }
}
