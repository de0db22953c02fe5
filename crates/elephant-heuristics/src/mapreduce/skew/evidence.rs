//! What a finding rests on.

use super::{Side, Values};
use crate::mapreduce::support::counters::{to_bytes, to_millis};
use elephant_base::stats::split::TwoGroups;
use elephant_base::units::Bytes;
use elephant_rule::finding::Measure;

/// The numbers of both quantities, bytes and times.
pub(super) fn evidence(
    total: u64,
    bytes: &Values,
    data: &Side,
    block: Bytes,
    times: &Values,
    time: &Side,
) -> Vec<(&'static str, Measure)> {
    let mut evidence = vec![("tasks_count", Measure::Count(total))];
    if !bytes.is_empty() {
        let TwoGroups { small, large, .. } = data.groups;
        evidence.extend([
            ("deviation_ratio", Measure::Ratio(Some(data.deviation as f64))),
            ("small_group_count", Measure::Count(small.count)),
            ("small_group_avg_bytes", Measure::Size(to_bytes(small.mean))),
            ("large_group_count", Measure::Count(large.count)),
            ("large_group_avg_bytes", Measure::Size(to_bytes(large.mean))),
            ("block_bytes", Measure::Size(block)),
        ]);
    }
    if !times.is_empty() {
        let TwoGroups { small, large, .. } = time.groups;
        evidence.extend([
            ("time_deviation_ratio", Measure::Ratio(Some(time.deviation as f64))),
            ("time_small_group_count", Measure::Count(small.count)),
            ("time_small_group_avg_ms", Measure::Time(to_millis(small.mean))),
            ("time_large_group_count", Measure::Count(large.count)),
            ("time_large_group_avg_ms", Measure::Time(to_millis(large.mean))),
        ]);
    }
    evidence
}
