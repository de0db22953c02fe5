//! The executors of one recommended configuration: their cores, number and heap belong together.
//!
//! A rule that advises fewer cores also advises a heap and a number of executors that suit these cores. Combined with
//! the heap of another rule, these settings may leave each task less memory than before, or run more tasks at a time.
//! So where cores change, the settings of one trouble are taken as a whole: memory errors first, then garbage
//! collection. The memory overhead is then fitted to the heap that is settled, because each rule computes it for its
//! own heap.

use super::Trouble;
use super::value::magnitude;
use elephant_analysis::executors::fitting_overhead;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_model::diagnosis::FailureKind;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::HEAP;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::{SettingChange, TroubleKind};

/// Settings of cores, number and heap of executors.
const OF_EXECUTORS: [ConfKey; 4] = [
    ConfKey::ExecutorCores,
    ConfKey::ExecutorInstances,
    ConfKey::DynamicAllocationMax,
    ConfKey::ExecutorMemory,
];

/// A share of the heap for each task that counts as the same one: sizes are rounded.
const SAME: f64 = 0.999;

fn sets(change: &SettingChange, key: ConfKey) -> bool {
    key.names().contains(&change.setting.as_str())
}

fn sizes_executors(change: &SettingChange) -> bool {
    OF_EXECUTORS.into_iter().any(|key| sets(change, key))
}

/// Why executors keep their size if much garbage is collected although heaps are not full.
const UNTIL_FEWER_COLLECTIONS: &str =
    "executors do not get smaller while they spend so much time in garbage collection";

/// What a trouble proposes for executors.
struct Proposed<'a> {
    place: usize,
    trouble: &'a Trouble,
    changes: Vec<&'a SettingChange>,
}

impl<'a> Proposed<'a> {
    fn of(place: usize, trouble: &'a Trouble) -> Option<Self> {
        let firm = trouble.advice.iter().filter(|advice| !advice.conditional);
        let changes = firm.flat_map(|advice| &advice.settings).filter(|change| sizes_executors(change));
        let changes: Vec<&SettingChange> = changes.collect();
        (!changes.is_empty()).then_some(Self { place, trouble, changes })
    }

    fn changes_cores(&self) -> bool {
        self.changes.iter().any(|change| sets(change, ConfKey::ExecutorCores))
    }

    fn is_part_of(&self, other: &Self) -> bool {
        let known = |change: &&SettingChange| {
            other.changes.iter().any(|it| it.setting == change.setting && it.to == change.to)
        };
        self.changes.iter().all(known)
    }

    /// Lower ranks go first: failures, then measured troubles, then rules of thumb.
    fn rank(&self) -> impl Ord + use<> {
        use TroubleKind as Kind;
        let class = match self.trouble.kind {
            Kind::Failures => 0,
            Kind::GarbageCollection => 1,
            Kind::LittleMemory | Kind::Spill => 2,
            Kind::Settings => 4,
            _ => 3,
        };
        (class, self.place)
    }
}

/// The proposals for executors that are left out.
#[derive(Default)]
pub(super) struct LeftOut {
    /// Places of troubles, with the reason for each of their settings.
    places: Vec<(usize, Reason)>,
}

#[derive(Clone, Copy)]
enum Reason {
    /// Tasks have too little heap already.
    LessHeap(TroubleKind),
    /// Much garbage collection that the size of the heap does not explain.
    Collections,
    /// The executors are sized for another trouble.
    SizedFor(TroubleKind),
}

impl Reason {
    fn words(self, change: &SettingChange) -> String {
        let of = |kind: TroubleKind| kind.words().to_lowercase();
        match self {
            Self::LessHeap(kind) if sets(change, ConfKey::ExecutorMemory) => {
                format!("less would make {} worse", of(kind))
            }
            Self::LessHeap(kind) => format!("with less heap for each task, {} would get worse", of(kind)),
            Self::Collections => UNTIL_FEWER_COLLECTIONS.to_owned(),
            Self::SizedFor(kind) => format!("executors are sized for another trouble ({})", of(kind)),
        }
    }
}

impl LeftOut {
    pub(super) fn of(app: &Application, troubles: &[Trouble]) -> Self {
        if app.engine != Engine::Spark {
            return Self::default();
        }
        let short = short_of_heap(troubles);
        let proposed = troubles.iter().enumerate().filter_map(|(place, it)| Proposed::of(place, it));
        let mut left_out = Self::default();
        let mut rest: Vec<Proposed<'_>> = Vec::new();
        for it in proposed {
            match short.filter(|_| heap_per_task(app, &it.changes) < SAME) {
                Some(why) => left_out.places.push((it.place, why)),
                None => rest.push(it),
            }
        }
        let Some(best) = rest.iter().min_by_key(|it| it.rank()) else { return left_out };
        for it in &rest {
            if (it.changes_cores() || best.changes_cores()) && !it.is_part_of(best) {
                left_out.places.push((it.place, reason(it, best)));
            }
        }
        left_out.places.retain(|(place, _)| *place != best.place);
        left_out
    }

