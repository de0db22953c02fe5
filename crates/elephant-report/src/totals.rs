//! The totals of a report in words, the same in each format.
//!
//! Memory counts as wasted only if it is too large, but remedies also save memory by holding it for less
//! time. So they may save more than is wasted. Therefore the saving is shown as a share of the used memory,
//! with both kinds.

use super::words::{LEAST_MS, millis, named_parts, saved_briefly, saved_parts, taken};
use elephant_base::units::{MbMillis, show_gb_hours, three_digits, three_digits_grouped};
use elephant_engine::results::{ApplicationReport, Report, Totals};
use elephant_verdict::savings::{Amounts, ApplicationSavings, Range, Sums};

/// Smaller parts of a sum, as a share, are not named.
const NAMED: f64 = 0.005;
/// Smaller amounts in GB·h are not named, because they would read as zero.
const LEAST: f64 = 0.01;

/// Why some time is not a part of the savings.
const LIMIT_KNOWN: &str = "where only an upper limit is known";

/// "41.2 GB·h used, 17.9 of the 40.1 that can be judged (44.6 %) wasted in memory that is too large".
pub(super) fn memory_used(totals: &Totals) -> String {
    if !knows_memory(totals) {
        return "memory use unknown".to_owned();
    }
    let (all, known) = (show_gb_hours(totals.used), show_gb_hours(totals.used_where_waste_is_known));
    let of_known = if known == all { String::new() } else { format!(" of the {known} that can be judged") };
    let wasted = totals.wasted_percent().map(|percent| {
        let (wasted, percent) = (show_gb_hours(totals.wasted), three_digits(percent));
        format!(", {wasted}{of_known} ({percent} %) wasted in memory that is too large")
    });
    format!("{all} GB·h used{}", wasted.unwrap_or_default())
}

/// Whether the used memory is known for any application.
pub(super) fn knows_memory(totals: &Totals) -> bool {
    totals.applications.iter().sum::<u64>() > totals.used_unknown
}

/// The savings of the remedies of all troubles.
pub(super) struct Saved {
    /// "52m ± 4m", "14 ± 1 GB·h".
    pub(super) amounts: Vec<String>,
    /// The time that may be saved in addition: "27m 3s".
    pub(super) at_most: Option<String>,
    /// The parts of the saved memory: "34.2 % of the memory used: 10 GB·h by smaller memory, 4 GB·h by
    /// holding it for less time".
    pub(super) memory: Option<String>,
    /// The memory that the remedies take beyond what was used: "0.5 GB·h".
    pub(super) more: Option<String>,
    /// The saving of the first jobs, if other jobs save something, too.
    pub(super) first: Option<String>,
}

impl Saved {
    /// `None` if no saving is known.
    pub(super) fn of(report: &Report) -> Option<Self> {
        let Totals { used, savings, first_savings, .. } = &report.totals;
        let currency = report.currency.as_deref();
        let amounts = |sums: &Sums| amounts(sums, currency);
        let is_part =
            |first: &&Sums| first.estimated_count > 0 && first.estimated_count < savings.estimated_count;
        let first = first_savings.as_ref().filter(is_part).map(|first| amounts(first).0.join(", "));
        let (amounts, at_most) = amounts(savings);
        (savings.estimated_count > 0).then(|| Self {
            amounts,
            at_most,
            memory: memory(savings, *used),
            more: taken(savings.more_gb_hours()),
            first,
        })
    }
}

impl Saved {
    /// "52m ± 4m, 14 ± 1 GB·h (34.2 % of the memory used: by smaller memory), and up to 27m 3s more where only an upper
    /// limit is known, but take 0.5 GB·h more".
    pub(super) fn text(&self) -> String {
        let memory = self.memory.as_ref().map(|memory| format!(" ({memory})")).unwrap_or_default();
        let more = self.more.as_ref().map(|more| format!(", but take {more} more")).unwrap_or_default();
        let at_most = self.at_most().map(|at_most| format!(", {at_most}")).unwrap_or_default();
        format!("{}{memory}{at_most}{more}", self.amounts.join(", "))
    }

