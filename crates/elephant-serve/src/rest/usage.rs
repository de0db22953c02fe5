//! What each user used in a time.

use axum::http::StatusCode;
use chrono::{NaiveDate, NaiveTime};

use super::super::failure::Failure;
use super::super::filter::Which;
use super::super::query::Asked;
use super::super::reply::Reply;
use super::super::route::{Context, Kind, Parameter};
use super::{json, told};
use elephant_base::units::Timestamp;
use elephant_engine::engine::Filter;
use elephant_report::site::dr_elephant;
use elephant_store::{Grouping, Question, View};

pub(crate) const START_TIME: Parameter = Parameter {
    name: "startTime",
    about: "Applications submitted from this day (2026-11-20) or hour (2026-11-20-13) on",
    kind: Kind::Text,
};
pub(crate) const END_TIME: Parameter =
    Parameter { name: "endTime", about: "Applications submitted before this day or hour", kind: Kind::Text };

/// Dr. Elephant's answer to times that it could not read has this status.
const NO_TIMES: StatusCode = StatusCode::MULTIPLE_CHOICES;

pub(crate) fn usage_by_user(context: &Context<'_>, asked: &Asked) -> Result<Reply, Failure> {
    let text = |parameter: Parameter| {
        let missing = || Failure::Bad(format!("the parameter {} is missing", parameter.name));
        asked.text(parameter.name).ok_or_else(missing)
    };
    let (start, end) = (text(START_TIME)?, text(END_TIME)?);
    if start.len() != end.len() || ![10, 13].contains(&start.len()) {
        return told(NO_TIMES, "");
    }
    let (since, until) = match (moment(start), moment(end)) {
        (Some(since), Some(until)) => (since, until),
        (None, _) => return told(NO_TIMES, format!("Invalid datetime format : {start}")),
        (_, None) => return told(NO_TIMES, format!("Invalid datetime format : {end}")),
    };
    let which = Which::from(Filter { since: Some(since), until: Some(until), ..Filter::default() });
    let answer = context.store.answer(&Question::Groups(Grouping::User), which.asked(None, usize::MAX))?;
    let users = match answer.map(|answer| answer.view) {
        Some(View::Groups(_, grouped)) => grouped.groups,
        _ => Vec::new(),
    };
    json(dr_elephant::users(&users)?)
}

/// A day, or an hour of one, in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let (day, hour) = match text.get(10..) {
        None | Some("") => (text, 0),
        Some(rest) => (text.get(..10)?, rest.strip_prefix('-')?.parse().ok()?),
    };
    let time = NaiveTime::from_hms_opt(hour, 0, 0)?;
    Some(Timestamp::from_millis(day.parse::<NaiveDate>().ok()?.and_time(time).and_utc().timestamp_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_hours() {
        let millis = |text| moment(text).map(Timestamp::as_millis);
        assert_eq!(millis("1970-01-02"), Some(86_400_000));
        assert_eq!(millis("1970-01-02-03"), Some(86_400_000 + 3 * 3_600_000));
        for text in ["1970-01-02-24", "1970-01-02-", "1970-01-0203", "yesterday", "", "äääääää"] {
            assert_eq!(millis(text), None, "{text}");
        }
    }
}
