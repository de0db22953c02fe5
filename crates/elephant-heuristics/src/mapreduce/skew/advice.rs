//! Advice on skew: what to do about the data, the keys or the nodes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Job, Remote, Skewness, input as uneven};
use crate::mapreduce::support::counters::to_bytes;
use crate::mapreduce::support::role::Role;
use crate::mapreduce::support::settings::may_be;
use crate::mapreduce::support::splits::{SplitLimits, Unsplittable, reads_gzip, split_for, whole_mib};
use elephant_base::stats::descriptive::mean;
use elephant_base::stats::split::TwoGroups;
use elephant_base::units::{Bytes, three_digits};
use elephant_catalogue::Advised;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, JobTool, Symbol};
use elephant_rule::finding::Advice;
use elephant_rule::wording::{by_hadoop, change};

impl Skewness {
    /// Smaller splits for the large inputs, or another format if they cannot be split. Never larger splits: they
    /// do not make the large map tasks shorter.
    fn split_advice(
        &self,
        app: &Advised<'_>,
        group: &TaskGroup,
        (small, large): (Bytes, Bytes),
        block: Bytes,
    ) -> Vec<Advice> {
        if let Some(even) = uneven::against(app) {
            return vec![even];
        }
        let unsplittable = Unsplittable::of(app, large);
        let mut advice: Vec<Advice> = unsplittable.map(|it| it.advice().into()).into_iter().collect();
        if unsplittable.is_none_or(|it| it.by_block) {
            let size = split_for(app, group, self.1.target());
            let size = size.unwrap_or_else(|| whole_mib(Bytes::new(block.min(large).get() / 2)));
            // If the files only have larger blocks, splits become as small as recommended, but never larger than they
            // are now.
            let size = unsplittable.map_or(size, |it| it.split.min(size));
            let limits = SplitLimits::of(app);
            let changes = limits.smaller(app, size);
            let others_are_split = are_split(small, size, block) && !limits.minimum_explains(large);
            // The same settings split the other inputs, so only another format helps the large ones.
            if unsplittable.is_some() && (others_are_split || reads_gzip(app)) {
                return advice;
            }
            if others_are_split && unsplittable.is_none() {
                advice.push(cannot_be_split(small));
            }
            let doubtful = others_are_split || unsplittable.is_some();
            let when = match unsplittable {
                Some(_) => "if they only have larger blocks, ",
                None if doubtful => "if they can be split, ",
                None => "",
            };
            if !changes.is_empty() {
                let what = Advice::new(format!("{when}split the large inputs"));
                let split = what.set(changes).and(&format!(" ({size})"));
                advice.push(if doubtful { split.conditional() } else { split });
            }
            if others_are_split {
                return advice;
            }
        }
        if unsplittable.is_none() {
            advice.push(
                "files compressed with gzip cannot be split: write large ones as bzip2, ORC or Parquet"
                    .into(),
            );
        }
        advice
    }

    pub(super) fn data_advice(
        &self,
        app: &Advised<'_>,
        group: &TaskGroup,
        groups: TwoGroups,
        block: Bytes,
    ) -> Vec<Advice> {
        match self.0 {
            Role::Map => {
                let sizes = (to_bytes(groups.small.mean), to_bytes(groups.large.mean));
                self.split_advice(app, group, sizes, block)
            }
            Role::Reduce => key_advice(app),
        }
    }

    pub(super) fn time_advice(&self, job: Job<'_>, groups: TwoGroups) -> Vec<Advice> {
        let (Self(role, params, _), (app, ..)) = (self, job);
        if let Some(remote) = Remote::of(params, job, groups.pivot) {
            return vec![remote.advice()];
        }
        let tasks = role.plural();
        let node = common_node(job, groups.pivot);
        // A slow node takes more CPU time for the same work, too.
        let cpu = CpuTimes::of(job, groups.pivot).filter(|_| node.is_none());
        let computes = cpu.as_ref().is_some_and(|cpu| cpu.explain(params.computing_share.get()));
        let mut advice = vec![Advice::new(match (node, cpu) {
            (Some((node, there, long)), _) => format!(
                "{there} of the {long} long {tasks} ran on {node}: check that node, and exclude it from the cluster ({}) while \
                 it is slow",
                by_hadoop(app, "yarn.resourcemanager.nodes.exclude-path", "mapred.hosts.exclude")
            ),
            (None, Some(cpu)) if computes => format!(
                "the long {tasks} read no more than the others, but compute for {}× as long: look for keys and records that \
                 cost more than others, or for a slow processor",
                three_digits(cpu.ratio())
            ),
            (None, Some(_)) => format!(
                "the long {tasks} neither read nor compute more than the others: check the nodes that they ran on"
            ),
            (None, None) => format!(
                "the long {tasks} read no more than the others: look for records that cost more than others, and check \
                 the nodes that they ran on"
            ),
        })];
        // A copy would most likely compute as long.
        if !computes && app.conf.flag(role.speculative()) == Some(false) {
            let what = format!("copy {tasks} that take long");
            advice.push(Advice::new(what).set([change(app, role.speculative(), true)]));
        }
        advice
    }
}

