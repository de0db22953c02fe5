//! Causes of an application's stragglers, and remedies for each.

use std::cmp::Reverse;

use super::slow_nodes::SlowNodes;
use crate::mapreduce;
use elephant_analysis::stragglers::cause::{Cause, CauseCounts, Confidence, StragglerCause};
use elephant_analysis::stragglers::group::GroupStragglers;
use elephant_base::units::Millis;
use elephant_catalogue::{Advised, Stragglers};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::Advice;
use elephant_rule::wording::{by_hadoop, change};

/// The number of causes that get advice.
const ADVISED: usize = 2;
/// Only this many stragglers of each group count for the costs of causes: those that held it up longest.
const MOST_WAITS: usize = 100;

/// The causes of stragglers whose input does not explain them.
pub(crate) struct Causes<'a> {
    groups: &'a [Vec<StragglerCause>],
    /// Causes with their stragglers, the one that held up its groups longest first.
    counts: Vec<Counted>,
    all: CauseCounts,
    slow_nodes: SlowNodes,
}

/// The stragglers of one cause.
struct Counted {
    cause: Cause,
    stragglers: u64,
    /// The sum of how long their groups waited for each of them. Many short stragglers cost less than one long one.
    held_up: Millis,
}

impl<'a> Causes<'a> {
    pub(crate) fn of(stragglers: &'a Stragglers<'_>) -> Self {
        let (views, groups) = (&stragglers.groups, stragglers.causes());
        let mut all = CauseCounts::default();
        for group in groups {
            all.add(group);
        }
        let held_up = held_up(views, groups);
        let by_cause = all.by_frequency().into_iter().map(|(count, _)| (count.cause, count.primary));
        let by_cause = by_cause.filter(|(cause, _)| *cause != Cause::DataSkew);
        let counted = |(cause, stragglers)| {
            let of = held_up.iter().filter(|(it, _)| *it == cause).map(|(_, wait)| *wait);
            Counted { cause, stragglers, held_up: of.sum() }
        };
        let mut counts: Vec<Counted> = by_cause.map(counted).collect();
        counts.sort_by_key(|it| (Reverse(it.held_up), Reverse(it.stragglers), it.cause));
        let slow_nodes = SlowNodes::of(stragglers.app, views, groups);
        Self { groups, counts, all, slow_nodes }
    }

    /// The nodes that made tasks slow.
    pub(in crate::any) const fn slow_nodes(&self) -> &SlowNodes {
        &self.slow_nodes
    }

    /// The cause of more than half of the time for which stragglers held up their groups. If they held up no group, the
    /// cause of more than half of the stragglers. `None` if there is no such cause.
    pub(in crate::any) fn mostly(&self) -> Option<Cause> {
        let held_up: u64 = self.counts.iter().map(|it| it.held_up.get()).sum();
        let stragglers: u64 = self.counts.iter().map(|it| it.stragglers).sum();
        let is_most = |it: &&Counted| match held_up {
            0 => 2 * it.stragglers > stragglers,
            all => it.held_up.get() > all / 2,
        };
        self.counts.first().filter(is_most).map(|it| it.cause)
    }

    /// The cause of one straggler of the group at index `place`.
    pub(in crate::any) fn of_task(&self, place: usize, task: usize) -> Option<&StragglerCause> {
        self.groups.get(place)?.iter().find(|straggler| straggler.task == task)
    }

    /// "garbage collection 3 (2 measured, 1 weak), unexplained 1".
    pub(in crate::any) fn in_words(&self) -> String {
        let words = |&Counted { cause, stragglers, .. }: &Counted| {
            format!("{} {stragglers}{}", cause.display_name(), in_brackets(&self.confidence(cause)))
        };
        let words: Vec<String> = self.counts.iter().map(words).collect();
        if words.is_empty() { "no cause was found".to_owned() } else { words.join(", ") }
    }

    /// How certain a cause is: "inferred", or "2 measured, 1 weak".
    fn confidence(&self, cause: Cause) -> String {
        let count = self.all.causes.iter().find(|count| count.cause == cause);
        count.map(|count| count.confidence().to_string()).unwrap_or_default()
    }
}

/// " (inferred)", or nothing if there is no text.
fn in_brackets(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}