    /// "and up to 27m 3s more where only an upper limit is known".
    pub(super) fn at_most(&self) -> Option<String> {
        self.at_most.as_ref().map(|time| format!("and up to {time} more {LIMIT_KNOWN}"))
    }
}

/// "4m 4s ± 1m 36s, and up to 27m 3s more where only an upper limit is known": the savings of the runs of a job.
pub(super) fn saved_by_all(sums: &Sums, currency: Option<&str>) -> String {
    with_limit(amounts(sums, currency))
}

/// The same for the remedies of one application.
pub(super) fn saved_together(app: &ApplicationReport, savings: &ApplicationSavings) -> String {
    let (expected, limit) = savings.expected(app.troubles.iter().map(|trouble| &trouble.savings));
    let currency = savings.currency.as_deref();
    with_limit(apart((&savings.joint, &expected), limit, savings.joint_cost, currency))
}

fn with_limit((saved, at_most): (Vec<String>, Option<String>)) -> String {
    let limit = at_most.map(|time| format!(", and up to {time} more {LIMIT_KNOWN}"));
    saved.join(", ") + &limit.unwrap_or_default()
}

/// The first amount of the savings of a job's runs: of what is expected, if anything is.
pub(super) fn saved_first(sums: &Sums, currency: Option<&str>) -> String {
    let (expected, cost) = (sums.expected(), sums.cost());
    let all = named_parts(&expected, cost, currency).is_empty();
    saved_briefly(&if all { sums.saved() } else { expected }, cost, currency)
}

/// What the remedies of one kind of trouble save: "52 GB·h", "up to 190 GB·h" if only limits are known, "little".
pub(super) fn saved_of_cause(sums: &Sums, currency: Option<&str>) -> String {
    let nothing = |amounts: &Amounts, cost| named_parts(amounts, cost, currency).is_empty();
    if sums.estimated_count > 0 && !nothing(&sums.saved(), sums.cost()) {
        return saved_first(sums, currency);
    }
    match sums.limits_of_unknown().filter(|limits| !nothing(limits, None)) {
        Some(limits) => saved_briefly(&limits, None, currency),
        None if sums.unknown_count > 0 => "unknown".to_owned(),
        None => "little".to_owned(),
    }
}

/// What is expected to be saved, and the time of which only an upper limit is known. One waiting job may have a limit
/// that is larger than all that is expected. If nothing is expected, the limit is all that there is to say.
fn amounts(sums: &Sums, currency: Option<&str>) -> (Vec<String>, Option<String>) {
    apart((&sums.saved(), &sums.expected()), sums.more_at_most(), sums.cost(), currency)
}

fn apart(
    (saved, expected): (&Amounts, &Amounts),
    limit: Option<f64>,
    cost: Option<Range>,
    currency: Option<&str>,
) -> (Vec<String>, Option<String>) {
    let least = LEAST_MS.max(saved.wall_ms.high * NAMED);
    let expected = named_parts(expected, cost, currency);
    match limit.filter(|limit| *limit >= least) {
        Some(limit) if !expected.is_empty() => (expected, Some(millis(limit))),
        _ => (saved_parts(saved, cost, currency), None),
    }
}

