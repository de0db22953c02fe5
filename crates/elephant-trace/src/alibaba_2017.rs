//! Alibaba's trace of 2017: the tables `batch_task` and `batch_instance` of `cluster-trace-v2017`.
//!
//! Instances have no number. A line is one try of an instance. Nothing in the trace shows which instance a
//! repeated try belongs to.

use super::alibaba::{Announcement, Instance, Number, Schema};
use super::lines::{Columns, Time, Unusable};

pub(super) const SCHEMA: Schema = Schema { format: super::TraceFormat::Alibaba2017, announcement, instance };

fn announcement<'a>(columns: &Columns<'a>) -> Result<Announcement<'a>, Unusable> {
    Ok(Announcement {
        job: columns.name(3).ok_or(Unusable(3, "a job's id"))?,
        instances: columns.whole(5).ok_or(Unusable(5, "a number of instances"))?,
        status: columns.text(6),
    })
}

fn instance<'a>(columns: &Columns<'a>) -> Result<Instance<'a>, Unusable> {
    let time = |column| {
        Time::of_seconds(columns.text(column)).ok_or(Unusable(column, "a time in seconds within 49 days"))
    };
    Ok(Instance {
        job: columns.name(3).ok_or(Unusable(3, "a job's id"))?,
        task: columns.name(4).ok_or(Unusable(4, "a task's id"))?,
        kind: None,
        number: Number::None,
        start: time(1)?,
        finish: time(2)?,
        machine: columns.name(5),
        status: columns.text(6),
        tries: columns.small(7).zip(columns.small(8)),
    })
}