/// The causes of the stragglers that their groups waited for, each with the time.
fn held_up(views: &[GroupStragglers<'_>], groups: &[Vec<StragglerCause>]) -> Vec<(Cause, Millis)> {
    let of_group = |(view, causes): (&GroupStragglers<'_>, &Vec<StragglerCause>)| {
        let cause = |task: usize| causes.iter().find(|straggler| straggler.task == task);
        let waits = view.held_up_by().into_iter().take(MOST_WAITS);
        waits.filter_map(|(task, wait)| Some((cause(task.task())?.primary, wait))).collect::<Vec<_>>()
    };
    views.iter().zip(groups).flat_map(of_group).collect()
}

/// Remedies for the causes that cost most.
pub(in crate::any) fn remedies(app: &Advised<'_>, causes: &Causes<'_>) -> Vec<Advice> {
    let of = |it: &Counted| {
        let confidence = causes.confidence(it.cause);
        match it.cause {
            Cause::Hardware => of_nodes(app, causes, &confidence),
            cause => remedy(app, cause, &confidence),
        }
    };
    let mut counts: Vec<&Counted> = causes.counts.iter().collect();
    if causes.slow_nodes.are_the_trouble() {
        counts.sort_by_key(|it| it.cause != Cause::Hardware);
    }
    let held_up: u64 = counts.iter().map(|it| it.held_up.get()).sum();
    let matters = |it: &&Counted| it.held_up.as_f64() >= app.advice.cause_share.get() * held_up as f64;
    let others = counts.iter().skip(1).copied().filter(matters);
    counts.iter().take(1).copied().chain(others).take(ADVISED).map(of).collect()
}

/// The remedy for slow nodes, with their names if they are known.
fn of_nodes(app: &Advised<'_>, causes: &Causes, confidence: &str) -> Advice {
    let names = causes.slow_nodes.names();
    let advice = if names.is_empty() {
        remedy(app, Cause::Hardware, confidence)
    } else {
        let advice = Advice::new(format!(
            "{}{}: take {names} out of the cluster, and check disks, memory, processors and network there; \
             `elephant-rs nodes` over several applications shows whether it is always slow",
            Cause::Hardware.display_name(),
            in_brackets(confidence)
        ));
        match app.engine {
            Engine::MapReduce | Engine::Tez => {
                advice.and("; its --exclude-list FILE writes a file for ").and(excluding(app))
            }
            Engine::Spark => advice,
        }
    };
    // Spark excludes nodes on which tasks fail, not those on which they are slow.
    let excludes = app.engine == Engine::Spark && app.conf.flag(ConfKey::ExcludeOnFailure) != Some(true);
    if !(excludes && causes.slow_nodes.has_failures()) {
        return advice;
    }
    advice
        .and("; tasks failed there, too, so Spark can exclude it")
        .set([change(app, ConfKey::ExcludeOnFailure, true)])
        .conditional()
}

/// The setting with the file of nodes that get no tasks.
fn excluding(app: &Application) -> &'static str {
    by_hadoop(app, "yarn.resourcemanager.nodes.exclude-path", "mapred.hosts.exclude")
}

/// The remedy for one straggler. If its node is the cause, advises to examine that node.
pub(in crate::any) fn remedy_for_one(
    app: &Advised<'_>,
    found: &StragglerCause,
    node: Option<&str>,
) -> Advice {
    let cause = found.primary;
    let confidence = found.confidence.map(Confidence::name).unwrap_or_default();
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
        Some(node) => Advice::new(format!(
            "{}{}: examine {node} at the time of the task; `elephant-rs nodes` compares it with the other nodes",
            cause.display_name(),
            in_brackets(confidence)
        )),
        None => remedy(app, cause, confidence),
    }
}

/// The remedy for one cause, with the settings that the rules on it advise.
fn remedy(app: &Advised<'_>, cause: Cause, confidence: &str) -> Advice {
    let what = match app.engine {
        Engine::Spark => of_spark(cause),
        Engine::MapReduce => of_mapreduce(cause),
        Engine::Tez => of_tez(cause),
    };
    let (name, confidence) = (cause.display_name(), in_brackets(confidence));
    let setting = match (app.engine, cause) {
        (Engine::MapReduce, Cause::Disk) => by_hadoop(app, "yarn.nodemanager.local-dirs", "mapred.local.dir"),
        (Engine::MapReduce | Engine::Tez, Cause::Hardware) => excluding(app),
        _ => "",
    };
    let advice = Advice::new(format!("{name}{confidence}: {}{setting}", what.unwrap_or(of_any(cause))));
    let advice = match page(app.engine, cause) {
        Some(rule) => advice.see_rule(rule),
        None => advice,
    };
    match (app.engine, cause) {
        (Engine::MapReduce, Cause::Gc) => advice.set_for_first(mapreduce::larger_heaps(app)),
        (Engine::MapReduce, Cause::Disk) => advice.set_for_first(mapreduce::larger_sort_buffer(app)),
        (Engine::MapReduce, Cause::Scheduler) => advice.set(mapreduce::slow_start(app)),
        _ => advice,
    }
}