/// "34.2 % of the memory used: 10 GB·h by smaller memory, 4 GB·h by holding it for less time".
fn memory(savings: &Sums, used: MbMillis) -> Option<String> {
    let all = savings.saved().gb_hours?.point;
    let share = all / used.as_gb_hours();
    if share.is_nan() || share < NAMED {
        return None;
    }
    let smaller = savings.by_size().map_or(0.0, |range| range.point);
    let parts = [(smaller, "by smaller memory"), (all - smaller, "by holding it for less time")];
    let named: Vec<_> = parts.into_iter().filter(|(part, _)| *part >= (all * NAMED).max(LEAST)).collect();
    let text = if let [(_, how)] = named.as_slice() {
        (*how).to_owned()
    } else {
        let each = named.iter().map(|(part, how)| format!("{} GB·h {how}", three_digits_grouped(*part)));
        each.collect::<Vec<_>>().join(", ")
    };
    let separator = if text.is_empty() { "" } else { ": " };
    Some(format!("{} % of the memory used{separator}{text}", three_digits(share * 100.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::{Bytes, Millis};
    use elephant_verdict::savings::{SavingStatus, TroubleSavings};

    fn saving(gb_hours: f64, by_size: bool) -> TroubleSavings {
        let gb_hours = Some(Range::between(gb_hours, gb_hours));
        let share = Some(Amounts { gb_hours, ..Amounts::default() });
        TroubleSavings { status: SavingStatus::Estimated, by_size, share, ..TroubleSavings::unknown("") }
    }

    fn of(savings: &[TroubleSavings]) -> Option<String> {
        let mut sums = Sums::default();
        for saving in savings {
            sums.add(saving);
        }
        memory(&sums, MbMillis::of(Bytes::from_mib(10 << 10), Millis::new(3_600_000)))
    }

    #[test]
    fn savings_are_a_part_of_what_was_used() {
        let both = of(&[saving(3.0, true), saving(4.5, false), saving(0.5, true)]);
        let expected =
            "80 % of the memory used: 3.5 GB·h by smaller memory, 4.5 GB·h by holding it for less time";
        assert_eq!(both.as_deref(), Some(expected));
        assert_eq!(of(&[saving(3.0, true)]).as_deref(), Some("30 % of the memory used: by smaller memory"));
        assert_eq!((of(&[saving(0.0, true)]), of(&[])), (None, None));
        // Less than 0.01 GB·h would read as nothing.
        let mostly = of(&[saving(0.006, true), saving(0.09, false)]);
        assert_eq!(mostly.as_deref(), Some("0.96 % of the memory used: by holding it for less time"));
    }

    /// Rows of jobs begin with what is expected, and with the limit only if nothing is.
    #[test]
    fn the_first_amount_of_a_job_is_expected() {
        let saving = |low: f64, high: f64| {
            let share = Some(Amounts { wall_ms: Range::between(low, high), ..Amounts::default() });
            TroubleSavings { status: SavingStatus::Estimated, share, ..TroubleSavings::unknown("") }
        };
        let (expected, limit) = (saving(148_000.0, 340_000.0), saving(0.0, 1_623_000.0));
        let mut sums = Sums::default();
        sums.add(&limit);
        assert_eq!(saved_first(&sums, None), "up to 27m 3s");
        assert_eq!(saved_by_all(&sums, None), "up to 27m 3s");
        sums.add(&expected);
        assert_eq!(saved_first(&sums, None), "about 4m 4s");
        let both = "4m 4s ± 1m 36s, and up to 27m 3s more where only an upper limit is known";
        assert_eq!(saved_by_all(&sums, None), both);
    }

    /// A job that waited for the cluster may save up to that wait, and perhaps nothing.
    #[test]
    fn upper_limits_of_time_are_named_apart() {
        let saving = |low: f64, high: f64| {
            let share = Some(Amounts { wall_ms: Range::between(low, high), ..Amounts::default() });
            TroubleSavings { status: SavingStatus::Estimated, share, ..TroubleSavings::unknown("") }
        };
        let of = |savings: &[TroubleSavings]| {
            let mut sums = Sums::default();
            for saving in savings {
                sums.add(saving);
            }
            let (amounts, at_most) = amounts(&sums, None);
            let saved = Saved { amounts, at_most, memory: None, more: None, first: None };
            saved.text()
        };
        let (expected, limit) = (saving(148_000.0, 340_000.0), saving(0.0, 1_623_000.0));
        assert_eq!(
            of(&[expected.clone(), limit.clone()]),
            "4m 4s ± 1m 36s, and up to 27m 3s more where only an upper limit is known"
        );
        assert_eq!(of(&[expected]), "4m 4s ± 1m 36s");
        assert_eq!(of(&[limit]), "up to 27m 3s");
        assert_eq!(of(&[]), "less than 0.01 GB·h");
    }
}
