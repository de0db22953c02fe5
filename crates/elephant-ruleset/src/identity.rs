//! To which job, flow, task and owner a run belongs, by a list of settings (`rules/identity.yaml`) that users can extend.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

use elephant_base::state::State;
use elephant_model::model::Application;
use elephant_rule::params::words::did_you_mean;
use elephant_rule::params::yaml::{Kind, Node, Spanned, documents};
use elephant_rule::params::{Problems, RuleFile};
use regex::{Regex, RegexBuilder};

const KEYS: [&str; 7] = ["identify", "job", "flow", "run", "task", "owner", "link"];
/// The keys that are lists of sources, in the order of the fields.
const FIELDS: [&str; 5] = ["job", "flow", "run", "task", "owner"];

/// The source of texts of SQL queries.
const SQL: &str = "sql";
/// What Spark and Hadoop put before the names of others' settings.
const PREFIXES: [&str; 3] = ["", "spark.hadoop.", "spark."];
/// JVM options of the driver, which may hold settings.
const OPTIONS: &str = "spark.driver.extraJavaOptions";
/// A longer value is no name or address.
const LONGEST: usize = 1000;
/// Compiled regular expressions take no more memory than this.
const MAX_REGEX: usize = 1 << 20;
/// At most so many queries are searched.
const MAX_QUERIES: usize = 10_000;

/// The job, flow and task of a scheduler that a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default, State)]
pub struct JobIdentity {
    /// The list entry by which it was found, such as "airflow".
    pub scheduler: String,
    /// The job.
    pub job: Option<String>,
    /// The flow that the job or task is a part of.
    pub flow: Option<String>,
    /// The run of the flow or job.
    pub run: Option<String>,
    /// The task of the flow.
    pub task: Option<String>,
    /// Who owns it.
    pub owner: Option<String>,
    /// The address of its page.
    pub link: Option<String>,
}

/// A document `identify: <scheduler>`.
#[derive(Debug, Clone)]
pub(super) struct Identifying {
    scheduler: String,
    /// The sources of each of [`FIELDS`].
    sources: [Vec<Source>; FIELDS.len()],
    links: Vec<String>,
}

/// Where a value may be.
#[derive(Debug, Clone)]
struct Source {
    name: String,
    pattern: Option<Pattern>,
}

/// A regular expression whose first group is the value.
#[derive(Debug, Clone)]
struct Pattern {
    expression: String,
    compiled: OnceLock<Result<Regex, String>>,
}

/// When regular expressions are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compile {
    /// When they are read, so that mistakes are told.
    Now,
    /// When a value is first searched: most runs need few of them, and compiling all would be a quarter of a small run.
    WhenUsed,
}

/// The built-in list.
static BUILT_IN: LazyLock<Vec<Identifying>> = LazyLock::new(|| {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/identity.yaml"));
    let file = Arc::new(RuleFile { name: "identity.yaml".to_owned(), text: text.to_owned() });
    let mut problems = Problems::default();
    let (nodes, _) = documents(&file.text);
    let entries = nodes
        .iter()
        .filter_map(|node| if let Kind::Map(entries) = &node.kind { Some(entries) } else { None });
    entries
        .filter_map(|entries| Identifying::read(&file, entries, Compile::WhenUsed, &mut problems))
        .collect()
});

impl JobIdentity {
    /// By the first document that finds a job, flow or task; `own` are those of the user's files.
    pub(super) fn of(app: &Application, own: &[Identifying]) -> Option<Self> {
        own.iter().chain(BUILT_IN.iter()).find_map(|document| document.identify(app))
    }

    /// The name of the flow among all flows: with its job, in which alone it may be unique. A job with several tasks is a
    /// flow, too. The scheduler is no part of it, because two engines may tell one flow by different settings.
    #[must_use]
    pub fn whole_flow(&self) -> Option<Cow<'_, str>> {
        match (&self.job, &self.flow, &self.task) {
            (Some(job), Some(flow), _) if job != flow => Some(Cow::Owned(format!("{job} / {flow}"))),
            (_, Some(flow), _) => Some(Cow::Borrowed(flow)),
            (Some(job), None, Some(_)) => Some(Cow::Borrowed(job)),
            (_, None, _) => None,
        }
    }

    fn field(&self, name: &str) -> Option<&str> {
        let field = match name {
            "job" => &self.job,
            "flow" => &self.flow,
            "run" => &self.run,
            "task" => &self.task,
            "owner" => &self.owner,
            _ => return None,
        };
        field.as_deref()
    }
}

