//! Applications that are searched for, part by part. A part begins after the last application of the one before, so
//! that none is missing or shown twice while others are stored.

use std::fmt;
use std::str::FromStr;

use super::database::{Value, values};
use super::record::whole;
use super::selection::Selection;
use super::{Only, Run, Store, StoreError, StoredApplication};
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_engine::engine::Filter;

/// Applications that match are counted up to this number, because counting reads all of them.
const MOST_COUNTED: u64 = 10_000;

/// Which applications to find.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// Which applications are admitted.
    pub filter: &'a Filter,
    /// What they must have besides.
    pub only: &'a Only,
    /// A part of the id, the name, the user, the queue or the flow, in capital or small letters.
    pub text: Option<&'a str>,
    /// At least this severity, of the rules that are asked for if there are any; `None` for all.
    pub severity: Option<Severity>,
    /// Only applications with a trouble of this kind.
    pub kind: Option<&'a str>,
    /// Only applications with a trouble that is this kind of failure.
    pub failure: Option<&'a str>,
    /// Only applications that finished at the first time or later, and before the second one.
    pub finished: [Option<Timestamp>; 2],
    /// Only applications that ended in this way.
    pub status: Option<&'a str>,
    /// What comes first.
    pub order: Order,
    /// Where the part before ended.
    pub after: Option<Cursor>,
    /// The most applications of a part.
    pub most: usize,
}

impl<'a> Search<'a> {
    /// The first of all applications that these conditions admit.
    #[must_use]
    pub const fn of(filter: &'a Filter, only: &'a Only, (order, most): (Order, usize)) -> Self {
        Self {
            filter,
            only,
            text: None,
            severity: None,
            kind: None,
            failure: None,
            finished: [None; 2],
            status: None,
            order,
            after: None,
            most,
        }
    }
}

/// What comes first among applications. Those of which it is unknown are last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// The latest submission.
    #[default]
    Latest,
    /// Most memory that was not needed.
    Waste,
    /// Most memory that remedies save.
    Saving,
    /// The highest severity.
    Severity,
    /// The longest run time.
    RunTime,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Latest, Self::Waste, Self::Saving, Self::Severity, Self::RunTime];

    /// Its name in addresses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latest => "latest",
            Self::Waste => "waste",
            Self::Saving => "saving",
            Self::Severity => "severity",
            Self::RunTime => "runtime",
        }
    }

    const fn column(self) -> &'static str {
        match self {
            Self::Latest => "application.submitted",
            Self::Waste => "application.wasted",
            Self::Saving => "application.saved_memory",
            Self::Severity => "application.severity",
            Self::RunTime => "application.run_time",
        }
    }
}

/// The last application of a part: what it is ordered by, if that is known, and its place in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    value: Option<i64>,
    place: i64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => write!(f, "{value}.{}", self.place),
            None => write!(f, ".{}", self.place),
        }
    }
}

/// A text is not a [`Cursor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not one that a part before ended with")]
pub struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(written: &str) -> Result<Self, NoCursor> {
        let (value, place) = written.split_once('.').ok_or(NoCursor)?;
        let number = |text: &str| text.parse::<i64>().map_err(|_| NoCursor);
        let value = (!value.is_empty()).then(|| number(value)).transpose()?;
        Ok(Self { value, place: number(place)? })
    }
}

/// A part of the applications that match.
#[derive(Debug, Clone, PartialEq)]
pub struct Matches {
    /// In the order that was asked for.
    pub runs: Vec<Run>,
    /// Where the next part begins, if there is one.
    pub next: Option<Cursor>,
    /// How many match in all parts.
    pub of: Matching,
}

/// How many applications match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// So many.
    Exactly(u64),
    /// More than so many.
    MoreThan(u64),
}

impl Store {
    /// The applications that match, each once.
    pub fn search(&self, search: &Search<'_>) -> Result<Matches, StoreError> {
        self.database.reading(|| {
            let selection = self.matching(search)?;
            let of = self.count_some(&selection)?;
            let (rows, next) = self.part(&selection, search)?;
            let places: Vec<i64> = rows.iter().map(|row| row.place).collect();
            let (these, values) = self.database.backend().among_ids(&places);
            let condition = format!("application.application {these}");
            let shown = Selection { condition, values, ..selection };
            let runs = self.runs(&shown, &order_by(search.order), places.len())?;
            Ok(Matches { runs, next, of })
        })
    }

