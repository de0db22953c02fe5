//! One configuration against all troubles: at most one value for each setting.
//!
//! Rules propose changes without knowing of each other. Where they disagree, more memory wins over less if something
//! failed, collected garbage or spilled for lack of it; otherwise the worse trouble decides the direction. Of several
//! values in this direction, the largest meets all needs: it is the most where more is needed, and the least harmful
//! where less is enough. Cores, number and heap of executors come from one trouble where cores change (`executors`).

use std::cmp::Ordering;

use super::executors::LeftOut;
use super::recommended::Recommended;
use super::task_memory::{self, Needed};
use super::value::{MEMORY, compare, is_less, larger_splits, magnitude, process_of, rises};
use super::{Trouble, executors, without_effect};
use elephant_analysis::executors::{smallest_free_heap, stays_free};
use elephant_base::units::Bytes;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::{SettingChange, TroubleKind};

/// The result for the changes that the troubles of an application propose.
#[derive(Debug, Default)]
pub(super) struct SettledValues {
    pub(super) recommended: Vec<Recommended>,
    /// Settings that stay as they are, with the reason.
    pub(super) kept: Vec<(String, String)>,
    /// Settings that stay because a replay shows that their change would do harm, or no good.
    pub(super) harmful: Vec<String>,
}

/// A proposed change and the trouble that calls for it, by its place.
struct Proposal<'a> {
    place: usize,
    kind: TroubleKind,
    change: &'a SettingChange,
}

impl Proposal<'_> {
    /// Whether the value rises, if it has a direction.
    fn direction(&self) -> Option<Ordering> {
        let SettingChange { setting, from, to } = self.change;
        compare(setting, to, from.as_deref()?)
    }

    /// Whether less than this would bring back failures or lost time.
    const fn is_needed(&self) -> bool {
        use TroubleKind as Kind;
        matches!(self.kind, Kind::Failures | Kind::GarbageCollection | Kind::Spill | Kind::LittleMemory)
    }
}

/// A change that may do harm.
#[derive(Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) change: &'a SettingChange,
    /// All changes.
    pub(super) all: &'a [SettingChange],
    /// Whether only a rule of thumb calls for it.
    pub(super) is_rule_of_thumb: bool,
    /// Whether it is made against garbage collection.
    pub(super) is_against_collections: bool,
}

