//! The slots of the values in task events.

use super::line_template::{Slot, Templated};
use super::strings::Local;
use super::task::{TaskEnd, TaskInfo, TaskStart};
use super::task_metrics;
use elephant_model::model::spark::ExecutorMetric;
use elephant_model::model::table::EndReason;

/// Numbers of events, by index.
const STAGE: u8 = 0;
const STAGE_ATTEMPT: u8 = 1;
const ID: u8 = 2;
const INDEX: u8 = 3;
const ATTEMPT: u8 = 4;
const LAUNCHED: u8 = 5;
const GETTING_RESULT: u8 = 6;
const FINISHED: u8 = 7;

/// Flags and names, by index.
const SPECULATIVE: u8 = 0;
const FAILED: u8 = 1;
const KILLED: u8 = 2;
const EXECUTOR: u8 = 0;
const HOST: u8 = 1;

fn info_slot(key: &str) -> Slot {
    match key {
        "Task ID" => Slot::Number(ID),
        "Index" => Slot::Number(INDEX),
        "Attempt" => Slot::Number(ATTEMPT),
        "Launch Time" => Slot::Number(LAUNCHED),
        "Executor ID" => Slot::Name(EXECUTOR),
        "Host" => Slot::Name(HOST),
        "Locality" => Slot::Word,
        "Speculative" => Slot::Flag(SPECULATIVE),
        "Getting Result Time" => Slot::Number(GETTING_RESULT),
        "Finish Time" => Slot::Number(FINISHED),
        "Failed" => Slot::Flag(FAILED),
        "Killed" => Slot::Flag(KILLED),
        "Accumulables" => Slot::Accumulables,
        _ => Slot::Unused,
    }
}

fn metric_slot(path: &str) -> Slot {
    let place = task_metrics::find(path).and_then(|place| u8::try_from(place).ok());
    place.map_or(Slot::Unused, Slot::Metric)
}

fn peak_slot(key: &str) -> Slot {
    let place = ExecutorMetric::ALL.iter().position(|metric| metric.name() == key);
    place.and_then(|place| u8::try_from(place).ok()).map_or(Slot::Unused, Slot::Peak)
}

impl TaskInfo {
    fn set_number(&mut self, place: u8, value: i64) {
        let slot = match place {
            ID => &mut self.id,
            INDEX => &mut self.index,
            ATTEMPT => &mut self.attempt,
            LAUNCHED => &mut self.launched,
            GETTING_RESULT => &mut self.getting_result,
            _ => &mut self.finished,
        };
        *slot = Some(value);
    }

    /// Sets the flag with this index of [`Slot::Flag`].
    pub(super) fn set_flag(&mut self, place: u8, value: bool) {
        let slot = match place {
            SPECULATIVE => &mut self.speculative,
            FAILED => &mut self.failed,
            _ => &mut self.killed,
        };
        *slot = Some(value);
    }

    /// Sets the name with this index of [`Slot::Name`].
    pub(super) fn set_name(&mut self, place: u8, name: Local) {
        let slot = if place == EXECUTOR { &mut self.executor } else { &mut self.host };
        *slot = Some(name);
    }
}

impl Templated for TaskStart {
    fn slot(path: &str) -> Slot {
        match path.split_once('/') {
            None if path == "Stage ID" => Slot::Number(STAGE),
            None if path == "Stage Attempt ID" => Slot::Number(STAGE_ATTEMPT),
            // A task that starts has no end yet.
            None | Some(("Task Info", "Getting Result Time" | "Finish Time" | "Failed" | "Killed")) => {
                Slot::Fixed
            }
            Some(("Task Info", key)) => info_slot(key),
            Some(_) => Slot::Unused,
        }
    }

    fn blank(&self) -> Option<Self> {
        Some(Self::default())
    }

    #[inline]
    fn set_number(&mut self, place: u8, value: i64) {
        match place {
            STAGE => self.stage = Some(value),
            STAGE_ATTEMPT => self.stage_attempt = Some(value),
            place => self.info.set_number(place, value),
        }
    }

    /// A task that starts has no counters.
    fn set_metric(&mut self, _place: u8, _value: i64) {}

    fn set_peak(&mut self, _place: u8, _value: i64) {}

    fn info(&mut self) -> &mut TaskInfo {
        &mut self.info
    }
}

impl Templated for TaskEnd {
    fn slot(path: &str) -> Slot {
        match path.split_once('/') {
            None => match path {
                "Stage ID" => Slot::Number(STAGE),
                "Stage Attempt ID" => Slot::Number(STAGE_ATTEMPT),
                "Task Type" => Slot::Unused,
                _ => Slot::Fixed,
            },
            Some(("Task Info", key)) => info_slot(key),
            Some(("Task Executor Metrics", key)) => peak_slot(key),
            Some(("Task Metrics", path)) => metric_slot(path),
            Some(("Task End Reason", _)) => Slot::Fixed,
            Some(_) => Slot::Unused,
        }
    }

    /// Failure messages differ, so failed tasks get no template.
    fn blank(&self) -> Option<Self> {
        let reason = self.reason.filter(|&reason| reason == EndReason::Success && self.blocks.is_empty())?;
        Some(Self { reason: Some(reason), ..Self::default() })
    }

    #[inline]
    fn set_number(&mut self, place: u8, value: i64) {
        match place {
            STAGE => self.stage = Some(value),
            STAGE_ATTEMPT => self.stage_attempt = Some(value),
            place => self.info.set_number(place, value),
        }
    }

    #[inline]
    fn set_metric(&mut self, place: u8, value: i64) {
        self.metrics.set(place.into(), value);
    }

    #[inline]
    fn set_peak(&mut self, place: u8, value: i64) {
        self.peaks.set_at(place.into(), value);
    }

    fn info(&mut self) -> &mut TaskInfo {
        &mut self.info
    }
}