    /// Whether this change of the trouble at a place is left out.
    pub(super) fn contains(&self, place: usize, change: &SettingChange) -> bool {
        sizes_executors(change) && self.places.iter().any(|(it, _)| *it == place)
    }

    /// Settings that are left out, with the reason.
    pub(super) fn reasons(&self, troubles: &[Trouble]) -> Vec<(String, String)> {
        let of_place = |&(place, reason): &(usize, Reason)| {
            let changes = troubles.get(place).and_then(|trouble| Proposed::of(place, trouble));
            let changes = changes.map(|it| it.changes).unwrap_or_default();
            changes.into_iter().map(move |it| (it.setting.clone(), reason.words(it))).collect::<Vec<_>>()
        };
        self.places.iter().flat_map(of_place).collect()
    }
}

/// Why `it` gives way to `best`.
fn reason(it: &Proposed<'_>, best: &Proposed<'_>) -> Reason {
    use TroubleKind as Kind;
    let kind = best.trouble.kind;
    let has_heap = it.changes.iter().all(|change| sets(change, ConfKey::ExecutorMemory));
    let presses = matches!(kind, Kind::GarbageCollection | Kind::Spill | Kind::LittleMemory);
    let is_less = it.trouble.kind == Kind::MuchMemory;
    if presses && has_heap && is_less { Reason::LessHeap(kind) } else { Reason::SizedFor(kind) }
}

/// The trouble because of which tasks must not get less heap: tasks ran out of memory, or spend much time in garbage
/// collection.
fn short_of_heap(troubles: &[Trouble]) -> Option<Reason> {
    let collects = |trouble: &Trouble| {
        trouble.kind == TroubleKind::GarbageCollection && trouble.severity >= Severity::Moderate
    };
    let short = troubles.iter().find(|trouble| trouble.ran_out_of_heap() || collects(trouble));
    // Without a setting, a larger heap would not help: then a smaller one cannot be said to make it worse.
    let explains = |trouble: &Trouble| trouble.advice.iter().any(|advice| !advice.settings.is_empty());
    short.map(|trouble| match trouble.kind {
        TroubleKind::GarbageCollection if !explains(trouble) => Reason::Collections,
        kind => Reason::LessHeap(kind),
    })
}

#[doc(hidden)]
impl Trouble {
    /// Whether tasks failed because the heap was too small.
    #[must_use]
    pub fn ran_out_of_heap(&self) -> bool {
        use FailureKind as Failed;
        self.kind == TroubleKind::Failures
            && self.failure.as_ref().is_some_and(|failure| {
                matches!(failure.kind, Failed::HeapSpace | Failed::GcOverhead | Failed::ExecutionMemory)
            })
    }
}

/// Fits a recommended overhead to the recommended heap. After containers were killed for their memory, they do not become
/// smaller: what the heap gives up goes to the overhead.
pub(super) fn fit_overhead(app: &Application, recommended: &mut [&mut SettingChange], after_kills: bool) {
    let size = |change: &SettingChange| Bytes::from_f64(magnitude(&change.setting, &change.to)?);
    let set_heap = app.conf.spark_memory(ConfKey::ExecutorMemory).unwrap_or(HEAP);
    let heap = recommended.iter().find(|change| sets(change, ConfKey::ExecutorMemory));
    let heap = heap.and_then(|change| size(change)).unwrap_or(set_heap);
    let overhead = recommended.iter_mut().find(|change| sets(change, ConfKey::ExecutorMemoryOverhead));
    let Some(overhead) = overhead else { return };
    let Some(proposed) = size(overhead) else { return };
    let given_up = if after_kills { set_heap - heap } else { Bytes::default() };
    if let Some((fitting, text)) = fitting_overhead(app, heap, proposed + given_up)
        && fitting > proposed
    {
        overhead.to = text;
    }
}

/// The heap for each task with `changes`, as a multiple of the present one.
pub fn heap_per_task(app: &Application, changes: &[&SettingChange]) -> f64 {
    let find = |key: ConfKey| changes.iter().find(|change| sets(change, key));
    let times = |key: ConfKey, default: f64| {
        let Some(SettingChange { setting, from, to }) = find(key) else { return 1.0 };
        let now = from.as_deref().and_then(|from| magnitude(setting, from)).unwrap_or(default);
        magnitude(setting, to).map_or(1.0, |to| to / now.max(1.0))
    };
    let recorded = app.spark.as_deref().and_then(|spark| spark.workers().filter_map(|it| it.cores).max());
    let heap = times(ConfKey::ExecutorMemory, HEAP.as_f64());
    heap / times(ConfKey::ExecutorCores, recorded.map_or(1.0, f64::from))
}
