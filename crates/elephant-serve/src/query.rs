//! The parameters of a request, read by their kinds.

use chrono::{NaiveDate, NaiveTime};

use super::failure::Failure;
use super::route::{Kind, Parameter};
use elephant_base::units::Timestamp;
use elephant_report::site::named;
use elephant_ruleset::Pattern;

/// Longer values are refused: no name is as long, and patterns take time.
const LONGEST: usize = 1000;

/// The parameters of a request that have a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Asked(Vec<(&'static str, String)>);

impl Asked {
    /// Reads the parameters that a route has. Forms send empty values for fields that are not filled in, so that these
    /// are the same as none.
    pub(crate) fn read<'p>(
        parameters: &'static [Parameter],
        path: impl Iterator<Item = (&'p str, &'p str)>,
        query: &str,
    ) -> Result<Self, Failure> {
        let mut asked = Self::default();
        for (name, value) in path {
            let known = parameters.iter().find(|known| known.is_in_path() && known.name == name);
            asked.add(known, name, named(value))?;
        }
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let known = parameters.iter().find(|known| !known.is_in_path() && known.name == name);
            asked.add(known, &name, value.trim())?;
        }
        Ok(asked)
    }

    fn add(&mut self, known: Option<&Parameter>, name: &str, value: &str) -> Result<(), Failure> {
        let Some(parameter) = known else {
            return Err(Failure::Bad(format!("there is no parameter \"{}\" here", shown(name))));
        };
        if value.is_empty() {
            return Ok(());
        }
        if self.text(parameter.name).is_some() {
            return Err(Failure::Bad(format!("the parameter {} has several values", parameter.name)));
        }
        if value.len() > LONGEST {
            let name = parameter.name;
            return Err(Failure::Bad(format!("the parameter {name} is longer than {LONGEST} bytes")));
        }
        if let Some(expected) = misfit(parameter.kind, value) {
            let (name, value) = (parameter.name, shown(value));
            return Err(Failure::Bad(format!("the parameter {name} is \"{value}\", but must be {expected}")));
        }
        self.0.push((parameter.name, value.to_owned()));
        Ok(())
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.all().find_map(|(known, value)| (known == name).then_some(value))
    }

    pub(crate) fn pattern(&self, name: &str) -> Option<Pattern> {
        Pattern::parse(self.text(name)?).ok()
    }

    pub(crate) fn moment(&self, name: &str) -> Option<Timestamp> {
        moment(self.text(name)?)
    }

    /// The number of lines, or the usual one.
    pub(crate) fn count(&self, parameter: Parameter) -> usize {
        let Kind::Count { usual, .. } = parameter.kind else { return 0 };
        self.text(parameter.name).and_then(|value| value.parse().ok()).unwrap_or(usual)
    }
}

/// What the value must be instead, if it does not fit.
fn misfit(kind: Kind, value: &str) -> Option<String> {
    match kind {
        Kind::Path | Kind::Text => None,
        Kind::Pattern => Pattern::parse(value)
            .err()
            .map(|error| format!("a word, a glob or a regular expression: {error}")),
        Kind::Moment => {
            moment(value).is_none().then(|| "a time such as 2026-11-20 or 2026-11-20T12:00:00Z".to_owned())
        }
        Kind::Count { most, .. } => {
            let fits = value.parse::<usize>().is_ok_and(|count| (1..=most).contains(&count));
            (!fits).then(|| format!("a number from 1 to {most}"))
        }
        Kind::Among(words) | Kind::PathAmong(words) => {
            (!words.contains(&value)).then(|| format!("one of {}", words.join(", ")))
        }
    }
}

/// A time with its zone, or the beginning of a day in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    match text.parse::<NaiveDate>() {
        Ok(day) => Some(Timestamp::from_millis(day.and_time(NaiveTime::MIN).and_utc().timestamp_millis())),
        Err(_) => Timestamp::from_rfc3339(text),
    }
}

/// A text from a request, in a message.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter { name: "id", about: "", kind: Kind::Path },
        Parameter { name: "user", about: "", kind: Kind::Pattern },
        Parameter { name: "from", about: "", kind: Kind::Moment },
        Parameter { name: "limit", about: "", kind: Kind::Count { usual: 20, most: 100 } },
        Parameter { name: "status", about: "", kind: Kind::Among(&["failed", "killed"]) },
    ];

    fn read(query: &str) -> Result<Asked, String> {
        Asked::read(PARAMETERS, [("id", "a/b")].into_iter(), query).map_err(|failure| failure.to_string())
    }

    #[test]
    fn values_have_their_kinds() {
        let asked = read("user=etl-*&from=1970-01-02&limit=&status=killed").unwrap();
        assert_eq!((asked.text("id"), asked.text("status")), (Some("a/b"), Some("killed")));
        assert!(asked.pattern("user").unwrap().matches("etl-1"));
        assert_eq!(asked.moment("from").map(Timestamp::as_millis), Some(86_400_000));
        assert_eq!(asked.count(PARAMETERS[3]), 20);
        assert_eq!(read("limit=7").unwrap().count(PARAMETERS[3]), 7);
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for (query, message) in [
            ("users=a", "there is no parameter \"users\" here"),
            ("id=b", "there is no parameter \"id\" here"),
            ("status=failed&status=killed", "the parameter status has several values"),
            ("status=x", "the parameter status is \"x\", but must be one of failed, killed"),
            ("limit=0", "the parameter limit is \"0\", but must be a number from 1 to 100"),
            ("limit=101", "the parameter limit is \"101\", but must be a number from 1 to 100"),
            (
                "from=%0Ayesterday",
                "the parameter from is \"yesterday\", but must be a time such as 2026-11-20 or \
              2026-11-20T12:00:00Z",
            ),
        ] {
            assert_eq!(read(query), Err(message.to_owned()), "{query}");
        }
        assert!(
            read("user=/(/").unwrap_err().starts_with("the parameter user is \"/(/\", but must be a word")
        );
        assert!(read(&format!("user={}", "a".repeat(1001))).unwrap_err().contains("longer than 1000 bytes"));
        assert!(read("user=%FF%FE%00").is_ok());
    }
}