impl Identifying {
    pub(super) fn read(
        file: &Arc<RuleFile>,
        entries: &[(Spanned<String>, Node)],
        compile: Compile,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut document = Self { scheduler: String::new(), sources: Default::default(), links: Vec::new() };
        let mut first = 0..0;
        for (key, node) in entries {
            let field = FIELDS.iter().position(|field| *field == key.value);
            let read = match (key.value.as_str(), field) {
                (_, Some(field)) => node.read::<Vec<String>>().map(|written| {
                    let sources = written.iter().filter_map(|source| {
                        Source::parse(source, compile)
                            .map_err(|why| problems.error(file, &node.span, why, None))
                            .ok()
                    });
                    let sources: Vec<Source> = sources.collect();
                    if let Some(known) = document.sources.get_mut(field) {
                        *known = sources;
                    }
                }),
                ("identify", _) => {
                    first = node.span.clone();
                    node.read().map(|scheduler| document.scheduler = scheduler)
                }
                ("link", _) => node.read().map(|links| document.links = links),
                (other, _) => {
                    let message = format!(
                        "a document on identity has no key \"{other}\"; its keys are {}",
                        KEYS.join(", ")
                    );
                    problems.error(file, &key.span, message, did_you_mean(other, KEYS.into_iter()));
                    Ok(())
                }
            };
            read.unwrap_or_else(|error| problems.unreadable(file, &node.span, error));
        }
        let [job, flow, _, task, _] = &document.sources;
        if job.is_empty() && flow.is_empty() && task.is_empty() {
            let message = "a document on identity names the settings of a job, flow or task";
            let help = "add, for example, \"flow: [my.flow.id]\"".to_owned();
            problems.error(file, &first, message, Some(help));
            return None;
        }
        Some(document)
    }

    fn identify(&self, app: &Application) -> Option<JobIdentity> {
        let [job, flow, run, task, owner] = &self.sources;
        let find = |sources: &[Source]| sources.iter().find_map(|source| source.find(app));
        let found = [find(job), find(flow), find(task)];
        if found.iter().all(Option::is_none) {
            return None;
        }
        let [job, flow, task] = found;
        let mut identity = JobIdentity {
            scheduler: self.scheduler.clone(),
            job,
            flow,
            run: find(run),
            task,
            owner: find(owner),
            link: None,
        };
        identity.link = self.links.iter().find_map(|link| filled(link, &identity, app));
        Some(identity)
    }
}

impl Source {
    fn parse(written: &str, compile: Compile) -> Result<Self, String> {
        let (name, pattern) = match written.split_once(" /") {
            Some((name, rest)) => {
                let expression = rest
                    .strip_suffix('/')
                    .ok_or_else(|| format!("the regular expression in \"{written}\" has no / at its end"))?;
                let pattern = Pattern { expression: expression.to_owned(), compiled: OnceLock::new() };
                if compile == Compile::Now {
                    pattern
                        .regex()
                        .map_err(|why| format!("the regular expression in \"{written}\" {why}"))?;
                }
                (name, Some(pattern))
            }
            None => (written, None),
        };
        let name = name.trim();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("\"{written}\" is no setting, and no setting with a /regular expression/"));
        }
        Ok(Self { name: name.to_owned(), pattern })
    }

    fn find(&self, app: &Application) -> Option<String> {
        if self.name == SQL {
            return self.in_queries(app);
        }
        let found = setting(app, &self.name)?;
        self.part_of(&found)
    }

    fn part_of(&self, text: &str) -> Option<String> {
        let part = match &self.pattern {
            Some(pattern) => pattern.regex().ok()?.captures(text)?.get(1)?.as_str(),
            None => text,
        };
        let part = part.trim();
        (!part.is_empty() && part.len() <= LONGEST).then(|| part.to_owned())
    }

    /// The value in the descriptions of queries, if all that have one have the same.
    fn in_queries(&self, app: &Application) -> Option<String> {
        let queries = app.spark.as_deref()?.sql.iter().take(MAX_QUERIES);
        let mut found = queries.filter_map(|query| self.part_of(query.description.as_deref()?));
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }
}

impl Pattern {
    /// The compiled expression, or what is wrong with it.
    fn regex(&self) -> Result<&Regex, &str> {
        let compile = || {
            let regex = RegexBuilder::new(&self.expression).size_limit(MAX_REGEX).build();
            let regex = regex.map_err(|error| format!("is invalid: {error}"))?;
            if regex.captures_len() < 2 {
                Err("has no group (…) for the value".to_owned())
            } else {
                Ok(regex)
            }
        };
        self.compiled.get_or_init(compile).as_ref().map_err(String::as_str)
    }
}

/// A setting, also as Spark, Hadoop and the driver's options spell it. Redacted values are unknown.
fn setting(app: &Application, name: &str) -> Option<String> {
    let conf = &app.conf;
    let spelt = PREFIXES.iter().find_map(|prefix| conf.raw(&format!("{prefix}{name}")));
    let in_options = || {
        let options = conf.raw(OPTIONS)?;
        let option = options
            .split_whitespace()
            .find_map(|option| option.strip_prefix("-D")?.strip_prefix(name)?.strip_prefix('='))?;
        Some(option.trim_matches(['"', '\'']).to_owned())
    };
    spelt.or_else(in_options).filter(|value| !value.contains("(redacted)"))
}

/// A link with its parts in braces filled in: fields of the identity, or settings. `None` if one is unknown.
fn filled(link: &str, identity: &JobIdentity, app: &Application) -> Option<String> {
    let (mut filled, mut rest) = (String::new(), link);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let value = identity.field(name).map(str::to_owned).or_else(|| setting(app, name))?;
        filled.push_str(before);
        filled.push_str(&value);
        rest = after;
    }
    filled.push_str(rest);
    let is_address = filled.starts_with("https://") || filled.starts_with("http://");
    (is_address && filled.len() <= LONGEST).then_some(filled)
}

#[cfg(test)]
mod tests;
