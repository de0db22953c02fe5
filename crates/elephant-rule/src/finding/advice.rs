//! Advice: a change to make, with the settings it consists of as data.

use std::fmt;
use std::ops::Deref;

use super::{Name, When};
use elephant_base::state::State;
use elephant_model::model::spark::StageAttempt;

/// In texts, only the changed part of longer lists of options is shown; columns of both values.
const LONG: usize = 120;

/// A change of one setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, State)]
pub struct SettingChange {
    /// The name of the setting, as the application spells it.
    pub setting: String,
    /// The value that the application set; `None` if it set none.
    pub from: Option<String>,
    /// The proposed value.
    pub to: String,
}

/// One line of advice.
#[derive(Debug, Clone, PartialEq, Eq, Default, State)]
pub struct Advice {
    /// What to do, with its settings, for people.
    pub text: String,
    /// The settings to change.
    pub settings: Vec<SettingChange>,
    /// Whether it helps only under a condition that the history does not show; the text names it.
    pub conditional: bool,
    /// Its settings that only support another one of its settings, and have no purpose without that.
    pub serving: Vec<Serving>,
    /// Why a setting stays as it is, if it says only that.
    pub kept_because: Option<String>,
    /// The stage that gets more tasks, and their number, if only the text names it, because no setting decides.
    pub more_tasks: Option<(StageAttempt, u64)>,
    /// The part of the loss that it gives back, in thousandths, if that is not all: of stragglers, those that would have been
    /// copied in time.
    pub gives_back: Option<u16>,
    /// When it holds, as far as the text does not say so yet; the last one is said first.
    pub when: Vec<When>,
    /// The rule whose page it points to.
    pub see_rule: Option<Name>,
}

/// A setting that is changed only because another setting of the same advice is.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Serving {
    /// The setting that serves.
    setting: String,
    /// The setting that it serves.
    served: String,
    /// The change of that setting, if other advice has it.
    elsewhere: Option<SettingChange>,
}

/// Removes advice that proposes only what another entry of the list proposes with more certainty, or earlier.
pub fn drop_repeated(list: &mut Vec<Advice>) {
    let is_in = |(at, advice): (usize, &Advice), (other_at, other): (usize, &Advice)| {
        let contains = advice.settings.iter().all(|change| other.settings.contains(change));
        let is_as_certain = advice.conditional || !other.conditional;
        let is_less = (advice.settings.len(), !advice.conditional, other_at)
            < (other.settings.len(), !other.conditional, at);
        at != other_at && contains && is_as_certain && is_less
    };
    let repeats = |(at, advice): (usize, &Advice)| {
        !advice.settings.is_empty() && list.iter().enumerate().any(|other| is_in((at, advice), other))
    };
    let repeats: Vec<bool> = list.iter().enumerate().map(repeats).collect();
    let mut repeats = repeats.into_iter();
    list.retain(|_| !repeats.next().unwrap_or_default());
}

impl fmt::Display for SettingChange {
    /// `--conf spark.executor.memory=6g (now 4g)`, or `mapreduce.map.memory.mb 4096 → 1024`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, from, to } = self;
        if let Some((gone, new)) = self.changed_words() {
            let (with, instead) = if gone.is_empty() { ("add ", "") } else { (gone.as_str(), " → ") };
            return write!(f, "{setting}: {with}{instead}{new}");
        }
        match (self.is_option(), from) {
            (true, Some(from)) => write!(f, "--conf {setting}={to} (now {from})"),
            (true, None) => write!(f, "--conf {setting}={to}"),
            (false, Some(from)) => write!(f, "{setting} {from} → {to}"),
            (false, None) => write!(f, "{setting} → {to}"),
        }
    }
}

#[doc(hidden)]
impl SettingChange {
    /// Whether it reads as an option, `--conf …`, which is apart from the text before it.
    fn is_option(&self) -> bool {
        self.setting.starts_with("spark.")
    }

    /// Whether the text contains it as an option.
    fn is_pasted(&self) -> bool {
        self.is_option() && self.changed_words().is_none()
    }

    /// The removed and the added words of a long list of options; `None` for a short value. The other words say nothing
    /// about the change.
    fn changed_words(&self) -> Option<(String, String)> {
        let from = self.from.as_deref().filter(|from| from.len() + self.to.len() > LONG)?;
        let words = |text: &str, without: &str| {
            let known: Vec<&str> = without.split_whitespace().collect();
            let words: Vec<&str> = text.split_whitespace().filter(|word| !known.contains(word)).collect();
            words.join(" ")
        };
        let (gone, new) = (words(from, &self.to), words(&self.to, from));
        (from.contains(char::is_whitespace) && !new.is_empty()).then_some((gone, new))
    }

    /// The change as a line to paste into a command: `--conf spark.executor.memory=6g`.
    #[must_use]
    pub fn argument(&self) -> String {
        let Self { setting, to, .. } = self;
        if self.is_option() {
            format!("--conf {}", quoted(&format!("{setting}={to}")))
        } else {
            format!("-D {}", quoted(&format!("{setting}={to}")))
        }
    }
}

