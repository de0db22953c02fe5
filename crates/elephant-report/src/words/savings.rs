//! Savings in words, with their errors.

use elephant_base::units::{Millis, three_digits_grouped};
use elephant_engine::results::ApplicationReport;
use elephant_verdict::savings::{Amounts, Range, SavingStatus, TroubleSavings};

/// The first amount of [`saves`]: "saves 9.0 s ± 1.5 s", "saves up to 3 GB·h", "saving unknown".
pub(crate) fn saves_briefly(savings: &TroubleSavings, currency: Option<&str>) -> String {
    let first = |amounts: &Amounts| named_parts(amounts, savings.share_cost, currency).into_iter().next();
    let amounts = match savings.status {
        SavingStatus::Estimated => savings.share.as_ref(),
        SavingStatus::Unknown(_) => savings.at_most.as_ref(),
        SavingStatus::WithinError => None,
    };
    match (amounts.and_then(first), &savings.status) {
        (Some(amount), _) => format!("saves {amount}"),
        (None, SavingStatus::Unknown(_)) if amounts.is_none() => "saving unknown".to_owned(),
        (None, _) => "saves little".to_owned(),
    }
}

/// What [`saves`] says beyond [`saves_briefly`]; `None` if that is all.
pub(crate) fn saves_besides(savings: &TroubleSavings, currency: Option<&str>) -> Option<String> {
    let (amounts, why) = match &savings.status {
        SavingStatus::Estimated => (savings.share.as_ref(), savings.besides().map(str::to_owned)),
        SavingStatus::Unknown(why) => (savings.at_most.as_ref(), Some(why.to_string())),
        SavingStatus::WithinError => (None, None),
    };
    let parts = amounts.map(|amounts| named_parts(amounts, savings.share_cost, currency)).unwrap_or_default();
    let others = parts.get(1..).filter(|others| !others.is_empty());
    let others = others.map(|others| format!("also saves {}", others.join(", ")));
    let more = taken(savings.more_gb_hours).map(|more| format!("but takes {more} more"));
    let all: Vec<String> = [others, why, more].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// The currency of an application's costs.
pub(crate) fn currency(app: &ApplicationReport) -> Option<&str> {
    app.savings.as_ref()?.currency.as_deref()
}

/// "saves 9.0 s ± 1.5 s, 0.01 core-hours, 0.2 GB·h", with the money first; or why that is not known.
pub(crate) fn saves(savings: &TroubleSavings, currency: Option<&str>) -> String {
    let saves = match (&savings.status, &savings.share) {
        (SavingStatus::Estimated, Some(share)) => {
            let besides = savings.besides().map(|besides| format!(", {besides}")).unwrap_or_default();
            format!("saves {}{besides}", saved(share, savings.share_cost, currency))
        }
        (SavingStatus::WithinError, _) if savings.alone.as_ref().is_some_and(Amounts::is_nothing) => {
            "the run would take as long without it".to_owned()
        }
        (SavingStatus::Estimated | SavingStatus::WithinError, _) => "saves too little to tell".to_owned(),
        (SavingStatus::Unknown(why), _) => match &savings.at_most {
            Some(limit) => format!("saves {} ({why})", saved(limit, savings.share_cost, currency)),
            None => format!("saving unknown ({why})"),
        },
    };
    let more = taken(savings.more_gb_hours).map(|more| format!(", but takes {more} more"));
    saves + &more.unwrap_or_default()
}

/// "0.5 GB·h" of memory that remedies take beyond what was recorded; `None` if that is nothing.
pub(crate) fn taken(more: Option<Range>) -> Option<String> {
    let more = more.filter(|more| more.point >= 0.01)?;
    Some(format!("{} GB·h", in_range(more, as_precise_as(more.high))))
}

/// Shorter times in milliseconds are not named, because they would read as zero.
pub(crate) const LEAST_MS: f64 = 100.0;

/// "9.0 s ± 1.5 s, 0.01 core-hours, 0.2 GB·h", without amounts that round to nothing.
pub(crate) fn saved(amounts: &Amounts, cost: Option<Range>, currency: Option<&str>) -> String {
    saved_parts(amounts, cost, currency).join(", ")
}

/// The parts of [`saved`] as a list.
pub(crate) fn saved_parts(amounts: &Amounts, cost: Option<Range>, currency: Option<&str>) -> Vec<String> {
    let parts = named_parts(amounts, cost, currency);
    if parts.is_empty() { vec!["less than 0.01 GB·h".to_owned()] } else { parts }
}

/// The amounts that do not round to nothing; empty if all do.
pub(crate) fn named_parts(amounts: &Amounts, cost: Option<Range>, currency: Option<&str>) -> Vec<String> {
    let money = cost.zip(currency).filter(|(cost, _)| cost.high >= 0.005);
    let money =
        money.map(|(cost, currency)| format!("{} {currency}", in_range(cost, |value| format!("{value:.2}"))));
    let time = Some(amounts.wall_ms).filter(|time| time.high >= LEAST_MS).map(|time| in_range(time, millis));
    let hours = |hours: Option<Range>, unit: &str| {
        let hours = hours.filter(|hours| hours.high >= 0.01)?;
        Some(format!("{} {unit}", in_range(hours, as_precise_as(hours.high))))
    };
    let cores = hours(amounts.core_hours, "core-hours");
    let memory = hours(amounts.gb_hours, "GB·h");
    [money, time, cores, memory].into_iter().flatten().collect()
}

/// The first of these amounts in the order of their weight: "2.9 core-hours", or "about 2.9 core-hours" with an error.
pub(crate) fn saved_briefly(amounts: &Amounts, cost: Option<Range>, currency: Option<&str>) -> String {
    let at_least = |range: Range, least: f64| Some(range).filter(|range| range.point >= least);
    let money = cost.and_then(|cost| at_least(cost, 0.005)).zip(currency);
    let money = money.map(|(cost, currency)| {
        let cost = briefly_in_range(cost, |value| format!("{value:.2}"));
        format!("{cost} {currency}")
    });
    let hours = |hours: Option<Range>, unit: &str| {
        let hours = at_least(hours?, 0.01)?;
        Some(format!("{} {unit}", briefly_in_range(hours, three_digits_grouped)))
    };
    money
        .or_else(|| hours(amounts.core_hours, "core-hours"))
        .or_else(|| hours(amounts.gb_hours, "GB·h"))
        .or_else(|| at_least(amounts.wall_ms, 100.0).map(|time| briefly_in_range(time, millis)))
        .unwrap_or_else(|| "< 0.01 GB·h".to_owned())
}

/// The same range as [`in_range`], with "about" for its half width.
fn briefly_in_range(range: Range, show: impl Fn(f64) -> String) -> String {
    let text = in_range(range, show);
    text.split_once(" ± ").map_or(text.clone(), |(point, _)| format!("about {point}"))
}

/// "9.0 s ± 1.5 s"; a wide range as "up to 9.0 s" or "3.0 s to 9.0 s".
fn in_range(range: Range, show: impl Fn(f64) -> String) -> String {
    let Range { low, point, high } = range;
    let (low, half) = (low.max(0.0), (high - low.max(0.0)) / 2.0);
    if half <= point * 0.005 {
        show(point)
    } else if low <= high * 0.05 {
        format!("up to {}", show(high))
    } else if half > point * 0.5 {
        format!("{} to {}", show(low), show(high))
    } else if show(half) == show(0.0) {
        // An error that reads as zero says nothing.
        show(point)
    } else {
        format!("{} ± {}", show(point), show(half))
    }
}

/// Milliseconds as a time.
pub(crate) fn millis(value: f64) -> String {
    Millis::from_f64(value.round()).unwrap_or_default().to_string()
}

/// Numbers with as many decimals as `largest` has with three digits, but not more than two: "1.39 ± 0.06".
fn as_precise_as(largest: f64) -> impl Fn(f64) -> String {
    let decimals = match largest {
        largest if largest >= 100.0 => 0,
        largest if largest >= 10.0 => 1,
        _ => 2,
    };
    move |value| format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_saving_is_one_amount() {
        let exactly = |value: f64| Range { low: value, point: value, high: value };
        let amounts = |cores: f64, memory: f64, time: f64| Amounts {
            wall_ms: exactly(time),
            core_hours: Some(exactly(cores)),
            gb_hours: Some(exactly(memory)),
        };
        let briefly = |amounts: &Amounts| saved_briefly(amounts, None, None);
        assert_eq!(briefly(&amounts(2.31, 0.11, 1e6)), "2.31 core-hours");
        assert_eq!(briefly(&amounts(0.0, 38.04, 1e6)), "38 GB·h");
        assert_eq!(briefly(&amounts(0.0, 0.001, 9000.0)), "9 s");
        assert_eq!(briefly(&amounts(0.0, 0.001, 9.0)), "< 0.01 GB·h");
        assert_eq!(saved_briefly(&amounts(1.0, 1.0, 1.0), Some(exactly(3.5)), Some("EUR")), "3.50 EUR");
        let time = |low: f64, point: f64, high: f64| Amounts {
            wall_ms: Range { low, point, high },
            ..Amounts::default()
        };
        // As certain as the longer form of the same amount.
        for (amounts, brief, long) in [
            (time(8000.0, 9000.0, 1e4), "about 9 s", "9 s ± 1 s"),
            (time(0.0, 5000.0, 9000.0), "up to 9 s", "up to 9 s"),
            (time(1000.0, 5000.0, 9000.0), "1 s to 9 s", "1 s to 9 s"),
        ] {
            assert_eq!((briefly(&amounts), saved(&amounts, None, None)), (brief.to_owned(), long.to_owned()));
        }
    }

    #[test]
    fn a_replay_that_changes_nothing_says_so() {
        let exactly = |value: f64| Range { low: -value, point: 0.0, high: value };
        let trouble = |value: f64| TroubleSavings {
            status: SavingStatus::WithinError,
            alone: Some(Amounts {
                wall_ms: exactly(value),
                core_hours: Some(exactly(value)),
                gb_hours: None,
            }),
            ..TroubleSavings::unknown("")
        };
        assert_eq!(saves(&trouble(0.0), None), "the run would take as long without it");
        assert_eq!(saves(&trouble(1.0), None), "saves too little to tell");
    }

    #[test]
    fn an_error_has_as_many_decimals_as_its_value() {
        let hours = |low: f64, point: f64, high: f64| {
            let core_hours = Some(Range { low, point, high });
            saved(&Amounts { core_hours, ..Amounts::default() }, None, None)
        };
        assert_eq!(hours(1.33, 1.39, 1.45), "1.39 ± 0.06 core-hours");
        assert_eq!(hours(0.02, 0.04, 0.06), "0.04 ± 0.02 core-hours");
        assert_eq!(hours(380.0, 400.0, 420.0), "400 ± 20 core-hours");
        assert_eq!(hours(0.0, 0.004, 0.008), "less than 0.01 GB·h");
        assert_eq!(hours(0.173, 0.175, 0.177), "0.17 core-hours");
    }
}
