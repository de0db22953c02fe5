//! What cores and memory cost, from a YAML file.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use super::estimate::{Amounts, Range};
use super::hourly::Hourly;
use super::price_file::{PriceDocument, read_documents};
use elephant_model::model::Application;
use elephant_rule::params::{Importance, Problems, RuleFile, RuleProblem};
use elephant_ruleset::Specificity;

/// Larger files are not price lists.
const MAX_LEN: u64 = 1 << 20;

/// Why there are no prices.
#[derive(Debug, Error)]
pub enum PriceError {
    /// The file could not be read.
    #[error("cannot read the prices in {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is too large for a list of prices.
    #[error("{} is larger than 1 MiB, which is too large for a list of prices", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It has errors.
    #[error("{}", Lines(.0))]
    Invalid(Vec<RuleProblem>),
}

struct Lines<'p>(&'p [RuleProblem]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for problem in self.0 {
            write!(f, "{separator}{problem}")?;
            separator = "\n";
        }
        Ok(())
    }
}

/// Prices for applications.
#[derive(Debug, Clone)]
pub struct Prices {
    currency: String,
    /// The most specific ones last.
    documents: Vec<PriceDocument>,
    instances: BTreeMap<String, Hourly>,
}

impl Prices {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or has errors; the error lists all of them.
    pub fn read(path: &Path) -> Result<Self, PriceError> {
        let mut text = String::new();
        let file = std::fs::File::open(path);
        file.and_then(|file| file.take(MAX_LEN + 1).read_to_string(&mut text))
            .map_err(|source| PriceError::Unreadable { path: path.to_owned(), source })?;
        if text.len() as u64 > MAX_LEN {
            return Err(PriceError::TooLarge { path: path.to_owned() });
        }
        Self::of(RuleFile { name: path.display().to_string(), text }).map_err(PriceError::Invalid)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// All errors in it.
    pub fn of(file: RuleFile) -> Result<Self, Vec<RuleProblem>> {
        let file = Arc::new(file);
        let mut problems = Problems::default();
        let prices = Self::from_documents(&file, &mut problems);
        let problems = problems.into_vec(&[file]);
        let is_error = problems.iter().any(|problem| problem.importance == Importance::Error);
        prices.filter(|_| !is_error).ok_or(problems)
    }

    fn from_documents(file: &Arc<RuleFile>, problems: &mut Problems) -> Option<Self> {
        let mut documents = read_documents(file, problems);
        let mut currency = None;
        let mut instances = BTreeMap::new();
        for document in &mut documents {
            if let Some(named) = document.currency.take()
                && currency.replace(named.value).is_some()
            {
                let help = Some("all prices of a file have one currency".to_owned());
                problems.error(file, &named.span, "the currency is given twice", help);
            }
            for (name, hourly) in std::mem::take(&mut document.instances) {
                if instances.insert(name.value.clone(), hourly).is_some() {
                    problems.error(
                        file,
                        &name.span,
                        format!("the instance {} has two prices", name.value),
                        None,
                    );
                }
            }
        }
        if !documents.is_empty() && currency.is_none() {
            let help = Some("add for example currency: EUR".to_owned());
            problems.error(file, &(0..0), "the currency is missing", help);
        }
        for document in &documents {
            document.check_instance(file, &instances, problems);
        }
        // The sort is stable: of equally specific documents, the later one stays on top.
        documents.sort_by_key(|document| -> Specificity { document.scope.specificity() });
        Some(Self { currency: currency?, documents, instances })
    }

    /// The currency, as written.
    #[must_use]
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// What these amounts of an application cost; `None` if it has no prices, or if an amount that has one is unknown.
    #[must_use]
    pub fn cost(&self, app: &Application, amounts: &Amounts) -> Option<Range> {
        let mut hourly = None;
        let mut factor = 1.0;
        for document in self.documents.iter().filter(|document| document.scope.applies_to(app)) {
            hourly = document.resources.or_else(|| self.instance(document)).or(hourly);
            factor = document.spot.unwrap_or(factor);
        }
        Some(hourly?.cost(amounts)?.times(factor))
    }

    /// Whether they depend on this aspect of an application. Only a history tells the job type.
    #[must_use]
    pub fn depend_on(&self, aspect: elephant_ruleset::Aspect) -> bool {
        self.documents.iter().any(|document| document.scope.tests(aspect))
    }

    fn instance(&self, document: &PriceDocument) -> Option<Hourly> {
        let named = document.instance.as_ref().and_then(|name| self.instances.get(&name.value));
        named.or_else(|| self.instances.values().next().filter(|_| document.prices_instances)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::Engine;

    fn of(text: &str) -> Result<Prices, Vec<RuleProblem>> {
        Prices::of(RuleFile { name: "prices.yaml".to_owned(), text: text.to_owned() })
    }

    /// The errors, as shown.
    fn errors(text: &str) -> Vec<String> {
        of(text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    fn app(engine: Engine, queue: &str) -> Application {
        let mut app = Application::new(engine);
        app.queue = Some(queue.to_owned());
        app
    }

    fn amounts(cores: Option<f64>, memory: Option<f64>) -> Amounts {
        let range = |point: f64| Range { low: point / 2.0, point, high: point * 2.0 };
        Amounts { core_hours: cores.map(range), gb_hours: memory.map(range), ..Amounts::default() }
    }

    #[test]
    fn the_most_specific_price_counts() {
        let prices =
            of(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/prices.yaml"))).unwrap();
        assert_eq!(prices.currency(), "EUR");
        let cost = |engine, queue, cores, memory| prices.cost(&app(engine, queue), &amounts(cores, memory));
        let near = |cost: Option<Range>, point: f64| {
            cost.is_some_and(|cost| {
                (cost.point - point).abs() < 1e-9
                    && (cost.low - point / 2.0).abs() < 1e-9
                    && (cost.high - point * 2.0).abs() < 1e-9
            })
        };
        let spark = cost(Engine::Spark, "root.etl", Some(10.0), Some(100.0));
        assert!(near(spark, 0.35 + 0.4), "{spark:?}");
        // Half of the instances' price is for 8 of 4 cores, half for 16 of 16 GB; a part of it is paid.
        let spot = cost(Engine::Spark, "root.spot.a", Some(8.0), Some(16.0));
        assert!(near(spot, 0.35 * 0.192 * 1.5), "{spot:?}");
        let job = cost(Engine::MapReduce, "root.etl", None, Some(100.0));
        assert!(near(job, 1.3), "{job:?}");
        // The queue is more specific than the engine; without cores, memory stands for the whole instance.
        let job = cost(Engine::MapReduce, "root.spot.b", None, Some(32.0));
        assert!(near(job, 0.35 * 0.192 * 2.0), "{job:?}");
        // What has a price and is unknown is not free.
        assert_eq!(cost(Engine::Spark, "root.etl", None, Some(100.0)), None);
        assert_eq!(cost(Engine::Spark, "root.spot.a", None, None), None);
    }

    #[test]
    fn applications_without_a_price_have_no_cost() {
        let prices =
            of("currency: USD\nfor: {queue: a}\ngb_hour: 1\n---\nfor: {user: x}\nspot: {factor: 0.5}")
                .unwrap();
        let cost = |app: &Application| prices.cost(app, &amounts(None, Some(4.0))).map(|cost| cost.point);
        assert_eq!((cost(&app(Engine::Spark, "a")), cost(&app(Engine::Spark, "b"))), (Some(4.0), None));
        let mut both = app(Engine::Spark, "a");
        both.user = Some("x".to_owned());
        assert_eq!(cost(&both), Some(2.0));
    }

    #[test]
    fn errors_name_file_line_and_remedy() {
        let one = |text: &str, at: &str, parts: &[&str]| {
            let errors = errors(text);
            assert_eq!(errors.len(), 1, "{text}: {errors:?}");
            assert!(errors[0].starts_with(&format!("prices.yaml:{at}: ")), "{errors:?}");
            for part in parts {
                assert!(errors[0].contains(part), "{errors:?} lacks {part}");
            }
        };
        one("", "1:1", &["the file has no prices", "gb_hour: 0.004"]);
        one("# only a comment\n", "1:1", &["the file has no prices"]);
        one("currency: <b>x\ngb_hour: 1", "1:11", &["must be a name or sign"]);
        one("currency: EUR\ngb_hour: 1e308", "2:10", &["a price of zero or more", "1e308"]);
        one("currency: EUR\ngb_hour: -1", "2:10", &["a price of zero or more", "-1"]);
        one("currency: EUR\ngb_hour: cheap", "2:10", &["a price of zero or more", "cheap"]);
        one(
            "currency: EUR\ngb_hours: 1\ncore_hour: 1",
            "2:1",
            &["no key \"gb_hours\"", "did you mean \"gb_hour\"?"],
        );
        one(
            "currency: EUR\ngb_hour: 1\ninstance_hour:\n  a: {price: 1, cores: 2, memory: 4GB}",
            "3:1",
            &[
                "prices of instances and prices of cores or memory",
                "use either instance_hour, or core_hour and gb_hour",
            ],
        );
        one("currency: EUR\ninstance_hour: {a: 0.19}", "2:20", &["the cores and the memory", "memory: 16GB"]);
        one(
            "currency: EUR\ninstance_hour: {a: {price: 1, cores: 4}}",
            "2:17",
            &["the memory of the instance is missing"],
        );
        one(
            "currency: EUR\ninstance_hour: {a: {price: 1, cores: 0, memory: 1g}}",
            "2:17",
            &["has cores and memory"],
        );
        one("currency: EUR\ngb_hour: 1\nspot: {factor: 2}", "3:16", &["at most 1"]);
        one("currency: EUR\ngb_hour: 1\nspot: 0.3", "3:7", &["expected a factor", "spot: {factor: 0.35}"]);
        one("gb_hour: 1", "1:1", &["the currency is missing", "currency: EUR"]);
        one("currency: EUR", "1:1", &["the document has no prices", "instance_hour"]);
        one(
            "currency: EUR\ngb_hour: 1\n---\ncurrency: USD\nfor: {queue: a}\ngb_hour: 2",
            "4:11",
            &["given twice"],
        );
        one("currency: EUR\ngb_hour: 1\n---\nfor: {cluster: a}\ngb_hour: 2", "4:7", &["queue"]);
        one("currency: EUR\ngb_hour: 1\ninstance: a", "3:11", &["the instance a has no price"]);
        one("- 1", "1:1", &["expected prices, got a list", "gb_hour: 0.004"]);
        one(
            "currency: EUR\ninstance_hour:\n  a: {price: 1, cores: 2, memory: 4GB}\n  b: {price: 1, cores: 2, memory: 8GB}",
            "1:1",
            &["which instance", "instance: a"],
        );
        let tab = errors("currency: EUR\n\tgb_hour: 1");
        assert!(
            tab.len() == 1 && tab[0].starts_with("prices.yaml:2:1: ") && tab[0].contains("a tab"),
            "{tab:?}"
        );
        assert!(of("currency: EUR\ninstance: b\ninstance_hour: {a: {price: 1, cores: 2, memory: 4GB}, b: {price: 1, cores: 2, memory: 8GB}}").is_ok());
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        let missing = Prices::read(Path::new("/nowhere/prices.yaml")).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read the prices in /nowhere/prices.yaml: "), "{missing}");
        let folder = tempfile::tempdir().unwrap();
        assert!(Prices::read(folder.path()).is_err());
        let path = folder.path().join("p.yaml");
        std::fs::write(&path, "gb_hour: 1\nx: 2").unwrap();
        let both = Prices::read(&path).unwrap_err().to_string();
        assert_eq!(both.lines().count(), 2, "{both}");
        std::fs::write(&path, " ".repeat(2 << 20)).unwrap();
        assert!(Prices::read(&path).unwrap_err().to_string().contains("too large"));
    }
}