/// `text` as one word of a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-=:/,+@%".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[doc(hidden)]
impl Advice {
    /// To keep something as it is.
    #[must_use]
    pub fn to_keep(what: &str, why: &str) -> Self {
        Self { kept_because: Some(why.to_owned()), ..Self::new(format!("keep {what}: {why}")) }
    }

    /// Advice without a setting.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Adds settings: "give tasks more heap" becomes "give tasks more heap: --conf spark.executor.memory=6g (now 4g)".
    #[must_use]
    pub fn set(mut self, settings: impl IntoIterator<Item = SettingChange>) -> Self {
        let before = self.settings.len();
        self.settings.extend(settings);
        let mut last: Option<&SettingChange> = before.checked_sub(1).and_then(|last| self.settings.get(last));
        for change in self.settings.iter().skip(before) {
            self.text += match last {
                _ if self.text.is_empty() => "",
                None => ": ",
                // Options begin with a word of their own, and can be pasted together.
                Some(last) if last.is_pasted() && change.is_pasted() => " ",
                Some(_) => ", ",
            };
            self.text += &change.to_string();
            last = Some(change);
        }
        self
    }

    /// Adds settings of which all others serve the first one.
    #[must_use]
    pub fn set_for_first(mut self, settings: impl IntoIterator<Item = SettingChange>) -> Self {
        let settings: Vec<SettingChange> = settings.into_iter().collect();
        if let Some((first, others)) = settings.split_first() {
            let serving = others.iter().map(|change| Serving {
                setting: change.setting.clone(),
                served: first.setting.clone(),
                elsewhere: None,
            });
            self.serving.extend(serving);
        }
        self.set(settings)
    }

    /// The change that a change of the same advice serves.
    #[must_use]
    pub fn served_by(&self, change: &SettingChange) -> Option<&SettingChange> {
        let serving = self.serving.iter().find(|serving| serving.setting == change.setting)?;
        self.settings.iter().find(|served| served.setting == serving.served)
    }

    /// Marks all its settings as serving a change of other advice.
    #[must_use]
    pub fn for_other(mut self, served: &SettingChange) -> Self {
        let serving = self.settings.iter().map(|change| Serving {
            setting: change.setting.clone(),
            served: served.setting.clone(),
            elsewhere: Some(served.clone()),
        });
        self.serving = serving.collect();
        self
    }

    /// The change of other advice that a change serves.
    #[must_use]
    pub fn served_elsewhere(&self, change: &SettingChange) -> Option<&SettingChange> {
        self.serving.iter().find(|serving| serving.setting == change.setting)?.elsewhere.as_ref()
    }

    /// Removes a change, also from the text, with what separates it from others there.
    pub fn remove(&mut self, change: &SettingChange) {
        self.settings.retain(|known| known != change);
        let shown = change.to_string();
        let separated =
            [format!(", {shown}"), format!("{shown}, "), format!(" {shown}"), format!("{shown} ")];
        if let Some(part) = separated.iter().find(|part| self.text.contains(part.as_str())) {
            self.text = self.text.replacen(part.as_str(), "", 1);
        }
    }

    /// Replaces a change, also in the text.
    pub fn replace(&mut self, change: &SettingChange, by: SettingChange) {
        self.text = self.text.replace(&change.to_string(), &by.to_string());
        if let Some(known) = self.settings.iter_mut().find(|known| *known == change) {
            *known = by;
        }
    }

    /// Continues the text.
    #[must_use]
    pub fn and(mut self, text: &str) -> Self {
        self.text += text;
        self
    }

    /// Makes it hold only under a condition.
    pub fn only(&mut self, when: When) {
        self.when.push(when);
        self.conditional = true;
    }

    /// Writes the conditions before the text.
    pub fn word_conditions(&mut self) {
        for when in self.when.drain(..) {
            self.text.insert_str(0, when.words());
        }
    }

    /// Says that it points to the page of a rule.
    #[must_use]
    pub fn see_rule(self, rule: &'static str) -> Self {
        Self { see_rule: Some(rule.into()), ..self }
    }

    /// Whether it asks for the same as other advice: the same changes, as certainly. Two lines without a setting are
    /// the same if they give a stage the same number of tasks, or are one instruction.
    #[must_use]
    pub fn asks_the_same(&self, other: &Self) -> bool {
        let is_same_instruction = || match (self.more_tasks, other.more_tasks) {
            (Some(own), Some(other)) => own == other,
            _ => self.text == other.text,
        };
        self.settings == other.settings
            && self.conditional == other.conditional
            && self.when == other.when
            && (!self.settings.is_empty() || is_same_instruction())
    }

    /// Names the number of tasks in the text that a stage gets.
    #[must_use]
    pub fn for_tasks(self, stage: StageAttempt, tasks: u64) -> Self {
        Self { more_tasks: Some((stage, tasks)), ..self }
    }

    /// Says which part of the loss it gives back.
    #[must_use]
    pub fn giving_back(self, thousandths: Option<u16>) -> Self {
        Self { gives_back: thousandths, ..self }
    }