/// The mean times of long tasks and of the others, in milliseconds.
struct CpuTimes {
    /// On processors.
    cpu: (f64, f64),
    /// From start to end.
    run: (f64, f64),
}

impl CpuTimes {
    /// `None` if no long task, or no other one, reports its CPU time.
    fn of((_, group, run_times): Job<'_>, pivot: i64) -> Option<Self> {
        let times = group.winners().filter_map(|row| {
            let run = run_times.of_attempt(group, row)?;
            let cpu = group.attempts.count(row, Counter::CpuMilliseconds).filter(|cpu| *cpu > 0)?;
            Some((run >= pivot, cpu as f64, run as f64))
        });
        let times: Vec<(bool, f64, f64)> = times.collect();
        let means = |long: bool| {
            let of = |part: fn(&(bool, f64, f64)) -> f64| {
                mean(&times.iter().filter(|(is_long, ..)| *is_long == long).map(part).collect::<Vec<f64>>())
            };
            Some((of(|times| times.1)?, of(|times| times.2)?))
        };
        let (long, others) = (means(true)?, means(false)?);
        Some(Self { cpu: (long.0, others.0), run: (long.1, others.1) })
    }

    /// Whether long tasks are long because they compute: for at least this share of the time that they take beyond the others.
    fn explain(&self, share: f64) -> bool {
        self.cpu.0 - self.cpu.1 >= share * (self.run.0 - self.run.1)
    }

    fn ratio(&self) -> f64 {
        self.cpu.0 / self.cpu.1
    }
}

/// What to do about keys that have most of the records.
pub(super) fn key_advice(app: &Application) -> Vec<Advice> {
    let combined = app.group(TaskKind::Map).is_some_and(|maps| {
        maps.winners().any(|row| maps.attempts.count(row, Counter::CombineInputRecords) > Some(0))
    });
    let partitioner = by_hadoop(app, "mapreduce.job.partitioner.class", "mapred.partitioner.class");
    let mut advice: Vec<Advice> = vec![
        format!(
            "distribute the frequent keys: add a random prefix to them and aggregate twice, or use a partitioner that treats \
             them separately ({partitioner})"
        )
        .into(),
    ];
    advice.extend(hive_advice(app));
    if !combined {
        let combiner = by_hadoop(app, "mapreduce.job.combine.class", "mapred.combiner.class");
        advice.push(format!("no combiner ran: set one ({combiner}) if the aggregation allows it").into());
    }
    advice
}

/// Whether inputs are split into parts of about a block, which are not larger than the proposed splits.
fn are_split(small: Bytes, size: Bytes, block: Bytes) -> bool {
    small <= size && small.get() >= block.get() / 2
}

fn cannot_be_split(small: Bytes) -> Advice {
    format!(
        "write the large inputs so that they can be split, as bzip2, ORC or Parquet: the other map tasks read {small} each, so \
         inputs are split already, and the large ones probably cannot be, as with gzip"
    )
    .into()
}

/// Settings with which Hive distributes frequent keys itself, for aggregations and for joins. The history does not show
/// which of them the job runs.
fn hive_advice(app: &Application) -> Vec<Advice> {
    let cases = [
        (ConfKey::HiveGroupBySkew, "if the Hive query aggregates, let Hive distribute frequent keys"),
        (ConfKey::HiveSkewJoin, "if the Hive query joins, let Hive join frequent keys in a separate job"),
    ];
    let off =
        cases.into_iter().filter(|(key, _)| may_be(app, JobTool::Hive) && app.conf.flag(*key) != Some(true));
    off.map(|(key, what)| Advice::new(what).set([change(app, key, true)]).conditional()).collect()
}

