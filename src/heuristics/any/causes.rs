//! Causes of an application's stragglers, and what helps against each.

use crate::model::{Application, Engine};
use crate::stragglers::cause::{Cause, CauseCounts, LabelledGroup, Params, StragglerCause, attribute};
use crate::stragglers::executions::Basis;
use crate::stragglers::group::GroupStragglers;

/// How many causes are worth advice.
const ADVISED: usize = 2;

/// The causes of stragglers that their input does not explain.
pub(in crate::heuristics) struct Causes {
    groups: Vec<Vec<StragglerCause>>,
    /// Causes with their number of stragglers, the most frequent first.
    counts: Vec<(Cause, u64)>,
}

impl Causes {
    pub(in crate::heuristics) fn of(app: &Application, views: &[GroupStragglers<'_>]) -> Self {
        let groups: Vec<LabelledGroup<'_>> = views
            .iter()
            .map(|view| LabelledGroup {
                group: view.group,
                executions: &view.executions,
                basis: Basis::Wall,
                stragglers: &view.labels.stragglers,
            })
            .collect();
        let mut counts = CauseCounts::default();
        let groups = attribute(app, &groups, None, &Params::default());
        for group in &groups {
            counts.add(group);
        }
        let told = Cause::ALL.into_iter().zip(counts.primary);
        let mut counts: Vec<(Cause, u64)> =
            told.filter(|&(cause, count)| count > 0 && cause != Cause::DataSkew).collect();
        counts.sort_by_key(|&(cause, count)| (std::cmp::Reverse(count), cause));
        Self { groups, counts }
    }

    /// The cause of one straggler of the group at `place`.
    pub(super) fn of_task(&self, place: usize, task: usize) -> Option<&StragglerCause> {
        self.groups.get(place)?.iter().find(|straggler| straggler.task == task)
    }

    /// "garbage collection 3, contention on the node 1".
    pub(super) fn in_words(&self) -> String {
        let words: Vec<String> =
            self.counts.iter().map(|(cause, count)| format!("{} {count}", cause.display_name())).collect();
        if words.is_empty() { "none was found".to_owned() } else { words.join(", ") }
    }
}

/// What helps against the most frequent causes.
pub(super) fn remedies(app: &Application, causes: &Causes) -> Vec<String> {
    causes.counts.iter().take(ADVISED).map(|&(cause, _)| remedy(app, cause)).collect()
}

/// What helps one straggler: where its node is to blame, a look at that node.
pub(super) fn remedy_for_one(app: &Application, cause: Cause, node: Option<&str>) -> String {
    let of_the_node = matches!(
        cause,
        Cause::Cpu
            | Cause::Disk
            | Cause::Network
            | Cause::Hardware
            | Cause::Contention
            | Cause::SlowFileSystem
    );
    match node.filter(|_| of_the_node) {
        Some(node) => format!(
            "{}: look at {node} at the time of the task; `elephant-rs nodes` sets it beside the others",
            cause.display_name()
        ),
        None => remedy(app, cause),
    }
}

/// What helps against one cause.
fn remedy(app: &Application, cause: Cause) -> String {
    let spark = app.engine == Engine::Spark;
    let pick =
        |of_spark: &'static str, of_mapreduce: &'static str| if spark { of_spark } else { of_mapreduce };
    let what = match cause {
        Cause::DataSkew => pick(
            "spread their data: see spark-stage-metrics",
            "spread their data: see mapper-skew and reducer-skew",
        ),
        Cause::Gc => pick(
            "let fewer tasks share a heap (spark.executor.cores) or give it more (spark.executor.memory): see \
             spark-executor-gc",
            "give their JVMs more heap (mapreduce.map.java.opts, mapreduce.reduce.java.opts): see mapper-gc and reducer-gc",
        ),
        Cause::Disk => pick(
            "spill less (spark.sql.shuffle.partitions, spark.executor.memory) and spread spark.local.dir over disks",
            "spill less (mapreduce.task.io.sort.mb): see mapper-spill, and spread the node managers' local folders over disks",
        ),
        Cause::Network => pick(
            "fetch with fewer and larger blocks, and look at the network of the nodes that they fetched from",
            "start reduces later (mapreduce.job.reduce.slowstart.completedmaps) and look at the network between the nodes",
        ),
        Cause::Hardware => pick(
            "`elephant-rs nodes` ranks the nodes; keep tasks off the worst with --conf spark.excludeOnFailure.enabled=true, \
             or take it out",
            "`elephant-rs nodes` over many jobs ranks the nodes; --exclude-list FILE writes the worst for \
             yarn.resourcemanager.nodes.exclude-path",
        ),
        Cause::Cpu | Cause::Contention => {
            "`elephant-rs nodes` tells whether it is always the same nodes; if so, fewer containers on them, if not, see \
             what ran beside these tasks"
        }
        Cause::SlowFileSystem => {
            "look at the name nodes and data nodes of the minute in which these tasks began"
        }
        Cause::Scheduler => pick(
            "the driver was slow to start or to collect them: larger tasks, smaller results, more driver memory and cores",
            "reduces waited for maps: mapreduce.job.reduce.slowstart.completedmaps nearer to 1",
        ),
        Cause::ColdStart => {
            "the first tasks of an executor load classes and compile code: keep executors longer, or take it as it is"
        }
        Cause::MoreWork => {
            "they do more for each byte than the others: look for records with many matches, large groups or user code \
             that depends on the data"
        }
        Cause::Unexplained => {
            "`elephant-rs stragglers --node-metrics FILE` sets metrics of the nodes beside them"
        }
    };
    format!("{}: {what}", cause.display_name())
}
