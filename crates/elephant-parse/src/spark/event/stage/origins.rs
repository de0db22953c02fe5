//! What the RDDs of a stage are, by name and scope.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::scan::RawStr;
use elephant_model::model::spark::{Origin, Origins};

/// Beginnings of the names of RDDs.
const NAMES: [(&[u8], Origin); 13] = [
    (b"JDBCRDD", Origin::Jdbc),
    (b"FileScanRDD", Origin::Files),
    (b"HadoopRDD", Origin::Files),
    (b"NewHadoopRDD", Origin::Files),
    (b"DataSourceRDD", Origin::DataSource),
    (b"Kafka", Origin::Kafka),
    (b"HBase", Origin::HBase),
    (b"ParallelCollectionRDD", Origin::Parallelized),
    (b"Receiver ", Origin::Receiver),
    (b"PythonRDD", Origin::Python),
    (b"Shuffled", Origin::Shuffle),
    (b"CoalescedRDD", Origin::Coalesced),
    (b"PartitionwiseSampledRDD", Origin::Sampled),
];

/// Beginnings of the names of the operations that made RDDs.
const SCOPES: [(&[u8], Origin); 10] = [
    (b"coalesce", Origin::Coalesced),
    (b"repartition", Origin::Repartitioned),
    (b"Coalesce", Origin::Coalesced),
    (b"Scan JDBC", Origin::Jdbc),
    (b"Scan HBase", Origin::HBase),
    (b"textFile", Origin::Files),
    (b"hadoopFile", Origin::Files),
    (b"parallelize", Origin::Parallelized),
    (b"takeSample", Origin::Sampled),
    (b"sample", Origin::Sampled),
];

/// What unread RDDs are.
pub(super) fn among(rdds: &[u8]) -> Origins {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"Name\":\""));
    let mut origins = Origins::default();
    for at in NAME.find_iter(rdds) {
        let name = rdds.get(at + NAME.needle().len()..).unwrap_or_default();
        add(name, &NAMES, &mut origins);
    }
    add_scopes(rdds, &mut origins);
    origins
}

/// What an RDD of this name is.
pub(super) fn of_name(name: Option<RawStr<'_>>) -> Origins {
    let mut origins = Origins::default();
    add(name.map(|name| name.bytes).unwrap_or_default(), &NAMES, &mut origins);
    origins
}

/// What an RDD of this scope is (`RDDOperationScope`, JSON in a text).
pub(super) fn of_scope(scope: Option<RawStr<'_>>) -> Origins {
    let mut origins = Origins::default();
    add_scopes(scope.map(|scope| scope.bytes).unwrap_or_default(), &mut origins);
    origins
}

fn add_scopes(text: &[u8], origins: &mut Origins) {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\\"name\\\":"));
    for at in NAME.find_iter(text) {
        let value = text.get(at + NAME.needle().len()..).unwrap_or_default().trim_ascii_start();
        if let Some(name) = value.strip_prefix(b"\\\"") {
            add(name, &SCOPES, origins);
        }
    }
}

fn add(name: &[u8], known: &[(&[u8], Origin)], origins: &mut Origins) {
    for (start, origin) in known {
        if name.starts_with(start) {
            origins.add(*origin);
        }
    }
}
