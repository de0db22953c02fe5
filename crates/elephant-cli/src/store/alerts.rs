//! `--alerts FILE`: tells the receivers in a file what is new or worse.

use std::error::Error;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use tempfile::TempDir;

use super::super::output;
use super::{failed, now};
use elephant_alert::{AlertFile, AlertFileError, Delivered, Judging, Recent, Told, deliver, dry_run};
use elephant_ruleset::RuleSet;
use elephant_store::{Place, Store, StoreError};

const HEADING: &str = "Alerts";

/// Who is told what is new or worse.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct AlertArgs {
    /// Tell the receivers in this file, as YAML, what is new or worse in applications that ended within the last day
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    alerts: Option<PathBuf>,
    /// The address under which people reach `serve`: scheme and name, no path; links in messages begin with it
    #[cfg(feature = "serve")]
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(super) public_url: Option<elephant_serve::PublicUrl>,
}

/// The same of commands that can show what they would send.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct DryRunArgs {
    #[command(flatten)]
    pub(crate) alerts: AlertArgs,
    /// Print what would be sent; nothing is sent, and nothing is stored
    #[arg(long, requires = "alerts")]
    pub(crate) alerts_dry_run: bool,
}

/// Receivers, and what messages to them have.
pub(crate) struct Alerts {
    file: AlertFile,
    #[cfg(feature = "serve")]
    public_url: Option<String>,
}

impl AlertArgs {
    /// The receivers, if any were named. They must be usable, unless nothing is sent.
    pub(crate) fn load(&self, is_dry: bool) -> Result<Option<Alerts>, Box<dyn Error>> {
        let Some(path) = &self.alerts else { return Ok(None) };
        let file = AlertFile::read(path).inspect_err(|error| {
            // Without the lines of the file: one may have a secret, which does not belong there.
            if let AlertFileError::Invalid(problems) = error {
                for problem in problems {
                    output::print_message("error", &problem.to_string());
                }
            }
        });
        let file = file.map_err(|error| match error {
            AlertFileError::Invalid(_) => format!("{} cannot be used as it is", path.display()).into(),
            other => Box::<dyn Error>::from(other),
        })?;
        if !is_dry {
            file.check()?;
        }
        Ok(Some(Alerts {
            file,
            #[cfg(feature = "serve")]
            public_url: self.public_url.as_ref().map(ToString::to_string),
        }))
    }

    /// Whether receivers were named.
    #[cfg(feature = "serve")]
    pub(crate) const fn are_given(&self) -> bool {
        self.alerts.is_some()
    }
}

impl Alerts {
    /// Begins to note the applications of a reading, as they are compared with this store.
    pub(crate) fn begin(&self, place: &Place, cluster: Option<&str>) -> Result<Recent, StoreError> {
        let mut store = Store::open(place)?;
        store.set_cluster(cluster.map(str::to_owned));
        Ok(Recent::new(store, &self.file, now()))
    }

    /// The same for a dry run, which must not make a store; without one, nothing is known. The folder has what stands in
    /// its place.
    pub(crate) fn begin_dry(
        &self,
        place: &Place,
        cluster: Option<&str>,
    ) -> Result<(Recent, Place, Option<TempDir>), Box<dyn Error>> {
        let open = |place: &Place| self.begin(place, cluster);
        match open(place) {
            Ok(recent) => Ok((recent, place.clone(), None)),
            Err(StoreError::Missing(_)) => {
                let folder = TempDir::with_prefix("elephant-rs-")?;
                let empty = Place::File(folder.path().join("empty.db"));
                drop(Store::create(&empty).map_err(|error| failed(&empty, "open", &error))?);
                let recent = open(&empty).map_err(|error| failed(&empty, "open", &error))?;
                Ok((recent, empty, Some(folder)))
            }
            Err(error) => Err(failed(place, "open", &error)),
        }
    }

    /// Tells the receivers what is new or worse in the applications that were noted, and stored meanwhile. What goes wrong
    /// is a warning: it must not fail what was read.
    pub(crate) fn tell(
        &self,
        (place, cluster): (&Place, Option<&str>),
        recent: Recent,
        rules: &RuleSet,
    ) -> Delivered {
        let delivered = self.news(cluster, recent, rules).and_then(|told| {
            let mut delivered = deliver(&Store::open(place)?, &self.file, &told.alerts, now())?;
            delivered.warnings.extend(left_out(&told));
            Ok(delivered)
        });
        delivered.unwrap_or_else(|error| Delivered {
            warnings: vec![failed(place, "read", &error).to_string()],
            ..Delivered::default()
        })
    }

    /// What would be sent, as text.
    pub(crate) fn dry_run(
        &self,
        (place, cluster): (&Place, Option<&str>),
        recent: Recent,
        rules: &RuleSet,
    ) -> Result<String, StoreError> {
        let told = self.news(cluster, recent, rules)?;
        let text = dry_run(&Store::open(place)?, &self.file, &told.alerts, now())?;
        Ok(left_out(&told).map(|line| format!("# {line}\n")).unwrap_or_default() + &text)
    }

    fn news(&self, cluster: Option<&str>, recent: Recent, rules: &RuleSet) -> Result<Told, StoreError> {
        #[cfg(feature = "serve")]
        let link = |id: &str| self.link(id);
        #[cfg(not(feature = "serve"))]
        let link = |_: &str| None;
        recent.news(&Judging { rules, first_run: self.file.first_run(), cluster, link: &link })
    }

    /// The address of the page of an application.
    #[cfg(feature = "serve")]
    fn link(&self, id: &str) -> Option<String> {
        let base = self.public_url.as_ref()?;
        Some(format!("{base}{}", elephant_report::site::application_address(id)))
    }
}

/// What is not known because there is too much of it.
fn left_out(told: &Told) -> Option<String> {
    let count = told.left_out;
    (count > 0).then(|| format!("{count} applications were not compared, because too many have findings"))
}

/// Prints what went wrong.
pub(crate) fn warn(delivered: &Delivered) {
    for warning in &delivered.warnings {
        output::print_message("warning", &format!("alerts: {warning}"));
    }
}

/// What was sent, for people.
pub(crate) fn summary(delivered: &Delivered) -> Option<String> {
    let Delivered { sent, waiting, .. } = delivered;
    let wait = if *waiting == 0 { String::new() } else { format!(", {waiting} wait") };
    (sent + waiting > 0).then(|| format!("alerts: {sent} sent{wait}"))
}
