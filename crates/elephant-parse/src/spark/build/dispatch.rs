//! Passes each event to where it belongs, and reads the events of the application as a whole.

use super::held::{self, MAP_ENTRY};
use super::{Builder, Symbols, moment};
use crate::spark::event::{ApplicationStart, Event};
use elephant_base::units::Timestamp;
use elephant_model::model::Symbol;
use elephant_model::model::conf::Property;
use elephant_model::model::spark::{Peaks, ResourceProfile, StageAttempt};

impl Builder {
    /// Adds what an event says.
    pub(super) fn event(&mut self, event: Event, symbols: &Symbols<'_>) {
        match event {
            Event::LogStart { version } => {
                self.app.engine_version = version.or(self.app.engine_version.take());
            }
            Event::Rollover { version, number } => {
                self.app.engine_version = self.app.engine_version.take().or(version);
                self.rollovers.extend(number);
                self.held.add(size_of_val(&number));
            }
            Event::ApplicationStart(start) => self.application_start(start),
            Event::ApplicationEnd { at, exit_code } => self.application_end(moment(at), exit_code),
            Event::Environment(properties) => self.environment(properties),
            Event::ResourceProfile(profile) => self.resource_profile(profile),
            Event::JobStart(start) => self.job_start(start),
            Event::JobEnd { id, at, result, failure } => self.job_end(id, at, result, failure),
            Event::StageSubmitted(info) => {
                let place = self.stage_info(info);
                if let Some(record) = place.and_then(|place| self.stages.get_mut(place)) {
                    record.submitted = true;
                }
            }
            Event::StageCompleted(info) => self.stage_completed(info),
            Event::ExecutorAdded(added) => self.executor_added(&added, symbols),
            Event::ExecutorRemoved { id, at, reason } => {
                self.executor_removed(symbols.symbol(id), moment(at), reason);
            }
            Event::ExecutorExcluded { id, failures } => {
                self.executor_excluded(symbols.symbol(id), failures);
            }
            Event::NodeExcluded { host, at, failures, lifted, of_stage } => {
                let failures = failures.and_then(|count| u64::try_from(count).ok());
                match (host, of_stage) {
                    (Some(host), true) => self.node_excluded_for_stage(host, failures),
                    (Some(host), false) => self.node_excluded(host, at, failures, lifted),
                    (None, _) => {}
                }
            }
            Event::BlockManagerAdded(added) => self.block_manager_added(&added, symbols),
            Event::BlockManagerRemoved { id, at } => {
                self.block_manager_removed(symbols.symbol(id), moment(at));
            }
            Event::BlockUpdated { executor, block, memory } => {
                self.block_updated(symbols.symbol(executor), block, memory);
            }
            Event::Peaks { stage, executor, peaks } => {
                self.peaks(stage, symbols.symbol(executor), &peaks);
            }
            Event::Unpersisted { rdd } => self.unpersisted(rdd),
            Event::SqlStart(start) => self.sql_start(start, symbols),
            Event::SqlEnd { id, at, error } => self.sql_end(id, moment(at), error),
            Event::SqlPlan { id, plan } => self.plan_change(id, plan, symbols),
            Event::SubqueryMetrics { id, metrics } => self.subquery_metrics(id, metrics, symbols),
            Event::DriverAccumulators { id, updates } => self.driver_updates(id, updates),
            Event::Fallback { id, all } => self.fallbacks(id, all),
            Event::StreamStarted(info) => self.stream_started(info),
            Event::StreamProgress(progress) => self.stream_progress(*progress),
            Event::StreamTerminated(info) => self.stream_terminated(info),
        }
    }

    /// Adds the peaks of an executor, in the stage that ended unless it is a heartbeat.
    fn peaks(&mut self, stage: Option<StageAttempt>, executor: Option<Symbol>, peaks: &Peaks) {
        if let Some((stage, executor)) = stage.zip(executor)
            && self.measured.entry(stage).or_default().insert(executor)
        {
            self.held.add(MAP_ENTRY);
        }
        if let Some(executor) = self.executor(executor) {
            executor.peaks.raise_all(peaks);
        }
    }

    fn application_start(&mut self, start: ApplicationStart) {
        self.seen.application_start = true;
        let app = &mut self.app;
        app.name = start.name.or(app.name.take());
        app.user = start.user.or(app.user.take());
        if let Some(id) = start.id {
            app.id = id;
        }
        self.spark.attempt = start.attempt;
        app.submitted_at = moment(start.at);
        self.saw(moment(start.at));
    }

    fn application_end(&mut self, at: Option<Timestamp>, exit_code: Option<i64>) {
        self.seen.application_end = true;
        self.app.finished_at = at.or(self.app.finished_at);
        self.exit_code = exit_code;
        self.spark.exit_code = exit_code.and_then(|code| i32::try_from(code).ok());
    }

    fn environment(&mut self, properties: Vec<(String, String)>) {
        self.seen.environment = true;
        for (name, value) in properties {
            let before = self.app.conf.raw(&name).map_or(0, |value| held::of_property(&name, &value));
            self.held.change(before, held::of_property(&name, &value));
            self.app.conf.insert(name, Property { value, is_final: false });
        }
    }

    fn resource_profile(&mut self, profile: ResourceProfile) {
        if let Some(known) = self.profile_places.get(&profile.id) {
            if let Some(known) = self.spark.resource_profiles.get_mut(*known) {
                *known = profile;
            }
        } else if let Some(place) = self.new_place::<ResourceProfile>(self.spark.resource_profiles.len()) {
            self.profile_places.insert(profile.id, place);
            self.spark.resource_profiles.push(profile);
        }
    }
}
