//! Logs of containers, drivers and executors: found beside histories or named by the user, and joined to the failures that
//! the histories tell.

mod dead;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::results::SourceProblem;
use dead::{Dead, OwnerIds};
use elephant_base::limits::Limits;
use elephant_base::units::Bytes;
use elephant_container_log::{Chain, Classifier, Digest, Options, Recognised, ids_in, recognise};
use elephant_input::budget::{Budget, Metered};
use elephant_input::codec::Codec;
use elephant_input::error::InputError;
use elephant_input::inventory::{Failure, Source};
use elephant_input::kind::{Reason, SourceKind};
use elephant_input::part::Part;
use elephant_model::diagnosis::{FailureKind, Standing};
use elephant_model::model::Application;
use elephant_rule::finding::{Advice, TroubleKind};
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
    /// The number of files.
    files: u64,
}

impl ProcessLogs {
    /// Reads logs, in the order of their paths.
    pub(super) fn read(sources: &[Source], classifier: &Classifier, limits: &Limits) -> Self {
        let read: Vec<_> =
            sources.par_iter().map(|source| ReadLog::read(source, classifier, limits)).collect();
        let files: BTreeSet<_> = sources.iter().flat_map(Source::files).collect();
        let files = files.len() as u64;
        let mut all =
            Self { logs: Vec::new(), of_application: BTreeMap::new(), unreadable: Vec::new(), files };
        for (source, read) in sources.iter().zip(read) {
            match read {
                Ok(log) => {
                    for application in &log.applications {
                        all.of_application.entry(application.clone()).or_default().push(all.logs.len());
                    }
                    all.logs.push(log);
                }
                Err(error) => all.unreadable.push(told::unreadable(source.path.as_path(), &error)),
            }
        }
        all
    }

    /// The same, with files that were named as logs and could not be found or opened.
    pub(super) fn with_failures(mut self, failures: &[Failure]) -> Self {
        self.unreadable
            .extend(failures.iter().map(|failure| told::unreadable(failure.error.path(), &failure.error)));
        self
    }

    /// The number of files that were read.
    pub(super) const fn files(&self) -> u64 {
        self.files
    }

    /// Adds to the failures of an application what its logs tell.
    pub(super) fn explain(&self, app: &Application, troubles: &mut [Trouble]) {
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
                best.tell(trouble);
            }
        }
    }

    /// What is told of logs that could not be read as a whole, and of those whose history was not read.
    pub(super) fn problems(&self) -> Vec<SourceProblem> {
        let logs = self.logs.iter();
        let of_logs = logs.flat_map(|log| {
            let is_joined = log.is_joined.load(Ordering::Relaxed);
            let alone =
                (!is_joined).then(|| told::without_history(&log.path, &log.applications, &log.digest));
            alone.into_iter().chain(told::left_out(&log.path, &log.digest))
        });
        self.unreadable.iter().cloned().chain(of_logs).collect()
    }
}

impl ReadLog {
    fn read(source: &Source, classifier: &Classifier, limits: &Limits) -> Result<Self, InputError> {
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
        let digest = elephant_container_log::read(form, metered, classifier, Options::default());
        let of_path = ids_in(&path);
        let of_sections = digest.sections.iter().filter_map(|section| section.container.as_deref());
        let mut applications: BTreeSet<String> = of_path.applications.clone();
        applications.extend(of_sections.flat_map(|id| ids_in(id).applications));
        if applications.is_empty() {
            applications.clone_from(&digest.ids.applications);
        }
        let executor = executor_in(&path, &of_path.applications);
        Ok(Self { path, applications, executor, digest, is_joined: AtomicBool::new(false) })
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

    fn tell(self, trouble: &mut Trouble) {
        let Self { log, chain, of, .. } = self;
        let Some(kind) = &chain.kind else { return };
        if kind.is_custom
            && let Some(remedy) = chain.remedy()
        {
            trouble.advice.push(Advice::new(remedy));
        }
        trouble.tell_log(Logged {
            kind: kind.name.clone(),
            exception: chain.innermost().map(str::to_owned),
            frame: chain.own.as_ref().map(ToString::to_string),
            count: chain.count,
            file: log.path.clone(),
            line: chain.line,
            of,
        });
    }
}
