//! Logs of containers, drivers and executors: found beside histories or named by the user, and joined to the failures that
//! the histories tell.

mod dead;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::visit::{Beside, BesideKind, Fate};
use crate::results::{Report, SourceProblem};
use dead::{Dead, OwnerIds};
use elephant_base::limits::Limits;
use elephant_base::severity::Severity;
use elephant_base::state::State;
use elephant_base::units::Bytes;
use elephant_container_log::{Chain, Classifier, Digest, Options, Recognised, ids_in, recognise};
use elephant_gc_log::Owner;
use elephant_input::budget::{Budget, Metered};
use elephant_input::codec::Codec;
use elephant_input::error::InputError;
use elephant_input::inventory::{Inventory, Source, by_bytes};
use elephant_input::kind::{Reason, SourceKind};
use elephant_input::part::Part;
use elephant_model::diagnosis::{FailureKind, Standing};
use elephant_model::model::Application;
use elephant_rule::finding::{Advice, Cap, CapReason, Finding, TroubleKind};
use elephant_verdict::troubles::{Logged, Trouble};

/// Bytes by which a log is recognised.
const HEAD: usize = 64 << 10;

/// Detects histories, and logs of processes among the rest.
pub(super) fn identify(head: &[u8], complete: bool) -> Option<SourceKind> {
    let kind = elephant_parse::identify(head, complete)?;
    if !matches!(kind, SourceKind::Unrelated(Reason::Text | Reason::Binary)) {
        return Some(kind);
    }
    match recognise(head) {
        Some(Recognised::Log(_)) => Some(SourceKind::ProcessLog),
        Some(Recognised::Aggregated) => Some(SourceKind::Unrelated(Reason::AggregatedLog)),
        // A log may begin with a banner.
        None => {
            (complete || head.len() >= HEAD || kind == SourceKind::Unrelated(Reason::Binary)).then_some(kind)
        }
    }
}

/// A log that was read.
struct ReadLog {
    /// Its path as reports name it.
    path: String,
    /// The applications that it is of.
    applications: BTreeSet<String>,
    /// The executor of Spark's own cluster manager whose folder it is in.
    executor: Option<String>,
    digest: Digest,
    /// Whether it was found below the paths, and not only named as a log.
    is_found: bool,
    /// Its files that hold no history and were found below the paths.
    files: Vec<PathBuf>,
    /// Whether the history of one of its applications was read.
    is_joined: AtomicBool,
}

/// All logs.
#[derive(Default)]
pub(super) struct ProcessLogs {
    logs: Vec<ReadLog>,
    /// The logs of each application.
    of_application: BTreeMap<String, Vec<usize>>,
    /// Logs that could not be opened.
    unreadable: Vec<SourceProblem>,
}

impl ProcessLogs {
    /// Reads the logs of an inventory and those that were `named`, in the order of their paths.
    pub(super) fn read(
        inventory: &Inventory,
        named: &Inventory,
        classifier: &Classifier,
        (limits, options): (&Limits, Options),
    ) -> Self {
        let found: BTreeSet<&Path> = inventory.logs.iter().map(|source| source.path.as_path()).collect();
        let of_histories: BTreeSet<&Path> = inventory.histories.iter().flat_map(Source::files).collect();
        let mut sources: Vec<&Source> = inventory.logs.iter().chain(&named.logs).collect();
        sources.sort_by(|a, b| by_bytes(a.path.as_path(), b.path.as_path()));
        sources.dedup_by(|a, b| a.path.as_path() == b.path.as_path());
        let read: Vec<_> =
            sources.par_iter().map(|source| ReadLog::read(source, classifier, (limits, options))).collect();
        let mut all = Self::default();
        for (source, read) in sources.into_iter().zip(read) {
            match read {
                Ok(mut log) => {
                    log.is_found = found.contains(source.path.as_path());
                    let own = source.files().filter(|file| log.is_found && !of_histories.contains(file));
                    log.files = own.map(Path::to_path_buf).collect();
                    for application in &log.applications {
                        all.of_application.entry(application.clone()).or_default().push(all.logs.len());
                    }
                    all.logs.push(log);
                }
                Err(error) => all.unreadable.push(told::unreadable(source.path.as_path(), &error)),
            }
        }
        let failed = named.failures.iter();
        all.unreadable.extend(failed.map(|failure| told::unreadable(failure.error.path(), &failure.error)));
        all
    }

