//! The detectors that watch.

use std::sync::Arc;

use super::WatchArgs;
use elephant_analysis::stragglers::detect::options::DetectorOptions;
use elephant_analysis::stragglers::detect::{Detector, Needs, all_with};
use elephant_analysis::stragglers::replay::Options;
use elephant_engine::survey::Learnt;
use elephant_engine::watch::Judges;
use elephant_model::model::Engine;

/// A detector that cannot watch.
#[derive(Debug, thiserror::Error)]
pub(super) enum DetectorError {
    #[error("there is no detector {name}; detectors that can watch: {usable}")]
    Unknown { name: String, usable: String },
    #[error(
        "the detector {name} needs data on running tasks ({needs}), {remedy}; detectors that can watch: {usable}"
    )]
    Silent { name: String, needs: &'static str, remedy: &'static str, usable: String },
}

/// The detectors that can watch: those whose needs the sources fulfil.
pub(super) struct Detectors<'a> {
    args: &'a WatchArgs,
    models: Option<Arc<Learnt>>,
    known: Vec<Needs>,
}

impl<'a> Detectors<'a> {
    /// The detectors for event logs, and for servers if there are any.
    ///
    /// # Errors
    /// If a detector was asked for that cannot watch.
    pub(super) fn of(
        args: &'a WatchArgs,
        has_servers: bool,
        models: Option<Arc<Learnt>>,
    ) -> Result<Self, DetectorError> {
        let mut known = vec![Needs::Times];
        if has_servers {
            known.extend([Needs::Progress, Needs::Records]);
            known.extend(models.is_some().then_some(Needs::Models));
        }
        let detectors = Self { args, models, known };
        detectors.check(has_servers)?;
        Ok(detectors)
    }

    /// Every requested detector must be able to watch one of the sources.
    fn check(&self, has_servers: bool) -> Result<(), DetectorError> {
        let all = self.all();
        let usable = || {
            let usable = all.iter().filter(|detector| self.known.contains(&detector.needs()));
            usable.map(|detector| detector.id()).collect::<Vec<_>>().join(", ")
        };
        for name in &self.args.only {
            let Some(detector) = all.iter().find(|detector| detector.id() == name) else {
                return Err(DetectorError::Unknown { name: name.clone(), usable: usable() });
            };
            let needs = detector.needs();
            if !self.known.contains(&needs) {
                let remedy = match needs {
                    Needs::Models if has_servers => "for which --models is missing",
                    Needs::Input => "which no source reports",
                    Needs::Nodes => "which takes a request to the application master for each task",
                    _ => "which event logs do not contain",
                };
                let needs = needs.name();
                return Err(DetectorError::Silent { name: name.clone(), needs, remedy, usable: usable() });
            }
        }
        Ok(())
    }

    fn all(&self) -> Vec<Box<dyn Detector>> {
        let WatchArgs { quantile, multiplier, .. } = *self.args;
        all_with(&DetectorOptions { quantile, multiplier, ..DetectorOptions::default() })
    }

    fn chosen(&self, known: &[Needs]) -> impl Iterator<Item = Box<dyn Detector>> {
        let only = &self.args.only;
        let wanted = |id: &str| only.is_empty() || only.iter().any(|only| only == id);
        self.all().into_iter().filter(move |it| known.contains(&it.needs()) && wanted(it.id()))
    }

    /// The names of the detectors that watch.
    pub(super) fn active(&self) -> Vec<&'static str> {
        self.chosen(&self.known).map(|detector| detector.id()).collect()
    }

    /// The detectors that cannot watch any source, and their needs.
    pub(super) fn silent(&self) -> Vec<(&'static str, Needs)> {
        let all = self.all();
        let all = all.iter().map(|detector| (detector.id(), detector.needs()));
        all.filter(|(_, needs)| !self.known.contains(needs)).collect()
    }

    /// The detectors for a source that fulfils these needs.
    pub(super) fn judges(&self, engine: Engine, known: &[Needs]) -> Judges {
        let usable: Vec<Needs> = known.iter().copied().filter(|needs| self.known.contains(needs)).collect();
        Judges {
            detectors: self.chosen(&usable).collect(),
            options: Options {
                told_progress: usable.contains(&Needs::Progress),
                ..Options::of_engine(engine)
            },
            min_tasks: self.args.min_tasks,
            settle: self.args.settle,
            engine,
            models: self.models.clone(),
        }
    }
}
