//! What is in force and belongs to no rule: parameters, suppressions, the identity of jobs.

use super::settings::{GateParams, NodeParams, OrderParams, TroubleParams};
use super::{NaiveDate, RuleSet, Suppression, exceptions};
use crate::identity::JobIdentity;
use elephant_analysis::metrics::{MetricParams, SparkMetricParams};
use elephant_catalogue::AdviceParams;
use elephant_container_log::Classifier;
use elephant_model::model::Application;
use elephant_rule::params::layers::Parameter;

#[doc(hidden)]
impl RuleSet {
    /// A hash of the rules in force.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The day that suppressions are checked against.
    #[must_use]
    pub const fn today(&self) -> NaiveDate {
        self.today
    }

    /// The rules that tell the kinds of exceptions in logs: those of the rule files, then the built-in ones.
    #[must_use]
    pub fn exceptions(&self) -> Classifier {
        exceptions::classifier(&self.exceptions)
    }

    /// The suppressions of the rule files.
    #[must_use]
    pub fn suppressions(&self) -> &[Suppression] {
        &self.suppressions
    }

    /// The parameters of the metrics of MapReduce jobs.
    #[must_use]
    pub fn metrics(&self) -> &MetricParams {
        self.in_force.metrics()
    }

    /// The parameters of the metrics of Spark applications.
    #[must_use]
    pub fn spark_metrics(&self) -> &SparkMetricParams {
        self.in_force.spark_metrics()
    }

    /// The parameters of the comparison with a baseline.
    #[must_use]
    pub fn gate(&self) -> &GateParams {
        self.in_force.gate()
    }

    /// The parameters of the order of reports.
    #[must_use]
    pub fn order(&self) -> &OrderParams {
        self.in_force.order()
    }

    /// The parameters of advice that several rules give.
    #[must_use]
    pub fn advice(&self) -> &AdviceParams {
        self.in_force.advice()
    }

    /// The parameters of troubles and of what their remedies are worth.
    #[must_use]
    pub fn troubles(&self) -> &TroubleParams {
        self.in_force.troubles()
    }

    /// The parameters of the ranking of nodes.
    #[must_use]
    pub fn nodes(&self) -> &NodeParams {
        self.in_force.nodes()
    }

    /// The parameters with this id in rule files, for reports; they do not belong to a rule.
    #[must_use]
    pub fn settings(&self, id: &str) -> &[Parameter] {
        self.in_force.listed(id)
    }

    /// To which job, flow, task and owner `app` belongs; `None` if its settings do not tell.
    #[must_use]
    pub fn identity(&self, app: &Application) -> Option<JobIdentity> {
        JobIdentity::of(app, &self.identifying)
    }
}
