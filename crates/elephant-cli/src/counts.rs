//! Parsers of numbers and durations on the command line.

use std::num::NonZeroUsize;

use elephant_base::units::Millis;
use elephant_rule::params::quantity::{Duration, Quantity};

/// A whole number, 0 or more.
pub(super) fn count<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let count = text.parse().ok().and_then(|count: u64| T::try_from(count).ok());
    count.ok_or_else(|| format!("expected a whole number of at least 0, got \"{text}\""))
}

/// A whole number, 1 or more.
pub(super) fn positive_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| format!("expected a whole number of at least 1, got \"{text}\""))
}

/// A number of threads.
pub(super) fn threads(text: &str) -> Result<u16, String> {
    let threads = text.parse().ok().filter(|threads| (1..=1024).contains(threads));
    threads.ok_or_else(|| format!("expected a whole number from 1 to 1024, got \"{text}\""))
}

/// A quantile above 0; 1 is the maximum.
pub(super) fn quantile(text: &str) -> Result<f64, String> {
    let quantile = text.parse().ok().filter(|quantile| *quantile > 0.0 && *quantile <= 1.0);
    quantile.ok_or_else(|| format!("expected a number above 0 and at most 1, got \"{text}\""))
}

/// A number above 0.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("\"{text}\" is not a number"))?;
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err("it must be above 0".to_owned()) }
}

/// A time with its unit, such as 30s or 400d.
pub(super) fn duration(text: &str) -> Result<Millis, String> {
    let quantity: Quantity<Duration> = Quantity::parse(text)?;
    Millis::from_f64(quantity.get()).ok_or_else(|| format!("\"{text}\" is not a duration"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_at_most_1() {
        assert!(quantile("0").is_err() && quantile("2").is_err() && quantile("NaN").is_err());
        assert_eq!((quantile("0.9"), quantile("1")), (Ok(0.9), Ok(1.0)));
    }

    #[test]
    fn only_whole_numbers_in_range_are_counts() {
        assert_eq!((count("0"), count("7")), (Ok(0usize), Ok(7u64)));
        assert_eq!(positive_count("7").map(NonZeroUsize::get), Ok(7));
        assert_eq!((threads("1"), threads("1024")), (Ok(1), Ok(1024)));
        for bad in ["-1", "x", "", "1.5", "99999999999999999999999"] {
            assert!(
                count::<u64>(bad).is_err() && positive_count(bad).is_err() && threads(bad).is_err(),
                "{bad}"
            );
        }
        assert_eq!(positive_count("0").unwrap_err(), "expected a whole number of at least 1, got \"0\"");
        assert!(threads("0").is_err() && threads("1025").is_err());
    }
}