    /// Adds to the failures of an application what its logs tell.
    pub(super) fn explain(&self, app: &Application, troubles: &mut [Trouble], findings: &mut [Finding]) {
        let id = application_id(&app.id);
        let Some(places) = self.of_application.get(&id) else { return };
        let logs: Vec<&ReadLog> = places.iter().filter_map(|place| self.logs.get(*place)).collect();
        for log in &logs {
            log.is_joined.store(true, Ordering::Relaxed);
        }
        let is_failure =
            |trouble: &&mut Trouble| trouble.failure.is_some() || trouble.kind == TroubleKind::Failures;
        let mut failures = troubles.iter_mut().filter(is_failure).peekable();
        if failures.peek().is_none() {
            return;
        }
        let dead = Dead::of(app);
        let chains: Vec<_> =
            logs.iter().flat_map(|log| log.chains_of(&id).map(move |chain| (*log, chain))).collect();
        for trouble in failures {
            let told = chains.iter().filter_map(|(log, chain)| Told::of(log, chain, &dead, trouble));
            // Of equals, the first in the order of paths and lines.
            if let Some(best) = told.reduce(|best, next| if next.weight > best.weight { next } else { best })
            {
                best.tell(trouble, findings);
            }
        }
    }

    /// What a report says of the logs, besides the failures that they explain.
    pub(super) fn told(&self) -> LogsTold {
        let of_logs = self.logs.iter().flat_map(|log| {
            let alone =
                (!log.is_joined()).then(|| told::without_history(&log.path, &log.applications, &log.digest));
            alone.into_iter().chain(told::left_out(&log.path, &log.digest))
        });
        let joined = self.logs.iter().filter(|log| log.is_joined());
        let files: BTreeSet<&PathBuf> = joined.flat_map(|log| &log.files).collect();
        let alone = self.logs.iter().filter(|log| log.is_found && !log.is_joined());
        LogsTold {
            files: files.len() as u64,
            alone: alone.count() as u64,
            unreadable: self.unreadable.clone(),
            of_logs: of_logs.collect(),
        }
    }

    /// The logs that were read, for parts that are merged.
    pub(super) fn beside(&self) -> impl Iterator<Item = Beside> {
        self.logs.iter().map(|log| Beside {
            path: PathBuf::from(&log.path),
            kind: BesideKind::Process,
            applications: log.applications.iter().map(|id| Owner::key_of(id).to_owned()).collect(),
            fate: if log.is_joined() { Fate::Joined } else { Fate::Passed },
        })
    }
}

/// What a report says of logs, besides the failures that they explain.
#[derive(Default, State)]
pub(super) struct LogsTold {
    /// The number of files that were read with histories, and were found beside them.
    files: u64,
    /// The number of logs of which no history was read.
    alone: u64,
    /// Logs that could not be opened.
    unreadable: Vec<SourceProblem>,
    /// Logs that could not be read as a whole, and those whose history was not read.
    of_logs: Vec<SourceProblem>,
}

impl LogsTold {
    /// Adds those of another part.
    pub(super) fn add(&mut self, other: Self) {
        self.files += other.files;
        self.alone += other.alone;
        for (all, more) in [(&mut self.unreadable, other.unreadable), (&mut self.of_logs, other.of_logs)] {
            all.extend(more);
            // The sort is stable: what is told of one log stays in its order.
            all.sort_by(|a, b| a.source.cmp(&b.source));
        }
    }

    /// Adds them to a report.
    pub(super) fn tell(self, report: &mut Report) {
        report.problems.extend(self.unreadable.into_iter().chain(self.of_logs));
        let summary = &mut report.summary;
        summary.files_skipped = summary.files_skipped.saturating_sub(self.files);
        summary.files_analysed += self.files;
        if self.alone > 0 {
            report.skipped.push(("log of no application that was read", self.alone));
        }
    }
}

impl ReadLog {
    fn is_joined(&self) -> bool {
        self.is_joined.load(Ordering::Relaxed)
    }

    fn read(
        source: &Source,
        classifier: &Classifier,
        (limits, options): (&Limits, Options),
    ) -> Result<Self, InputError> {
        let path = source.path.to_string();
        let not_found = || InputError::NotFound { path: source.path.as_path().to_path_buf() };
        let mut decoded = source.parts.first().ok_or_else(not_found)?.open()?;
        let is_packed = decoded.codec() != Codec::Plain || source.parts.iter().any(Part::is_packed);
        let stored = source.parts.first().and_then(Part::stored_len).map(Bytes::new).filter(|_| is_packed);
        // Its kind was found by the same bytes.
        let form = match recognise(decoded.peek(HEAD).bytes) {
            Some(Recognised::Log(form)) => form,
            _ => elephant_container_log::Form::Text,
        };
        let metered = Metered::new(decoded, Budget::new(limits, stored), None);
        let digest = elephant_container_log::read(form, metered, classifier, options);
        let of_path = ids_in(&path);
        let of_sections = digest.sections.iter().filter_map(|section| section.container.as_deref());
        let mut applications: BTreeSet<String> = of_path.applications.clone();
        applications.extend(of_sections.flat_map(|id| ids_in(id).applications));
        if applications.is_empty() {
            applications.clone_from(&digest.ids.applications);
        }
        let executor = executor_in(&path, &of_path.applications);
        Ok(Self {
            path,
            applications,
            executor,
            digest,
            is_found: false,
            files: Vec::new(),
            is_joined: AtomicBool::new(false),
        })
    }

