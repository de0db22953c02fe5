//! Map tasks that are long because they read their input from other nodes.

use super::{Job, Skew};
use crate::mapreduce::support::counters::to_millis;
use elephant_base::stats::descriptive::median_in_place;
use elephant_base::units::three_digits;
use elephant_base::whole::Whole;
use elephant_model::model::table::Locality;
use elephant_rule::finding::Advice;

/// Map tasks whose long run time their locality explains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Remote {
    count: usize,
    all: usize,
    /// Median run times in milliseconds.
    median: f64,
    of_local: f64,
}

impl Remote {
    /// `None` unless remote tasks are slow, and those that run for at least `pivot` milliseconds are remote.
    pub(super) fn of(params: &Skew, (_, group, run_times): Job<'_>, pivot: i64) -> Option<Self> {
        let (mut remote, mut local) = (Vec::new(), Vec::new());
        let (mut long, mut long_and_remote) = (0_usize, 0_usize);
        for row in group.winners() {
            let Some(time) = run_times.of_attempt(group, row) else { continue };
            let is_remote = match group.attempts.locality(row)? {
                Locality::RackLocal | Locality::OffSwitch => true,
                Locality::NodeLocal | Locality::ProcessLocal => false,
                _ => return None,
            };
            if is_remote { &mut remote } else { &mut local }.push(time as f64);
            long += usize::from(time >= pivot);
            long_and_remote += usize::from(time >= pivot && is_remote);
        }
        let few = |tasks: &[f64]| (tasks.len() as f64) < params.remote_tasks.get();
        if few(&remote) || few(&local) {
            return None;
        }
        let (median, of_local) = (median_in_place(&mut remote)?, median_in_place(&mut local)?);
        let explains = long > 0
            && median >= params.remote_slowdown.get() * of_local
            && long_and_remote as f64 >= params.remote_share.get() * long as f64;
        let all = remote.len() + local.len();
        explains.then_some(Self { count: remote.len(), all, median, of_local })
    }

    pub(super) fn advice(self) -> Advice {
        let Self { count, all, median, of_local } = self;
        Advice::new(format!(
            "{count} of {all} map tasks read their input from other nodes and run {}, {}× as long as those that read it from \
             their own: raise the replication of the input (hdfs dfs -setrep) or spread it over the nodes (hdfs balancer), and \
             let the scheduler wait longer for a node with the data (yarn.scheduler.capacity.node-locality-delay)",
            to_millis(median.as_i64()),
            three_digits(median / of_local.max(1.0))
        ))
    }
}

#[cfg(test)]
mod tests {
    use elephant_model::model::table::{Locality, TaskKind};
    use elephant_rule::finding::Finding;

    /// Twelve map tasks of a minute, and twenty of five minutes on other nodes, of which the first `local` are local.
    fn found(local: usize) -> Finding {
        let times = (0..12).map(|_| (0, Some(60))).chain((0..20).map(|_| (0, Some(300))));
        let mut maps = elephant_sample::tasks(TaskKind::Map, times);
        for row in 0..32 {
            let locality = if row < 12 + local { Locality::NodeLocal } else { Locality::RackLocal };
            maps.attempts.set_locality(row, Some(locality));
        }
        let last = Some(elephant_base::units::Timestamp::from_millis(590_000));
        maps.attempts.set_time(31, elephant_model::model::table::TimePoint::Finish, last);
        let findings =
            elephant_sample::evaluate(&elephant_sample::job(vec![maps], &[]), "mapper-skew", false).findings;
        findings.into_iter().next().unwrap()
    }

    #[test]
    fn remote_input_explains_long_tasks() {
        let lines = found(0).advice;
        assert_eq!(lines.len(), 1);
        assert!(
            lines[0].text.starts_with(
                "20 of 32 map tasks read their input from other nodes and run 5m, 5× as long as those that read it from \
                 their own: "
            ),
            "{lines:?}"
        );
        // Where local tasks are as long, most tasks are long for another reason, and so no stragglers.
        assert!(found(10).advice.is_empty());
    }
}
