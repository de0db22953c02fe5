//! How `OpenLineage` calls a run: what its integration in Spark reads from the settings of the application.
//!
//! The integration takes the run id of an application from `spark.openlineage.applicationRunId` (since version 1.42), and
//! otherwise makes a random one, which no event log has.

use serde::{Deserialize, Serialize};

use elephant_model::model::conf::Conf;

/// The settings with these ends of their names, below `spark.openlineage.`.
const BELOW: &str = "spark.openlineage.";

/// How lineage calls a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lineage {
    /// The run id that the integration used, if a setting names it.
    pub run: Option<String>,
    /// The namespace of its jobs.
    pub namespace: Option<String>,
    /// The name that replaces that of the application.
    pub name: Option<String>,
    /// The run that submitted the application.
    pub parent: Option<Parent>,
}

/// The run that submitted an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Its id.
    pub run: String,
    /// The namespace of its job.
    pub namespace: String,
    /// The name of its job.
    pub job: String,
}

impl Lineage {
    /// What these settings say; `None` if they say nothing.
    pub(crate) fn of(conf: &Conf) -> Option<Self> {
        let setting = |name: &str| {
            let value = conf.raw(&format!("{BELOW}{name}"))?;
            let value = value.trim();
            (!value.is_empty() && !value.contains("(redacted)")).then(|| value.to_owned())
        };
        let id = |name: &str| setting(name).filter(|id| is_uuid(id));
        let parent = id("parentRunId").zip(setting("parentJobName"));
        let parent = parent.map(|(run, job)| {
            let namespace = setting("parentJobNamespace").or_else(|| setting("namespace"));
            Parent { run, namespace: namespace.unwrap_or_else(|| "default".to_owned()), job }
        });
        let (namespace, name) = (setting("namespace"), setting("appName"));
        let known = Self { run: id("applicationRunId"), namespace, name, parent };
        (known != Self::default()).then_some(known)
    }
}

/// Whether it is a UUID as `OpenLineage` requires: any version, with hyphens.
pub(crate) fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(is_hex)
}

/// The name of a job as the integration writes it: words that begin with a capital, or after a blank, a hyphen or an
/// underscore, are separated by an underscore; all in lower case.
pub(crate) fn normalised(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let at = |place: usize| letters.get(place).copied();
    let separates = |c: char| c.is_whitespace() || matches!(c, '-' | '_');
    let begins_word = |place: usize| {
        let Some(c) = at(place) else { return false };
        let before = place.checked_sub(1).and_then(at);
        let after = at(place + 1);
        let small_or_between = |c: char| c.is_ascii_lowercase() || separates(c);
        let of_word = before.is_some() && after.is_some_and(small_or_between);
        let after_small = before.is_some_and(|before| !before.is_ascii_uppercase());
        let after_blank = before.is_some_and(separates) && (c.is_ascii_lowercase() || c.is_ascii_digit());
        c.is_ascii_uppercase() && (of_word || after_small) || after_blank
    };
    let (mut normal, mut place) = (String::new(), 0);
    while let Some(c) = at(place) {
        // The separator is replaced with the underscore.
        let word = if separates(c) && begins_word(place + 1) { place + 1 } else { place };
        if begins_word(word) {
            normal.push('_');
        }
        normal.extend(at(word).into_iter().flat_map(char::to_lowercase));
        place = word + 1;
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::conf::Property;

    fn conf(settings: &[(&str, &str)]) -> Conf {
        let mut conf = Conf::default();
        for (name, value) in settings {
            conf.insert(format!("{BELOW}{name}"), Property { value: (*value).to_owned(), is_final: false });
        }
        conf
    }

    const RUN: &str = "018f3b2c-7e6a-7c3d-9f1e-0123456789ab";

    #[test]
    fn only_valid_ids_are_taken_from_settings() {
        let of = |settings: &[(&str, &str)]| Lineage::of(&conf(settings));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("applicationRunId", RUN)]).unwrap().run.as_deref(), Some(RUN));
        assert_eq!(of(&[("applicationRunId", "manual__2026-11-01T00:00:00")]), None);
        assert_eq!(of(&[("applicationRunId", "*********(redacted)")]), None);
        let parent = of(&[("parentRunId", RUN), ("parentJobName", "dag.task"), ("namespace", "prod")]);
        let expected =
            Parent { run: RUN.to_owned(), namespace: "prod".to_owned(), job: "dag.task".to_owned() };
        assert_eq!(parent.unwrap().parent, Some(expected));
        assert_eq!(of(&[("parentRunId", RUN)]), None, "the name of its job is unknown");
    }

    #[test]
    fn names_are_those_of_the_integration() {
        for (name, expected) in [
            ("nightly", "nightly"),
            ("NightlyEtl", "nightly_etl"),
            ("nightly etl", "nightly_etl"),
            ("Nightly-Etl", "nightly_etl"),
            ("already_snake_case", "already_snake_case"),
            ("SQL Report", "sq_l_report"),
            ("", ""),
        ] {
            assert_eq!(normalised(name), expected, "{name}");
        }
    }
}
