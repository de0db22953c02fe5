//! Combines thresholds into a rule's severity: `min` if all must be passed, `max` if one is enough.

use super::mistake::Mistake;
use super::syntax::{Expr, Kind, parse};
use elephant_base::severity::Severity;
use elephant_rule::params::words::nearest;

/// A combination of thresholds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Combination {
    /// One threshold, by its index.
    Threshold(usize),
    /// The lowest severity: all must be passed.
    Min(Vec<Self>),
    /// The highest severity: one is enough.
    Max(Vec<Self>),
}

impl Combination {
    /// Parses a combination of the thresholds called `names`.
    ///
    /// # Errors
    /// Every mistake in it.
    pub(super) fn parse(source: &str, names: &[String]) -> Result<Self, Vec<Mistake>> {
        let tree = parse(source).map_err(|mistake| vec![mistake])?;
        let mut mistakes = Vec::new();
        let combination = read(&tree, names, &mut mistakes);
        combination.filter(|_| mistakes.is_empty()).ok_or(mistakes)
    }

    /// The severity and the deciding threshold; `of` returns the severity of a threshold. `min` is known if
    /// all its parts are known, `max` if one of them is.
    ///
    /// # Errors
    /// The error of the first unknown threshold.
    pub(super) fn severity<E>(
        &self,
        of: &mut dyn FnMut(usize) -> Result<Severity, E>,
    ) -> Result<(Severity, usize), E> {
        match self {
            Self::Threshold(place) => Ok((of(*place)?, *place)),
            Self::Min(parts) => {
                let known: Vec<_> = parts.iter().map(|part| part.severity(of)).collect::<Result<_, E>>()?;
                // The first of equal severities decides.
                Ok(known.into_iter().min_by_key(|(severity, _)| *severity).unwrap_or((Severity::None, 0)))
            }
            Self::Max(parts) => {
                let mut worst: Option<Result<(Severity, usize), E>> = None;
                for part in parts {
                    let next = part.severity(of);
                    worst = Some(match (worst, next) {
                        (None | Some(Err(_)), next @ Ok(_)) | (None, next) => next,
                        (Some(Ok(before)), Ok(next)) => Ok(if next.0 > before.0 { next } else { before }),
                        (Some(before), Err(_)) => before,
                    });
                }
                worst.unwrap_or(Ok((Severity::None, 0)))
            }
        }
    }

    /// Calls `see` with each threshold in it.
    pub(super) fn thresholds(&self, see: &mut dyn FnMut(usize)) {
        match self {
            Self::Threshold(place) => see(*place),
            Self::Min(parts) | Self::Max(parts) => parts.iter().for_each(|part| part.thresholds(see)),
        }
    }
}

const HOW: &str = "write min(a, b) if all thresholds must be passed, max(a, b) if one is enough";

fn read(expr: &Expr, names: &[String], mistakes: &mut Vec<Mistake>) -> Option<Combination> {
    let mut wrong = |message: String, help: String| {
        mistakes.push(Mistake::new(expr.mark.start, expr.mark.len(), message).help(help));
        None
    };
    match &expr.kind {
        Kind::Name(name) => {
            if let Some(place) = names.iter().position(|known| known == name) {
                return Some(Combination::Threshold(place));
            }
            let near = nearest(name, names.iter().map(String::as_str));
            let help = near.map_or_else(
                || match names {
                    [] => "the rule has no thresholds; add them under `thresholds`".to_owned(),
                    [name] => format!("the only threshold is {name}"),
                    names => format!("thresholds are {}", names.join(", ")),
                },
                |near| format!("did you mean \"{near}\"?"),
            );
            wrong(format!("there is no threshold \"{name}\""), help)
        }
        Kind::Call { name, args } if matches!(name.as_str(), "min" | "max") => {
            if args.is_empty() {
                return wrong(format!("{name} needs at least one threshold"), HOW.to_owned());
            }
            // All parts are read, to report the mistakes in each.
            let parts: Vec<_> = args.iter().map(|arg| read(arg, names, mistakes)).collect();
            let parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
            Some(if name == "min" { Combination::Min(parts) } else { Combination::Max(parts) })
        }
        _ => wrong("a severity may only contain thresholds, min and max".to_owned(), HOW.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn severity(source: &str, known: &[Option<Severity>]) -> Result<(Severity, usize), usize> {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let combination = Combination::parse(source, &names).unwrap();
        combination.severity(&mut |place| known[place].ok_or(place))
    }

    #[test]
    fn all_or_one() {
        use Severity::{Critical, Low, Moderate};
        let known = [Some(Low), Some(Critical), Some(Moderate)];
        assert_eq!(severity("min(a, b)", &known), Ok((Low, 0)));
        assert_eq!(severity("max(a, b)", &known), Ok((Critical, 1)));
        assert_eq!(severity("max(a, min(b, c))", &known), Ok((Moderate, 2)));
        assert_eq!(severity("b", &known), Ok((Critical, 1)));
    }

    #[test]
    fn an_unknown_threshold_makes_min_unknown_but_not_max() {
        use Severity::{Low, None as Harmless};
        let known = [Some(Low), None, Some(Harmless)];
        assert_eq!(severity("max(b, a)", &known), Ok((Low, 0)));
        assert_eq!(severity("max(a, b)", &known), Ok((Low, 0)));
        assert_eq!(severity("min(b, c)", &known), Err(1));
        assert_eq!(severity("max(b, b)", &known), Err(1));
    }

    #[test]
    fn mistakes_have_a_position() {
        let names = ["gc_ratio".to_owned()];
        let mistakes = Combination::parse("min(gc_ratoi, 3)", &names).unwrap_err();
        assert_eq!((mistakes[0].at, mistakes[1].at), (4, 14));
        assert_eq!(mistakes[0].help.as_deref(), Some("did you mean \"gc_ratio\"?"));
    }
}
