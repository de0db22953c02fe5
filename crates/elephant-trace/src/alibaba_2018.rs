//! Alibaba's trace of 2018: the tables `batch_task` and `batch_instance` of `cluster-trace-v2018`.

use super::alibaba::{Announcement, Instance, Number, Schema};
use super::lines::{Columns, Time, Unusable};

pub(super) const SCHEMA: Schema = Schema { format: super::TraceFormat::Alibaba2018, announcement, instance };

fn announcement<'a>(columns: &Columns<'a>) -> Result<Announcement<'a>, Unusable> {
    Ok(Announcement {
        job: columns.name(3).ok_or(Unusable(3, "a job's name"))?,
        instances: columns.whole(2).ok_or(Unusable(2, "a number of instances"))?,
        status: columns.text(5),
    })
}

fn instance<'a>(columns: &Columns<'a>) -> Result<Instance<'a>, Unusable> {
    let time = |column| {
        Time::of_seconds(columns.text(column)).ok_or(Unusable(column, "a time in seconds within 49 days"))
    };
    let name = columns.name(1).ok_or(Unusable(1, "an instance's name"))?;
    Ok(Instance {
        job: columns.name(3).ok_or(Unusable(3, "a job's name"))?,
        task: columns.name(2).ok_or(Unusable(2, "a task's name"))?,
        kind: columns.name(4),
        number: name
            .strip_prefix("ins_")
            .and_then(|number| number.parse().ok())
            .map_or(Number::None, Number::Is),
        start: time(6)?,
        finish: time(7)?,
        machine: columns.name(8),
        status: columns.text(5),
        tries: columns.small(9).zip(columns.small(10)),
    })
}
