//! What operators and their tools ask: is the server alive, is it of use, and what does it do?

use std::sync::atomic::Ordering;

use super::counts::Counted;
use super::failure::Failure;
use super::filter::Which;
use super::ingest::{Progress, now};
use super::query::Asked;
use super::reply::{OPENMETRICS, Reply, TEXT};
use super::route::Context;
use super::server::Shared;
use elephant_report::site::metrics::{self, Answers, IngestCounts, Metrics};
use elephant_store::{Grouping, Question, View};

/// Queues that have metrics of their own.
const MOST_QUEUES: usize = 50;
/// A loop that has not succeeded for so many of its distances is late.
const LATE: u32 = 3;

/// The process answers.
#[expect(clippy::unnecessary_wraps, reason = "a route may fail")]
pub(crate) fn healthy(_: &Shared) -> Result<Reply, Failure> {
    Ok(Reply::Content(TEXT, b"ok\n".to_vec()))
}

/// The store answers, and the loop that reads histories is not late.
pub(crate) fn ready(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    context.store.last_ingest()?;
    if context.ingest().is_some_and(|progress| is_late(&progress)) {
        return Err(Failure::Late);
    }
    Ok(Reply::Content(TEXT, b"ready\n".to_vec()))
}

/// Whether turns fail or hang. Before the first turn has ended, the store may be of an earlier run of the server.
pub(crate) fn is_late(progress: &Progress) -> bool {
    let Some(since) = progress.succeeded else { return progress.failed > 0 };
    let late = i64::try_from((progress.every * LATE + progress.took.unwrap_or_default()).as_millis());
    now().as_millis().saturating_sub(since.as_millis()) > late.unwrap_or(i64::MAX)
}

/// The metrics.
pub(crate) fn metrics(context: &Context<'_>, _: &Asked) -> Result<Reply, Failure> {
    let all = Which::default();
    let groups = |grouping, most| context.store.answer(&Question::Groups(grouping), all.asked(None, most));
    let queues = groups(Grouping::Queue, MOST_QUEUES)?;
    let troubles = groups(Grouping::Trouble, usize::MAX)?;
    let total = queues.as_ref().map(|answer| answer.total.clone()).unwrap_or_default();
    let of = |answer: Option<elephant_store::Answer>| match answer.map(|answer| answer.view) {
        Some(View::Groups(_, grouped)) => grouped.groups,
        _ => Vec::new(),
    };
    let (queues, troubles) = (of(queues), of(troubles));
    let counts = &context.shared.counts;
    let counted = counts.read();
    let answers: Vec<Answers<'_>> = counted.iter().map(answers).collect();
    let ingest = context.ingest().map(|progress| IngestCounts {
        turns: progress.turns,
        failed: progress.failed,
        succeeded: progress.succeeded,
        seconds: progress.took.map(|took| took.as_secs_f64()),
        unreadable: progress.unreadable,
        lag_seconds: progress.lag.map(|lag| lag.as_secs_f64()),
    });
    let text = metrics::write(&Metrics {
        answers: &answers,
        refused: counts.refused.load(Ordering::Relaxed),
        timed_out: counts.timed_out.load(Ordering::Relaxed),
        connections: counts.connections.load(Ordering::Relaxed),
        total: &total,
        queues: &queues,
        troubles: &troubles,
        stored: context.store.last_ingest()?,
        unreadable: context.store.unread_count()?,
        ingest,
    })?;
    Ok(Reply::Content(OPENMETRICS, text))
}

fn answers(Counted { route, by_class, within, seconds }: &Counted) -> Answers<'_> {
    Answers { route, by_class: *by_class, within, seconds: *seconds }
}