    /// The same with all that is stored of each, without the first `before` ones.
    pub fn search_whole(
        &self,
        search: &Search<'_>,
        before: usize,
    ) -> Result<Vec<StoredApplication>, StoreError> {
        self.database.reading(|| {
            let (rows, _) = self.part(&self.matching(search)?, search)?;
            let whole: Result<Vec<_>, _> =
                rows.iter().skip(before).map(|row| self.stored(row.place)).collect();
            Ok(whole?.into_iter().flatten().collect())
        })
    }

    /// The places of the applications of a part, and where the next one begins.
    fn part(
        &self,
        selection: &Selection,
        search: &Search<'_>,
    ) -> Result<(Vec<Cursor>, Option<Cursor>), StoreError> {
        let column = search.order.column();
        let part = after(selection, column, search.after);
        let query = format!(
            "SELECT application.application, CAST({column} AS BIGINT) FROM application WHERE {} ORDER BY {} LIMIT {}",
            part.condition,
            order_by(search.order),
            whole(search.most as u64).saturating_add(1)
        );
        let mut rows = self
            .database
            .rows(&query, &part.values, |row| Ok(Cursor { place: row.get(0)?, value: row.get(1)? }))?;
        let is_last = rows.len() <= search.most;
        rows.truncate(search.most);
        let next = rows.last().copied().filter(|_| !is_last);
        Ok((rows, next))
    }

    pub(super) fn matching(&self, search: &Search<'_>) -> Result<Selection, StoreError> {
        let mut selection = self.seen(Selection::of(&self.database, search.filter, search.only)?)?;
        let least = search.severity.map(|severity| whole(severity.value()));
        match (least, search.only.rules.is_empty()) {
            (Some(least), true) => selection.and("application.severity >=", least),
            (Some(least), false) => selection.with_finding(&search.only.rules, least),
            (None, _) => (),
        }
        let [from, until] = search.finished.map(|at| at.map(Timestamp::as_millis));
        if let Some(from) = from {
            selection.and("application.finished >=", from);
        }
        if let Some(until) = until {
            selection.and("application.finished <", until);
        }
        if let Some(status) = search.status {
            selection.and("application.status =", status.to_owned());
        }
        for (column, asked) in [("kind", search.kind), ("failure", search.failure)] {
            let Some(asked) = asked else { continue };
            selection.values.push(asked.to_owned().into());
            selection.condition = format!(
                "{} AND EXISTS (SELECT 1 FROM trouble WHERE trouble.application = application.application AND trouble.{column} = ?{})",
                selection.condition,
                selection.values.len()
            );
        }
        if let Some(text) = search.text {
            let escaped = text.to_ascii_lowercase().replace('!', "!!").replace('%', "!%").replace('_', "!_");
            selection.values.push(format!("%{escaped}%").into());
            let place = selection.values.len();
            let has = |column: &str| format!("lower({column}) LIKE ?{place} ESCAPE '!'");
            let any = [
                "application.id",
                "application.name",
                "application.\"user\"",
                "application.queue",
                "application.flow",
            ];
            let any = any.map(has).join(" OR ");
            selection.condition = format!("{} AND ({any})", selection.condition);
        }
        Ok(selection)
    }

    fn count_some(&self, selection: &Selection) -> Result<Matching, StoreError> {
        let count = format!(
            "SELECT count(*) FROM (SELECT 1 FROM application WHERE {} LIMIT {}) AS some",
            selection.condition,
            MOST_COUNTED + 1
        );
        let count = self.database.count(&count, &selection.values)?;
        Ok(if count > MOST_COUNTED { Matching::MoreThan(MOST_COUNTED) } else { Matching::Exactly(count) })
    }

    /// When the last `ingest` that read all it was asked to ended; `None` if none did.
    pub fn last_ingest(&self) -> Result<Option<Timestamp>, StoreError> {
        let query = "SELECT max(finished) FROM run";
        let moment = self.database.first(query, &values![], |row| row.get::<Option<i64>>(0))?;
        Ok(moment.flatten().map(Timestamp::from_millis))
    }
}

/// The order, in which no two applications are equal.
fn order_by(order: Order) -> String {
    format!("{} DESC NULLS LAST, application.application DESC", order.column())
}

