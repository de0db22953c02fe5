//! Queries in words, for the formats that people read.

use elephant_query::{QuerySummary, Told};
use elephant_rule::finding::percent;

use crate::words::plural;

/// "query 12 "daily import" took 5m 2s (41 % of the run), planning 20.1 s; `SortMergeJoin` on k 40 % of its tasks' time".
pub(crate) fn line(query: &QuerySummary) -> String {
    let took = match (query.wall, query.share) {
        (Some(wall), Some(share)) => format!("{} took {} ({})", query.name, wall.total, percent(share)),
        (Some(wall), None) => format!("{} took {}", query.name, wall.total),
        (None, _) => format!("{} took an unknown time", query.name),
    };
    let mut parts = vec![took];
    parts.extend(query.told.iter().map(part));
    parts.join(", ")
}

fn part(told: &Told) -> String {
    match told {
        Told::Planning(time) => format!("planning {time}"),
        Told::BetweenJobs(time) => format!("between jobs {time}"),
        Told::AfterJobs(time) => format!("after the last job {time}"),
        Told::Operator(name, share) => format!("{name} {} of its tasks' time", percent(*share)),
        Told::Failed => "failed".to_owned(),
        Told::Stages(count) => plural(*count, "stage"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Millis;
    use elephant_query::Wall;

    #[test]
    fn a_query_is_told_in_one_line() {
        let wall = Wall { total: Millis::from_secs(302), ..Wall::default() };
        let told = vec![
            Told::Planning(Millis::from_secs(20)),
            Told::Operator("SortMergeJoin on k".to_owned(), 0.4),
            Told::Failed,
            Told::Stages(1),
        ];
        let query = QuerySummary { wall: Some(wall), share: Some(0.41), told, ..QuerySummary::blank(12) };
        assert_eq!(
            line(&query),
            "query 12 took 5m 2s (41 %), planning 20 s, SortMergeJoin on k 40 % of its tasks' time, failed, 1 stage"
        );
        assert_eq!(line(&QuerySummary::blank(3)), "query 3 took an unknown time");
    }
}