/// The configuration against `troubles`, worst first. `harm` returns the reason if a change would do no good together
/// with all others.
pub(super) fn settle(
    app: &Application,
    troubles: &mut [Trouble],
    harm: impl Fn(Judged<'_>) -> Option<String>,
) -> SettledValues {
    let left_out = LeftOut::of(app, troubles);
    let needed = Needed::of(app, troubles, &resolve(troubles, &left_out));
    let mut settled = of_proposals(app, troubles, (&left_out, &needed), &harm);
    // A setting that only serves another one is no longer needed if that one stays as it is.
    if settled.drop_servants(troubles) {
        let again = of_proposals(app, troubles, (&left_out, &needed), &harm);
        let before = std::mem::replace(&mut settled, again);
        settled.remember(before);
    }
    settled
}

/// The changes that troubles propose, without those that contradict others, do harm or have no effect.
fn of_proposals(
    app: &Application,
    troubles: &[Trouble],
    (left_out, needed): (&LeftOut, &Needed),
    harm: impl Fn(Judged<'_>) -> Option<String>,
) -> SettledValues {
    let mut settled = SettledValues { recommended: resolve(troubles, left_out), ..SettledValues::default() };
    settled.drop_contradictions(app, troubles, needed);
    let mut of_others = left_out.reasons(troubles);
    of_others.retain(|(setting, _)| settled.recommended.iter().all(|it| it.change.setting != *setting));
    settled.kept.extend(of_others);
    let calling = |it: &Recommended| {
        let calling = troubles.iter().filter(|trouble| it.why.contains(&trouble.id));
        calling.map(|trouble| trouble.kind).collect::<Vec<_>>()
    };
    let fails = |it: &Recommended| calling(it).contains(&TroubleKind::Failures);
    // A change against failures is kept even if it makes the application slower.
    let all: Vec<SettingChange> = settled.recommended.iter().map(|it| it.change.clone()).collect();
    let known = settled.kept.len();
    settled.keep_if(|it| {
        let kinds = calling(it);
        let judged = Judged {
            change: &it.change,
            all: &all,
            is_rule_of_thumb: kinds.iter().all(|kind| *kind == TroubleKind::Settings),
            is_against_collections: kinds.contains(&TroubleKind::GarbageCollection),
        };
        harm(judged).filter(|_| !fails(it))
    });
    settled.harmful = settled.kept.iter().skip(known).map(|(setting, _)| setting.clone()).collect();
    settled.keep_splits_of_sort_buffer();
    settled.drop_unneeded_executors(&all);
    let overhead =
        |it: &&Recommended| ConfKey::ExecutorMemoryOverhead.names().contains(&it.change.setting.as_str());
    let after_kills = settled.recommended.iter().find(overhead).is_some_and(fails);
    let mut changes: Vec<&mut SettingChange> =
        settled.recommended.iter_mut().map(|it| &mut it.change).collect();
    executors::fit_overhead(app, &mut changes, after_kills);
    settled.drop_inert(app);
    settled.drop_misfits(app);
    settled
}

/// One change for each setting that any trouble proposes.
fn resolve(troubles: &[Trouble], left_out: &LeftOut) -> Vec<Recommended> {
    let mut by_setting: Vec<(&str, Vec<Proposal<'_>>)> = Vec::new();
    for (place, trouble) in troubles.iter().enumerate() {
        let firm = trouble.advice.iter().filter(|advice| !advice.conditional);
        let changes = firm.flat_map(|advice| &advice.settings);
        for change in changes.filter(|change| !left_out.contains(place, change)) {
            let proposal = Proposal { place, kind: trouble.kind, change };
            match by_setting.iter_mut().find(|(setting, _)| *setting == change.setting) {
                Some((_, proposals)) => proposals.push(proposal),
                None => by_setting.push((&change.setting, vec![proposal])),
            }
        }
    }
    by_setting.into_iter().filter_map(|(_, proposals)| one_of(&proposals, troubles)).collect()
}

fn one_of(proposals: &[Proposal<'_>], troubles: &[Trouble]) -> Option<Recommended> {
    let needed = proposals.iter().find(|it| it.is_needed() && it.direction() == Some(Ordering::Greater));
    let first = needed.or(proposals.first())?;
    let agreeing = proposals.iter().filter(|it| it.direction() == first.direction());
    let largest = agreeing.fold(first, |best, next| {
        let SettingChange { setting, to, .. } = next.change;
        if compare(setting, to, &best.change.to) == Some(Ordering::Greater) { next } else { best }
    });
    let mut places: Vec<usize> =
        proposals.iter().filter(|it| it.direction() == first.direction()).map(|it| it.place).collect();
    places.dedup();
    Some(Recommended {
        change: largest.change.clone(),
        why: places.into_iter().filter_map(|place| Some(troubles.get(place)?.id.clone())).collect(),
    })
}

/// The kinds of troubles that come from too little memory.
const PRESSING: [TroubleKind; 3] =
    [TroubleKind::GarbageCollection, TroubleKind::Spill, TroubleKind::LittleMemory];

impl SettledValues {
    /// Prefers the reasons of the first pass, in which changes were judged together with the settings that only serve
    /// them.
    fn remember(&mut self, before: Self) {
        let is_recommended =
            |setting: &String| self.recommended.iter().any(|it| it.change.setting == *setting);
        let mut kept = before.kept;
        kept.retain(|(setting, _)| !is_recommended(setting));
        self.harmful.extend(before.harmful.into_iter().filter(|setting| !is_recommended(setting)));
        kept.append(&mut self.kept);
        self.kept = kept;
    }

    /// Removes less memory where a trouble needs more of the same process. Executors may collect for lack of memory even if
    /// no larger heap is proposed.
    fn drop_contradictions(&mut self, app: &Application, troubles: &[Trouble], needed: &Needed) {
        let collects = |trouble: &Trouble| trouble.kind == TroubleKind::GarbageCollection;
        let collecting = app.engine == Engine::Spark && troubles.iter().any(collects);
        let is_free = |heap: &str| {
            let heap = magnitude("spark.executor.memory", heap).and_then(Bytes::from_f64);
            heap.is_some_and(|heap| stays_free(app, heap))
        };
        if collecting {
            self.keep_heaps_free(app, is_free);
        }
        let pressing = |process: &str| {
            let presses = |trouble: &&Trouble| {
                let sizes = trouble.change.iter().any(|change| process_of(&change.setting) == process);
                PRESSING.contains(&trouble.kind) && sizes
            };
            troubles.iter().find(presses).map(|trouble| trouble.kind)
        };
        let by_pressing = |it: &Recommended| {
            let calls = |trouble: &&Trouble| it.why.contains(&trouble.id) && PRESSING.contains(&trouble.kind);
            troubles.iter().any(|trouble| calls(&trouble))
        };
        self.keep_if(|recommended| {
            if by_pressing(recommended) {
                return None;
            }
            let SettingChange { setting, to, .. } = &recommended.change;
            let less = is_less(&recommended.change);
            if let Some(why) = needed.forbids(&recommended.change) {
                return Some(why.to_owned());
            }
            let heap_of_executors = ConfKey::ExecutorMemory.names().contains(&setting.as_str());
            let of_heap =
                (collecting && heap_of_executors && !is_free(to)).then_some(TroubleKind::GarbageCollection);
            let pressing = pressing(process_of(setting)).or(of_heap);
            let pressing = pressing.filter(|_| less && MEMORY.contains(&setting.as_str()));
            pressing.map(|kind| format!("less would make {} worse", kind.words().to_lowercase()))
        });
    }

    /// Where executors collect garbage, a heap shrinks only so far that it is never full.
    fn keep_heaps_free(&mut self, app: &Application, is_free: impl Fn(&str) -> bool) {
        let Some((least, heap)) = smallest_free_heap(app) else { return };
        for Recommended { change, .. } in &mut self.recommended {
            let SettingChange { setting, from, to } = change;
            let now = from.as_deref().and_then(|from| magnitude(setting, from));
            let to_bytes = magnitude(setting, to);
            let shrinks = now.is_some_and(|now| least.as_f64() < now && to_bytes.is_some_and(|to| to < now));
            if ConfKey::ExecutorMemory.names().contains(&setting.as_str()) && shrinks && !is_free(to) {
                to.clone_from(&heap);
            }
        }
    }

    /// Removes larger splits next to a sort buffer that is made for the output of the present ones.
    fn keep_splits_of_sort_buffer(&mut self) {
        let is_of = |it: &Recommended, key: ConfKey| key.names().contains(&it.change.setting.as_str());
        if self.recommended.iter().any(|it| is_of(it, ConfKey::SortMb)) {
            self.keep_if(|it| {
                let grows = larger_splits(&it.change) == Some(true);
                grows.then(|| {
                    "map tasks with more input would spill again, despite the larger sort buffer".to_owned()
                })
            });
        }
    }

    /// Removes more executors that would only make up for fewer cores, which `before` had.
    fn drop_unneeded_executors(&mut self, before: &[SettingChange]) {
        let sets = |change: &SettingChange, key: ConfKey| key.names().contains(&change.setting.as_str());
        let had_cores = before.iter().any(|change| sets(change, ConfKey::ExecutorCores));
        let has_cores = self.recommended.iter().any(|it| sets(&it.change, ConfKey::ExecutorCores));
        if had_cores && !has_cores {
            self.keep_if(|it| {
                let unneeded = sets(&it.change, ConfKey::ExecutorInstances);
                unneeded.then(|| "more executors would only make up for fewer cores".to_owned())
            });
        }
    }

    /// Removes settings from advice that only serve a setting that stays as it is, or that another trouble changes in the
    /// opposite direction. Returns whether there were any.
    fn drop_servants(&self, troubles: &mut [Trouble]) -> bool {
        let stays = |setting: &str| self.kept.iter().any(|(kept, _)| kept == setting);
        let is_opposite = |change: &SettingChange| {
            let settled = self.recommended.iter().find(|it| it.change.setting == change.setting);
            let ways = settled.and_then(|it| rises(&it.change)).zip(rises(change));
            ways.is_some_and(|(settled, wanted)| settled != wanted)
        };
        let mut any = false;
        for trouble in troubles {
            trouble.advice.retain_mut(|line| {
                let serves = |change: &&SettingChange| {
                    let here = line.served_by(change).is_some_and(|served| stays(&served.setting));
                    let elsewhere = line.served_elsewhere(change);
                    here || elsewhere.is_some_and(|served| stays(&served.setting) || is_opposite(served))
                };
                let is_firm = !line.conditional;
                let servants: Vec<SettingChange> =
                    line.settings.iter().filter(|_| is_firm).filter(serves).cloned().collect();
                for servant in &servants {
                    line.remove(servant);
                }
                any |= !servants.is_empty();
                servants.is_empty() || !line.settings.is_empty()
            });
        }
        any
    }

    /// Removes settings without effect, until all that are left have one.
    fn drop_inert(&mut self, app: &Application) {
        self.drop_all(|change, all| without_effect::why(app, change, &[all]).map(str::to_owned));
    }

    /// Removes sizes of task containers and heaps that do not fit each other, until all that are left do.
    fn drop_misfits(&mut self, app: &Application) {
        self.drop_all(|change, all| task_memory::misfit(app, change, all));
    }

    /// Removes changes for which `against` gives a reason next to all others, until none is left.
    fn drop_all(&mut self, against: impl Fn(&SettingChange, &[SettingChange]) -> Option<String>) {
        loop {
            let changes: Vec<SettingChange> = self.recommended.iter().map(|it| it.change.clone()).collect();
            self.keep_if(|it| against(&it.change, &changes));
            if self.recommended.len() == changes.len() {
                return;
            }
        }
    }

    /// Moves the changes for which `against` gives a reason to the settings that stay.
    fn keep_if(&mut self, against: impl Fn(&Recommended) -> Option<String>) {
        let Self { recommended, kept, .. } = self;
        recommended.retain(|it| match against(it) {
            Some(why) => {
                kept.push((it.change.setting.clone(), why));
                false
            }
            None => true,
        });
    }

    /// Replaces trouble `from` with trouble `to` in the reasons for changes.
    pub(super) fn merge(&mut self, from: &str, to: &str) {
        for Recommended { why, .. } in &mut self.recommended {
            if why.iter().any(|id| id == to) {
                why.retain(|id| id != from);
            }
            for id in why.iter_mut().filter(|id| *id == from) {
                to.clone_into(id);
            }
        }
    }
}