/// The rule whose page the remedy for a cause points to.
const fn page(engine: Engine, cause: Cause) -> Option<&'static str> {
    Some(match (engine, cause) {
        (Engine::Spark, Cause::DataSkew) => "spark-skew",
        (Engine::Spark, Cause::Gc) => "spark-executor-gc",
        (Engine::Spark, Cause::Disk) => "spark-executor-spill",
        (Engine::MapReduce, Cause::DataSkew) => "reducer-skew",
        (Engine::MapReduce, Cause::Gc) => "mapper-gc",
        (Engine::MapReduce, Cause::Disk) => "mapper-spill",
        (Engine::Tez, Cause::DataSkew) => "tez-reducer-skew",
        (Engine::Tez, Cause::Gc) => "tez-mapper-gc",
        (Engine::Tez, Cause::Disk) => "tez-mapper-spill",
        _ => return None,
    })
}

/// What helps in Spark; `None` if it is the same for any engine.
const fn of_spark(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::DataSkew => "distribute their data evenly (`elephant-rs rules show spark-skew`)",
        Cause::Gc => {
            "run fewer tasks per heap or enlarge the heap (`elephant-rs rules show spark-executor-gc`)"
        }
        Cause::Disk => {
            "spill less (`elephant-rs rules show spark-executor-spill`), and put spark.local.dir on several disks"
        }
        Cause::Network => {
            "fetch fewer and larger blocks, and check the network of the nodes that they fetched from"
        }
        Cause::Hardware => "`elephant-rs nodes` ranks the nodes; remove the worst from the cluster",
        Cause::Scheduler => {
            "the driver was slow to launch tasks or to collect results: use larger tasks, smaller results, more driver \
             memory and cores"
        }
        _ => return None,
    })
}

/// What helps in MapReduce, followed by the name of a setting for disks and hardware; `None` if it is the same for any
/// engine.
const fn of_mapreduce(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::DataSkew => "distribute their data evenly (`elephant-rs rules show reducer-skew`)",
        Cause::Gc => {
            "create less garbage, or enlarge a heap that is full (`elephant-rs rules show mapper-gc`)"
        }
        Cause::Disk => "spill less (`elephant-rs rules show mapper-spill`), and use several disks for ",
        Cause::Network => "check the network between the nodes",
        Cause::Hardware => {
            "`elephant-rs nodes` over many jobs ranks the nodes; --exclude-list FILE writes the worst into a file for "
        }
        Cause::Scheduler => "reduce tasks waited for map tasks; start them later",
        _ => return None,
    })
}

/// What helps in Tez; `None` if it is the same for any engine.
const fn of_tez(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::DataSkew => "distribute their data evenly (`elephant-rs rules show tez-reducer-skew`)",
        Cause::Gc => {
            "create less garbage, or enlarge a heap that is full (`elephant-rs rules show tez-mapper-gc`)"
        }
        Cause::Disk => "spill less (`elephant-rs rules show tez-mapper-spill`)",
        Cause::Network => "check the network between the nodes",
        _ => return None,
    })
}

/// What helps in any engine.
const fn of_any(cause: Cause) -> &'static str {
    match cause {
        Cause::Cpu | Cause::Contention => {
            "`elephant-rs nodes` shows whether the same nodes are always affected; if so, run fewer containers on them; if not, \
             find out what else ran on them"
        }
        Cause::SlowFileSystem => "check name nodes and data nodes at the time when these tasks started",
        Cause::ColdStart => {
            "the first tasks of a stage on an executor load classes, compile code and fetch broadcast variables: keep \
             executors longer, use fewer and longer stages, or accept it"
        }
        Cause::MoreWork => {
            "with no more data than the others they compute for longer: look at the values of their records (many matches in a \
             join, large groups, records that are hard to parse) and at the code that handles them; copies of them do not help"
        }
        Cause::EveryAttempt => {
            "the nodes are not the cause, because another attempt on another node was slow, too: look at the input of these tasks \
             and at the code that reads it; copies of them do not help"
        }
        Cause::DataSkew
        | Cause::Gc
        | Cause::Disk
        | Cause::Network
        | Cause::Hardware
        | Cause::Scheduler
        | Cause::Unexplained => {
            "`elephant-rs stragglers --node-metrics FILE` compares these tasks with metrics of their nodes"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;

    #[test]
    fn a_remedy_that_shows_a_page_says_which() {
        let app = |engine| match engine {
            Engine::Spark => elephant_sample::app(&[]),
            Engine::MapReduce => elephant_sample::job(Vec::new(), &[]),
            Engine::Tez => Application::new(Engine::Tez),
        };
        for (engine, cause) in Cause::ALL.iter().flat_map(|&it| Engine::ALL.map(|engine| (engine, it))) {
            let advice = remedy(&advised(&app(engine)), cause, "");
            let shown = advice.text.split_once("rules show ").and_then(|(_, rest)| rest.split('`').next());
            assert_eq!(advice.see_rule.as_deref(), shown, "{cause:?}");
        }
    }
}
