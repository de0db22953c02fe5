//! The effective parameters that do not belong to a rule.

use super::assemble::layers_of;
use super::index::Indexed;
use super::settings::{self, GateParams, NodeParams, OrderParams, TroubleParams};
use elephant_analysis::metrics::{MetricParams, SparkMetricParams};
use elephant_catalogue::AdviceParams;
use elephant_rule::finding::Provenance;
use elephant_rule::params::layers::{Layers, Parameter};
use elephant_rule::params::{Params, Problems};

/// Parameters with their values and origins for reports.
type Listed<P> = (P, Vec<Parameter>);

/// The effective parameters that do not belong to a rule.
#[derive(Debug)]
pub(super) struct InForce {
    metrics: Listed<MetricParams>,
    spark_metrics: Listed<SparkMetricParams>,
    gate: Listed<GateParams>,
    order: Listed<OrderParams>,
    advice: Listed<AdviceParams>,
    troubles: Listed<TroubleParams>,
    nodes: Listed<NodeParams>,
}

impl InForce {
    /// The parameters of `documents`; `None` if a built-in file is incomplete.
    pub(super) fn of(documents: Indexed<'_, '_>, problems: &mut Problems) -> Option<Self> {
        Some(Self {
            metrics: load(settings::METRICS.id, documents, problems)?,
            spark_metrics: load(settings::SPARK_METRICS.id, documents, problems)?,
            gate: load(settings::GATE.id, documents, problems)?,
            order: load(settings::ORDER.id, documents, problems)?,
            advice: load(settings::ADVICE.id, documents, problems)?,
            troubles: load(settings::TROUBLES.id, documents, problems)?,
            nodes: load(settings::NODES.id, documents, problems)?,
        })
    }

    pub(super) const fn metrics(&self) -> &MetricParams {
        &self.metrics.0
    }

    pub(super) const fn spark_metrics(&self) -> &SparkMetricParams {
        &self.spark_metrics.0
    }

    pub(super) const fn gate(&self) -> &GateParams {
        &self.gate.0
    }

    pub(super) const fn order(&self) -> &OrderParams {
        &self.order.0
    }

    pub(super) const fn advice(&self) -> &AdviceParams {
        &self.advice.0
    }

    pub(super) const fn troubles(&self) -> &TroubleParams {
        &self.troubles.0
    }

    pub(super) const fn nodes(&self) -> &NodeParams {
        &self.nodes.0
    }

    /// The parameters of this id in rule files.
    pub(super) fn listed(&self, id: &str) -> &[Parameter] {
        match id {
            id if id == settings::METRICS.id => &self.metrics.1,
            id if id == settings::SPARK_METRICS.id => &self.spark_metrics.1,
            id if id == settings::GATE.id => &self.gate.1,
            id if id == settings::ORDER.id => &self.order.1,
            id if id == settings::ADVICE.id => &self.advice.1,
            id if id == settings::TROUBLES.id => &self.troubles.1,
            id if id == settings::NODES.id => &self.nodes.1,
            _ => &[],
        }
    }
}

/// The parameters of advice; `None` if the built-in file is incomplete. Their problems are reported with all others.
pub(super) fn advice(documents: Indexed<'_, '_>) -> Option<AdviceParams> {
    Some(load(settings::ADVICE.id, documents, &mut Problems::default())?.0)
}

fn load<P: Params>(id: &str, documents: Indexed<'_, '_>, problems: &mut Problems) -> Option<Listed<P>> {
    let layers = layers_of(documents, id, Provenance::Own);
    Layers { rule: id, all: &layers, problems }.params()
}