    /// Which executor or task attempt wrote a chain.
    fn owner_of(&self, chain: &Chain) -> OwnerIds<'_> {
        let section = chain.section.and_then(|place| self.digest.sections.get(place));
        let owner = section.map_or(&self.digest.owner, |section| &section.owner);
        OwnerIds {
            executor: self.executor.as_deref().or(owner.executor.as_deref()),
            attempt: owner.attempt.as_deref(),
        }
    }

    /// The chains that may be of an application: a log may have several.
    fn chains_of<'l>(&'l self, id: &'l str) -> impl Iterator<Item = &'l Chain> {
        let is_of = move |chain: &&Chain| {
            let container =
                chain.section.and_then(|place| self.digest.sections.get(place)?.container.as_deref());
            if let Some(container) = container {
                ids_in(container).applications.contains(id)
            } else {
                let named = &chain.ids.applications;
                self.applications.len() == 1 || named.is_empty() || named.contains(id)
            }
        };
        self.digest.chains.iter().filter(is_of).filter(|chain| !chain.is_echo() && chain.kind.is_some())
    }
}

/// `work/app-20260101000000-0000/1/stderr` is a log of executor 1.
fn executor_in(path: &str, applications: &BTreeSet<String>) -> Option<String> {
    let id = applications.iter().find(|id| id.starts_with("app-"))?;
    let (_, rest) = path.split_once(id.as_str())?;
    let folder = rest.strip_prefix(['/', '\\'])?.split(['/', '\\']).next()?;
    (!folder.is_empty() && folder.bytes().all(|byte| byte.is_ascii_digit())).then(|| folder.to_owned())
}

/// The id of an application by which logs name it: jobs of MapReduce are applications of YARN.
fn application_id(id: &str) -> String {
    id.strip_prefix("job_").map_or_else(|| id.to_owned(), |number| format!("application_{number}"))
}

/// A chain of a log as the cause of a failure.
struct Told<'l> {
    log: &'l ReadLog,
    chain: &'l Chain,
    /// What that died the log is of, in words.
    of: Option<String>,
    weight: Weight,
}

/// How well a chain explains a failure; greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Weight {
    is_of_dead: bool,
    is_same_kind: bool,
    is_custom: bool,
    standing: Standing,
    has_own_frame: bool,
    has_frames: bool,
}

impl<'l> Told<'l> {
    /// `None` if the chain says nothing about this failure.
    fn of(log: &'l ReadLog, chain: &'l Chain, dead: &Dead, trouble: &Trouble) -> Option<Self> {
        let kind = chain.kind.as_ref()?;
        let of = dead.name(chain, log.owner_of(chain));
        let known = trouble.failure.as_ref().map(|failure| failure.kind);
        let weight = Weight {
            is_of_dead: of.is_some(),
            is_same_kind: known.is_some() && kind.failure == known,
            is_custom: kind.is_custom,
            standing: kind.failure.map_or(Standing::Error, FailureKind::standing),
            has_own_frame: chain.own.is_some(),
            has_frames: chain.has_frames,
        };
        // What only the application has in common says something where the history does not know the cause.
        let is_open = known.is_none_or(|kind| kind.standing() <= Standing::Error);
        let explains = weight.standing > Standing::Consequence || weight.is_same_kind;
        ((weight.is_of_dead || is_open || weight.is_same_kind) && explains).then_some(Self {
            log,
            chain,
            of,
            weight,
        })
    }

    fn tell(self, trouble: &mut Trouble, findings: &mut [Finding]) {
        let Self { log, chain, of, .. } = self;
        let Some(kind) = &chain.kind else { return };
        if kind.is_custom
            && let Some(remedy) = chain.remedy()
        {
            trouble.advice.push(Advice::new(remedy));
        }
        let cap = |(at_most, origin): &(Severity, String)| Cap {
            at_most: *at_most,
            why: CapReason::RuleFile(origin.clone()),
        };
        let logged = Logged {
            kind: kind.name.clone(),
            fault: kind.fault.name().to_owned(),
            exception: chain.innermost().map(str::to_owned),
            frame: chain.own.as_ref().map(ToString::to_string),
            count: chain.count,
            file: log.path.clone(),
            line: chain.line,
            of,
            message: message(chain),
        };
        trouble.tell_log(logged, findings, kind.at_most.as_ref().map(cap));
    }
}

/// The message of the innermost exception that has one, or of an event without exceptions.
fn message(chain: &Chain) -> Option<String> {
    let of_causes = chain.causes.iter().rev().find_map(|cause| cause.message.clone());
    of_causes.or_else(|| chain.message.clone())
}
