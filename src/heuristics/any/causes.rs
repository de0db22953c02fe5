//! Causes of an application's stragglers, and remedies for each.

use crate::model::{Application, Engine};
use crate::stragglers::cause::{Cause, CauseCounts, LabelledGroup, Params, StragglerCause, attribute};
use crate::stragglers::executions::Basis;
use crate::stragglers::group::GroupStragglers;

/// The number of causes that get advice.
const ADVISED: usize = 2;

/// The causes of stragglers whose input does not explain them.
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
        let by_cause = Cause::ALL.into_iter().zip(counts.primary);
        let mut counts: Vec<(Cause, u64)> =
            by_cause.filter(|&(cause, count)| count > 0 && cause != Cause::DataSkew).collect();
        counts.sort_by_key(|&(cause, count)| (std::cmp::Reverse(count), cause));
        Self { groups, counts }
    }

    /// The cause of one straggler of the group at index `place`.
    pub(super) fn of_task(&self, place: usize, task: usize) -> Option<&StragglerCause> {
        self.groups.get(place)?.iter().find(|straggler| straggler.task == task)
    }

    /// "garbage collection 3, contention on the node 1".
    pub(super) fn in_words(&self) -> String {
        let words: Vec<String> =
            self.counts.iter().map(|(cause, count)| format!("{} {count}", cause.display_name())).collect();
        if words.is_empty() { "no cause was found".to_owned() } else { words.join(", ") }
    }
}

/// Remedies for the most frequent causes.
pub(super) fn remedies(app: &Application, causes: &Causes) -> Vec<String> {
    causes.counts.iter().take(ADVISED).map(|&(cause, _)| remedy(app, cause)).collect()
}

/// The remedy for one straggler. If its node is the cause, advises to examine that node.
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
            "{}: examine {node} at the time of the task; `elephant-rs nodes` compares it with the other nodes",
            cause.display_name()
        ),
        None => remedy(app, cause),
    }
}

/// The remedy for one cause.
fn remedy(app: &Application, cause: Cause) -> String {
    let spark = app.engine == Engine::Spark;
    let pick =
        |of_spark: &'static str, of_mapreduce: &'static str| if spark { of_spark } else { of_mapreduce };
    let what = match cause {
        Cause::DataSkew => pick(
            "distribute their data evenly: see spark-stage-metrics",
            "distribute their data evenly: see mapper-skew and reducer-skew",
        ),
        Cause::Gc => pick(
            "run fewer tasks per heap (spark.executor.cores) or enlarge the heap (spark.executor.memory): see \
             spark-executor-gc",
            "enlarge the heap of the tasks (mapreduce.map.java.opts, mapreduce.reduce.java.opts): see mapper-gc and reducer-gc",
        ),
        Cause::Disk => pick(
            "spill less (spark.sql.shuffle.partitions, spark.executor.memory) and put spark.local.dir on several disks",
            "spill less (mapreduce.task.io.sort.mb): see mapper-spill; put yarn.nodemanager.local-dirs on several disks",
        ),
        Cause::Network => pick(
            "fetch fewer and larger blocks, and check the network of the nodes that they fetched from",
            "start reduce tasks later (mapreduce.job.reduce.slowstart.completedmaps) and check the network between the nodes",
        ),
        Cause::Hardware => pick(
            "`elephant-rs nodes` ranks the nodes; exclude the worst with --conf spark.excludeOnFailure.enabled=true, \
             or remove them from the cluster",
            "`elephant-rs nodes` over many jobs ranks the nodes; --exclude-list FILE writes the worst into a file for \
             yarn.resourcemanager.nodes.exclude-path",
        ),
        Cause::Cpu | Cause::Contention => {
            "`elephant-rs nodes` shows whether the same nodes are always affected; if so, run fewer containers on them; if not, \
             find out what else ran on them"
        }
        Cause::SlowFileSystem => "check name nodes and data nodes at the time when these tasks started",
        Cause::Scheduler => pick(
            "the driver was slow to launch tasks or to collect results: use larger tasks, smaller results, more driver memory and cores",
            "reduce tasks waited for map tasks: set mapreduce.job.reduce.slowstart.completedmaps closer to 1",
        ),
        Cause::ColdStart => {
            "the first tasks of an executor load classes and compile code: keep executors longer, or accept it"
        }
        Cause::MoreWork => {
            "they do more work per byte than the others: look for records with many matches, large groups or user code \
             that depends on the data"
        }
        Cause::Unexplained => {
            "`elephant-rs stragglers --node-metrics FILE` compares them with metrics of the nodes"
        }
    };
    format!("{}: {what}", cause.display_name())
}
