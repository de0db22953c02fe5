//! Options that limit the resources that reading a history may take.

use clap::Args;

use elephant_base::limits::Limits;
use elephant_base::units::{Bytes, Millis};
use elephant_rule::params::quantity::{Duration, Quantity, Size};

const HEADING: &str = "Limits for each history (the word none removes a limit)";

#[derive(Debug, Clone, Copy, Args)]
pub(super) struct LimitArgs {
    /// Stop reading a history after this many bytes, counted after decompression
    #[arg(id = "max-decoded", long, allow_hyphen_values = true, value_name = "SIZE", value_parser = size, default_value = "64GiB", help_heading = HEADING)]
    decoded: Limit<Bytes>,
    /// Stop reading a compressed history when it decompresses to more than N times its stored size and more than 1 GiB
    #[arg(id = "max-ratio", long, allow_hyphen_values = true, value_name = "N", value_parser = number, default_value = "1000", help_heading = HEADING)]
    ratio: Limit<u64>,
    /// Skip lines that are longer than this
    #[arg(id = "max-line", long, allow_hyphen_values = true, value_name = "SIZE", value_parser = size, default_value = "64MiB", help_heading = HEADING)]
    line: Limit<Bytes>,
    /// Skip tasks, attempts and cached blocks (Spark) beyond N, and stages, jobs, executors and queries beyond a tenth of N
    #[arg(id = "max-tasks", long, allow_hyphen_values = true, value_name = "N", value_parser = number, default_value = "20000000", help_heading = HEADING)]
    tasks: Limit<u64>,
    /// Stop reading a history when its data takes more memory than this; histories that are read at the same time share it
    #[arg(id = "max-memory", long, allow_hyphen_values = true, value_name = "SIZE", value_parser = size, default_value = "2GiB", help_heading = HEADING)]
    memory: Limit<Bytes>,
    /// Stop reading a history after this time; two runs may then give different results
    #[arg(id = "max-time", long, allow_hyphen_values = true, value_name = "TIME", value_parser = time, default_value = "none", help_heading = HEADING)]
    time: Limit<Millis>,
}

/// A limit, or the word `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limit<T>(Option<T>);

impl<T: Copy> Limit<T> {
    /// `None` for no limit.
    pub(super) const fn limit(self) -> Option<T> {
        self.0
    }
}

impl LimitArgs {
    /// The limits for the parsers.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            decoded: self.decoded.0,
            ratio: self.ratio.0,
            line: self.line.0,
            tasks: self.tasks.0,
            memory: self.memory.0,
            time: self.time.0,
        }
    }
}

/// Parses a limit. 0 is rejected, because nothing could be read.
fn limit<T: Default + PartialEq>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Limit<T>, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    let not_above_0 = || "it must be above 0; \"none\" removes the limit".to_owned();
    if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit())) {
        return Err(not_above_0());
    }
    let value = read(text)?;
    if value == T::default() {
        return Err(not_above_0());
    }
    Ok(Limit(Some(value)))
}

/// Parses a size, or the word `none`.
pub(super) fn size(text: &str) -> Result<Limit<Bytes>, String> {
    limit(text, |text| {
        let quantity: Quantity<Size> = Quantity::parse(text)?;
        Bytes::from_f64(quantity.get()).ok_or_else(|| format!("\"{text}\" is not a size"))
    })
}

fn time(text: &str) -> Result<Limit<Millis>, String> {
    limit(text, |text| {
        let quantity: Quantity<Duration> = Quantity::parse(text)?;
        Millis::from_f64(quantity.get()).ok_or_else(|| format!("\"{text}\" is not a duration"))
    })
}

fn number(text: &str) -> Result<Limit<u64>, String> {
    limit(text, |text| text.parse().map_err(|_| format!("expected a whole number, got \"{text}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        limits: LimitArgs,
    }

    #[test]
    fn defaults_are_the_limits_of_the_library() {
        assert_eq!(Command::parse_from(["x"]).limits.limits(), Limits::default());
    }

    #[test]
    fn limits_have_units_or_are_none() {
        assert_eq!(size("1.5GiB"), Ok(Limit(Some(Bytes::from_mib(1536)))));
        assert_eq!(time("10min"), Ok(Limit(Some(Millis::from_secs(600)))));
        assert_eq!(number("7"), Ok(Limit(Some(7))));
        assert_eq!(
            (size("none"), time("none"), number("none")),
            (Ok(Limit(None)), Ok(Limit(None)), Ok(Limit(None)))
        );
        for wrong in ["0", "-1", "5", "5 apples", "", "NaN", "1e400GiB"] {
            assert!(size(wrong).is_err() && time(wrong).is_err(), "{wrong}");
        }
        for negative in ["-1", "-5MiB", "-1.5h"] {
            let results = [size(negative).map(drop), time(negative).map(drop), number(negative).map(drop)];
            let is_rejected = |result: &Result<(), String>| {
                result.as_ref().is_err_and(|message| message.contains("above 0"))
            };
            assert!(results.iter().all(is_rejected), "{results:?}");
        }
        assert!(number("0").is_err() && number("1.5").is_err() && number("99999999999999999999").is_err());
    }
}
