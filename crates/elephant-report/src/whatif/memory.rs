//! Whether changed memory would be enough, in words.

use std::collections::BTreeMap;

use crate::words::{grouped, plural};
use elephant_engine::whatif::{MemoryFit, MemoryHolder, MemoryReason, MemoryVerdict};

/// The verdict in a report.
pub(super) const fn fit(fit: MemoryVerdict) -> &'static str {
    match fit {
        MemoryVerdict::Safe => "safe",
        MemoryVerdict::Near => "near the limit",
        MemoryVerdict::Unknown => "unknown whether it is enough",
        MemoryVerdict::WouldBreak => "would break",
    }
}

/// The verdict in JSON.
pub(super) const fn key(fit: MemoryVerdict) -> &'static str {
    match fit {
        MemoryVerdict::Safe => "safe",
        MemoryVerdict::Near => "near",
        MemoryVerdict::Unknown => "unknown",
        MemoryVerdict::WouldBreak => "would_break",
    }
}

/// What has the size, in JSON.
pub(super) const fn holder(of: MemoryHolder) -> &'static str {
    match of {
        MemoryHolder::ExecutorHeap => "executor_heap",
        MemoryHolder::DriverHeap => "driver_heap",
        MemoryHolder::ExecutorContainer => "executor_container",
        MemoryHolder::MapContainer => "map_container",
        MemoryHolder::ReduceContainer => "reduce_container",
        MemoryHolder::TaskContainer => "task_container",
    }
}

/// "would break: an executor used up to 939 MiB of its heap".
pub(super) fn sentence(memory: &MemoryFit) -> String {
    format!("{}: {}", fit(memory.fit), reason(memory))
}

/// Why it would or would not be enough.
pub(super) fn reason(memory: &MemoryFit) -> String {
    match &memory.why {
        MemoryReason::Peak { of, peak, size, enough } => {
            let used = used(*of, &peak.to_string());
            match (memory.fit, of) {
                (MemoryVerdict::Near, _) => format!("{used}; {enough} would leave the usual room"),
                (_, MemoryHolder::ExecutorContainer) => format!("{used}; its container would have {size}"),
                _ => used,
            }
        }
        MemoryReason::RanOut { of, with } => {
            let with = with.map(|size| format!(" with {size}")).unwrap_or_default();
            format!("{} ran out of memory{with}", whose(*of))
        }
        MemoryReason::DoesNotStart { least } => format!("Spark does not start with a heap below {least}"),
        MemoryReason::OtherTasks { of, peak } => {
            format!("{} with another number of cores", used(*of, &peak.to_string()))
        }
        MemoryReason::CutOff { of, peak } => {
            format!("{} until the run or its history was cut off", used(*of, &peak.to_string()))
        }
        MemoryReason::NotMeasured(why) => why.clone(),
    }
}

fn used(of: MemoryHolder, peak: &str) -> String {
    match of {
        MemoryHolder::ExecutorHeap | MemoryHolder::DriverHeap => {
            format!("{} used up to {peak} of its heap", whose(of))
        }
        MemoryHolder::ExecutorContainer => format!("the processes of an executor used up to {peak}"),
        MemoryHolder::MapContainer | MemoryHolder::ReduceContainer | MemoryHolder::TaskContainer => {
            format!("{} used up to {peak}", whose(of))
        }
    }
}

const fn whose(of: MemoryHolder) -> &'static str {
    match of {
        MemoryHolder::ExecutorHeap | MemoryHolder::ExecutorContainer => "an executor",
        MemoryHolder::DriverHeap => "the driver",
        MemoryHolder::MapContainer => "a map task",
        MemoryHolder::ReduceContainer => "a reduce task",
        MemoryHolder::TaskContainer => "a task",
    }
}

/// "would break 3 applications", "unknown whether it is enough in 2 applications", "safe in 10 applications".
pub(super) fn counted(memory: &BTreeMap<MemoryVerdict, u64>) -> Vec<String> {
    let worst_first = memory.iter().rev();
    let of_fit = |(of, count): (&MemoryVerdict, &u64)| match of {
        MemoryVerdict::WouldBreak => format!("would break {}", plural(*count, "application")),
        of => format!("{} in {}", fit(*of), grouped(*count)),
    };
    worst_first.map(of_fit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Bytes;

    #[test]
    fn the_verdict_names_what_was_measured() {
        let mib = Bytes::from_mib;
        let peak = |fit: MemoryVerdict, of: MemoryHolder| {
            let why = MemoryReason::Peak { of, peak: mib(939), size: mib(512), enough: mib(1474) };
            sentence(&MemoryFit { fit, why })
        };
        assert_eq!(
            peak(MemoryVerdict::WouldBreak, MemoryHolder::ExecutorHeap),
            "would break: an executor used up to 939 MiB of its heap"
        );
        assert_eq!(
            peak(MemoryVerdict::Near, MemoryHolder::MapContainer),
            "near the limit: a map task used up to 939 MiB; 1.44 GiB would leave the usual room"
        );
        assert_eq!(
            peak(MemoryVerdict::WouldBreak, MemoryHolder::ExecutorContainer),
            "would break: the processes of an executor used up to 939 MiB; its container would have 512 MiB"
        );
        let short = MemoryReason::RanOut { of: MemoryHolder::ReduceContainer, with: Some(mib(1024)) };
        assert_eq!(
            sentence(&MemoryFit { fit: MemoryVerdict::WouldBreak, why: short }),
            "would break: a reduce task ran out of memory with 1 GiB"
        );
        assert_eq!(
            counted(&BTreeMap::from([(MemoryVerdict::Safe, 10), (MemoryVerdict::WouldBreak, 1)])),
            ["would break 1 application", "safe in 10"]
        );
    }
}