/// The applications after the last one of a part.
fn after(selection: &Selection, column: &str, cursor: Option<Cursor>) -> Selection {
    let mut part = selection.clone();
    let Some(Cursor { value, place }) = cursor else { return part };
    part.values.push(Value::from(place));
    let before = format!("application.application < ?{}", part.values.len());
    let later = match value {
        None => format!("{column} IS NULL AND {before}"),
        Some(value) => {
            part.values.push(Value::from(value));
            let value = part.values.len();
            format!("({column} < ?{value} OR {column} = ?{value} AND {before} OR {column} IS NULL)")
        }
    };
    part.condition = format!("{} AND {later}", part.condition);
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_stores;
    use elephant_base::units::{Bytes, MbMillis, Millis};
    use elephant_engine::results::ApplicationReport;
    use elephant_model::model::Status;

    /// An application whose waste and submission are known or not.
    fn app(number: u8, wasted_gib: Option<u64>, submitted: Option<i64>) -> ApplicationReport {
        let mut app = ApplicationReport::blank(&format!("job_1_{number:04}"));
        app.name = Some(format!("ETL_{}", number % 2));
        app.sources = vec![format!("{number}.jhist")];
        app.status = if number.is_multiple_of(3) { Status::Failed } else { Status::Succeeded };
        let held = |gib| MbMillis::of(Bytes::from_mib(1024 * gib), Millis::from_secs(3600));
        app.metrics.wasted = wasted_gib.map(held);
        app.submitted_at = submitted.map(Timestamp::from_millis);
        app
    }

    static FILTER: Filter = Filter {
        engine: None,
        users: Vec::new(),
        queues: Vec::new(),
        names: Vec::new(),
        ids: Vec::new(),
        since: None,
        until: None,
    };
    fn all() -> Search<'static> {
        Search::of(&FILTER, Only::ALL, (Order::Latest, 100))
    }

    fn ids(found: &Matches) -> Vec<&str> {
        found.runs.iter().map(|run| run.id.trim_start_matches("job_1_000")).collect()
    }

    #[test]
    fn parts_together_are_all_applications_once_in_order() {
        // Equal and unknown values are where parts may lose or repeat applications.
        let amounts = [Some(3), None, Some(3), Some(7), None, Some(3), Some(1), None];
        let apps: Vec<_> =
            (0_u8..).zip(amounts).map(|(number, wasted)| app(number, wasted, Some(number.into()))).collect();
        with_stores(&apps, |store| {
            let whole = store.search(&Search { order: Order::Waste, ..all() }).unwrap();
            assert_eq!((whole.next, whole.of), (None, Matching::Exactly(8)));
            assert_eq!(ids(&whole)[0], "3");
            for most in 1..=8 {
                let (mut after, mut together) = (None, Vec::new());
                loop {
                    let part = store.search(&Search { order: Order::Waste, after, most, ..all() }).unwrap();
                    assert_eq!(part.of, Matching::Exactly(8));
                    together.extend(part.runs);
                    // A cursor survives being written into an address.
                    after = part.next.map(|next| next.to_string().parse().unwrap());
                    if after.is_none() {
                        break;
                    }
                }
                assert_eq!(together, whole.runs, "parts of {most}");
            }
        });
    }

    #[test]
    fn text_is_a_part_of_a_name_and_no_pattern() {
        let mut odd = app(9, None, None);
        odd.user = Some("100%_user!".to_owned());
        with_stores(&[app(1, None, Some(1)), app(2, None, Some(2)), odd], |store| {
            let found = |text| {
                let found = store.search(&Search { text: Some(text), ..all() }).unwrap();
                ids(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(found("etl_0"), ["2"]);
            assert_eq!(found("0%_USER!"), ["9"]);
            assert_eq!(found("_1_0001"), ["1"]);
            assert!(found("e_l").is_empty() && found("%").len() == 1);
        });
    }

    #[test]
    fn conditions_hold_together() {
        let apps: Vec<_> = (1..=6).map(|number| app(number, None, Some(number.into()))).collect();
        with_stores(&apps, |store| {
            let failed = Search { status: Some("failed"), ..all() };
            assert_eq!(ids(&store.search(&failed).unwrap()), ["6", "3"]);
            let named = Search { text: Some("ETL_1"), ..failed };
            assert_eq!(ids(&store.search(&named).unwrap()), ["3"]);
            let bad = Search { severity: Some(Severity::Low), ..all() };
            assert_eq!(store.search(&bad).unwrap().of, Matching::Exactly(0));
            let kind = Search { kind: Some("skew"), ..all() };
            assert_eq!(store.search(&kind).unwrap().runs, []);
        });
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", "1", "x.1", "1.", "1.2.3", "99999999999999999999.1"] {
            assert_eq!(text.parse::<Cursor>(), Err(NoCursor), "{text}");
        }
        assert_eq!("-1.2".parse(), Ok(Cursor { value: Some(-1), place: 2 }));
        assert_eq!(".2".parse(), Ok(Cursor { value: None, place: 2 }));
    }
}