/// The node that ran most of the tasks with at least `pivot` milliseconds, if there is one: its name, its
/// number of these tasks, and their total number.
fn common_node((app, group, run_times): Job<'_>, pivot: i64) -> Option<(&str, usize, usize)> {
    let mut by_node: BTreeMap<Symbol, usize> = BTreeMap::new();
    let mut long = 0;
    for row in
        group.winners().filter(|&row| run_times.of_attempt(group, row).is_some_and(|time| time >= pivot))
    {
        long += 1;
        if let Some(node) = group.attempts.node(row) {
            *by_node.entry(node).or_default() += 1;
        }
    }
    let (&node, &there) = by_node.iter().max_by_key(|(node, count)| (**count, Reverse(**node)))?;
    let nodes_of_all: BTreeSet<Symbol> = group.winners().filter_map(|row| group.attempts.node(row)).collect();
    // One task is not a pattern, and neither is a node that ran all tasks.
    let tells = there >= 2 && there * 2 > long && nodes_of_all.len() > 1;
    if tells { Some((app.strings.get(node)?, there, long)) } else { None }
}

#[cfg(test)]
mod tests {
    use elephant_model::model::counters::Counter;
    use elephant_ruleset::RuleSet;

    /// The advice if most map tasks read this many MiB, and one reads 1.5 GiB.
    fn advice(others: i64) -> Vec<(String, bool)> {
        let mut tasks = vec![(30, others); 19];
        tasks.push((1200, 1536));
        let app = elephant_sample::job(vec![elephant_sample::maps(&tasks)], &[]);
        let findings = RuleSet::new(crate::BUILT_IN).unwrap().evaluate(&app).findings;
        let found = findings.into_iter().find(|finding| finding.rule == "mapper-skew").unwrap();
        found.advice.into_iter().map(|line| (line.text, line.conditional)).collect()
    }

    #[test]
    fn copies_do_not_help_tasks_that_compute() {
        let of = |cpu: Option<i64>| {
            let settings = [("mapreduce.map.speculative", "false")];
            let mut maps = elephant_sample::maps(
                &(0..20).map(|map| (if map == 19 { 1200 } else { 60 }, 128)).collect::<Vec<_>>(),
            );
            for row in 0..20 {
                let cpu = if row == 19 { cpu } else { cpu.map(|_| 50_000) };
                maps.attempts.set_counter(row, Counter::CpuMilliseconds, cpu);
            }
            let app = elephant_sample::job(vec![maps], &settings);
            let found = elephant_sample::evaluate(&app, "mapper-skew", false).findings.remove(0);
            let copies = found.advice.iter().flat_map(|line| &line.settings).count();
            (found.advice[0].text.clone(), copies)
        };
        let (text, copies) = of(Some(1_000_000));
        assert!(text.contains("compute for 20× as long") && copies == 0, "{text} {copies}");
        let (text, copies) = of(Some(50_000));
        assert!(text.contains("neither read nor compute more") && copies == 1, "{text} {copies}");
        let (text, copies) = of(None);
        assert!(text.contains("look for records") && copies == 1, "{text} {copies}");
    }

    #[test]
    fn smaller_splits_do_not_help_files_that_cannot_be_split() {
        let of = |others: i64, input: &str| {
            let mut tasks = vec![(30, others); 19];
            tasks.push((1200, 1536));
            let settings = [("dfs.blocksize", "128m"), ("mapreduce.input.fileinputformat.inputdir", input)];
            let app = elephant_sample::job(vec![elephant_sample::maps(&tasks)], &settings);
            let found = elephant_sample::evaluate(&app, "mapper-skew", false).findings.remove(0);
            found.advice.iter().flat_map(|line| line.settings.clone()).count()
        };
        assert_eq!(of(128, "/logs"), 0);
        assert_eq!(of(4, "/logs/a.log.gz,/small"), 0);
        // They may have larger blocks.
        assert_eq!(of(4, "/logs"), 1);
    }

    #[test]
    fn a_large_input_among_split_ones_probably_cannot_be_split() {
        let split = advice(128);
        assert!(split[0].0.contains("the other map tasks read 128 MiB each, so inputs are split already"));
        assert!(split[1].0.starts_with("if they can be split, ") && split[1].1, "{split:?}");
        // Small files do not show whether inputs can be split.
        let small = advice(4);
        assert!(small[0].0.starts_with("split the large inputs: ") && !small[0].1, "{small:?}");
    }
}