    /// Marks advice that depends on something that the history does not show.
    #[must_use]
    pub fn conditional(self) -> Self {
        Self { conditional: true, ..self }
    }
}

impl From<String> for Advice {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Advice {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// Advice reads as its text.
impl Deref for Advice {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<&str> for Advice {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(setting: &str, from: Option<&str>, to: &str) -> SettingChange {
        SettingChange { setting: setting.to_owned(), from: from.map(str::to_owned), to: to.to_owned() }
    }

    #[test]
    fn settings_are_part_of_the_text() {
        let changes = [change("spark.a", Some("1"), "2"), change("spark.b", None, "3")];
        let advice = Advice::new("try").set(changes.clone()).and(", or not");
        assert_eq!(advice.text, "try: --conf spark.a=2 (now 1) --conf spark.b=3, or not");
        assert_eq!(advice.settings, changes);
        assert_eq!(Advice::new("").set([change("spark.b", None, "3")]).text, "--conf spark.b=3");
        assert_eq!(Advice::new("try").set([]).text, "try");
        assert_eq!(change("a.b", Some("1"), "2").to_string(), "a.b 1 → 2");
        let several = Advice::new("try").set([change("a.b", Some("1"), "2"), change("a.c", None, "3")]);
        assert_eq!(several.text, "try: a.b 1 → 2, a.c → 3");
        let more = several.set([change("spark.d", None, "4")]).set([change("spark.e", None, "5")]);
        assert_eq!(more.text, "try: a.b 1 → 2, a.c → 3, --conf spark.d=4 --conf spark.e=5");
    }

    #[test]
    fn the_last_condition_is_said_first_and_once() {
        let mut advice = Advice::new("use fewer executors");
        advice.only(When::MemoryMatters);
        advice.only(When::RunSucceeds);
        advice.word_conditions();
        advice.word_conditions();
        let text = "once it succeeds, if memory matters more than run time, instead use fewer executors";
        assert_eq!((advice.text.as_str(), advice.conditional), (text, true));
    }

    #[test]
    fn the_same_changes_are_the_same_advice_whatever_the_words() {
        let set = |words: &str, to: &str| Advice::new(words).set([change("spark.a", Some("1"), to)]);
        assert!(set("raise it", "2").asks_the_same(&set("give tasks more", "2")));
        assert!(!set("raise it", "2").asks_the_same(&set("raise it", "3")));
        assert!(!set("raise it", "2").asks_the_same(&set("raise it", "2").conditional()));
        let stage = StageAttempt { stage: 1, attempt: 0 };
        let more = |words: &str, tasks| Advice::new(words).for_tasks(stage, tasks);
        assert!(more("more", 9).asks_the_same(&more("pass 9", 9)));
        assert!(!more("more", 9).asks_the_same(&more("more", 8)));
        assert!(!Advice::new("repair it").asks_the_same(&Advice::new("replace it")));
    }

    #[test]
    fn settings_know_which_one_they_serve() {
        let [cores, number, other] =
            [change("spark.a", Some("8"), "4"), change("spark.b", None, "3"), change("spark.c", None, "1")];
        let advice = Advice::new("try").set_for_first([cores.clone(), number.clone()]).set([other.clone()]);
        assert_eq!(advice.served_by(&number), Some(&cores));
        assert_eq!((advice.served_by(&cores), advice.served_by(&other)), (None, None));
        let mut fewer = advice.clone();
        fewer.remove(&cores);
        assert_eq!(fewer.text, "try: --conf spark.b=3 --conf spark.c=1");
        assert_eq!((fewer.settings.len(), fewer.served_by(&number)), (2, None));
        fewer.replace(&number, change("spark.b", None, "9"));
        assert_eq!(fewer.text, "try: --conf spark.b=9 --conf spark.c=1");
    }

    #[test]
    fn of_a_long_list_only_the_change_is_shown() {
        let before = ["--add-opens=java.base/java.lang=ALL-UNNAMED"; 8].join(" ");
        let key = "spark.executor.extraJavaOptions";
        let added = change(key, Some(&before), &format!("{before} -Xss4m"));
        assert_eq!(added.to_string(), format!("{key}: add -Xss4m"));
        assert!(added.argument().contains(&before));
        let replaced = change(key, Some(&format!("-Xss1m {before}")), &format!("-Xss4m {before}"));
        assert_eq!(replaced.to_string(), format!("{key}: -Xss1m → -Xss4m"));
        let advice = Advice::new("try").set([added, change("spark.b", None, "3")]);
        assert_eq!(advice.text, format!("try: {key}: add -Xss4m, --conf spark.b=3"));
    }

    #[test]
    fn arguments_survive_a_shell() {
        assert_eq!(change("spark.a", Some("1"), "2g").argument(), "--conf spark.a=2g");
        let opts = change("mapreduce.map.java.opts", None, "-Xmx1g -XX:+UseG1GC");
        assert_eq!(opts.argument(), "-D 'mapreduce.map.java.opts=-Xmx1g -XX:+UseG1GC'");
        assert_eq!(change("a", None, "it's").argument(), r"-D 'a=it'\''s'");
    }
}
