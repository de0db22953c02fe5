//! One row for each platform, the most specific first.
//!
//! Sources: the manuals of the platforms on Spark settings (Databricks, "Spark configuration" and "Compute configuration";
//! AWS Glue, "Job parameters", which Glue keeps for itself; Amazon EMR, "Configure Spark", and EMR Serverless, "Spark job
//! properties"; Google Dataproc, "Spark properties" of clusters and of batches; Azure Synapse, "Spark pool configurations";
//! Microsoft Fabric, "Spark compute"), and Spark's own pages on its cluster managers.

use super::{Fixed, Platform, ShuffleService, Sign};
use crate::model::spark::ClusterManager;

/// What settles the size of executors.
const SIZE: &[&str] = &[
    "spark.executor.cores",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.memoryOverheadFactor",
    "spark.yarn.executor.memoryOverhead",
    "spark.kubernetes.executor.memoryOverhead",
    "spark.kubernetes.memoryOverheadFactor",
    "spark.executor.pyspark.memory",
    "spark.memory.offHeap.",
];
const MEMORY: &[&str] =
    &["spark.executor.memory", "spark.executor.memoryOverhead", "spark.executor.memoryOverheadFactor"];
const CORES: &[&str] = &["spark.executor.cores", "spark.driver.cores"];
/// What settles the number of executors.
const NUMBER: &[&str] = &["spark.executor.instances", "spark.cores.max"];
/// What settles the size of the driver.
const DRIVER: &[&str] = &[
    "spark.driver.cores",
    "spark.driver.memory",
    "spark.driver.memoryOverhead",
    "spark.driver.memoryOverheadFactor",
    "spark.yarn.driver.memoryOverhead",
    "spark.kubernetes.driver.memoryOverhead",
];
/// What lets executors come and go.
const ALLOCATION: &[&str] = &["spark.dynamicAllocation.", "spark.shuffle.service."];

const SCALING: &str = "spark.databricks.clusterUsageTags.clusterScalingType";

const SERVICE_OF_YARN: &str = "a NodeManager runs it as the auxiliary service spark_shuffle";
const SERVICE_OF_STANDALONE: &str =
    "a worker runs it if it is started with spark.shuffle.service.enabled=true";
const SERVICE_OF_MESOS: &str = "sbin/start-mesos-shuffle-service.sh starts it on each node";

const fn fixed(settings: &'static [&'static str], why: &'static str, instead: &'static str) -> Fixed {
    Fixed { settings, when: &[], except: &[], why, instead: Some(instead) }
}

/// A setting of which the platform accepts only some values.
const fn only(values: &'static [&'static str], why: &'static str) -> Fixed {
    Fixed { settings: CORES, when: &[], except: values, why, instead: None }
}

const OTHER_WORKER: &str = "choose another worker type[ (now {spark.databricks.clusterUsageTags.clusterNodeType})], which on \
                            Databricks determines the cores and the memory of executors, one on each worker";

pub(super) const ROWS: &[Platform] = &[
    Platform {
        key: "databricks",
        name: "Databricks",
        is_named: true,
        signs: &[
            Sign::Setting("spark.databricks.clusterUsageTags."),
            Sign::Setting("spark.databricks.clusterSource"),
        ],
        fixed: &[
            fixed(SIZE, "on Databricks the worker type determines it", OTHER_WORKER),
            fixed(
                DRIVER,
                "on Databricks the driver type determines it",
                "choose another driver type[ (now {spark.databricks.clusterUsageTags.driverNodeType})], which on Databricks \
                 determines the cores and the memory of the driver",
            ),
            Fixed {
                settings: NUMBER,
                when: &[(SCALING, "fixed_size")],
                except: &[],
                why: "on Databricks the number of workers determines it",
                instead: Some(
                    "change the number of workers[ (now {spark.databricks.clusterUsageTags.clusterWorkers})]; on Databricks each runs \
                     one executor",
                ),
            },
            Fixed {
                settings: ALLOCATION,
                when: &[(SCALING, "fixed_size")],
                except: &[],
                why: "a cluster of fixed size keeps its workers, whatever Spark releases",
                instead: Some(
                    "let the cluster scale between fewer workers and the present \
                     number[ ({spark.databricks.clusterUsageTags.clusterWorkers})], or end it earlier, because a cluster \
                     of fixed size keeps its workers, whatever Spark releases",
                ),
            },
            fixed(
                NUMBER,
                "on Databricks the autoscaling limits determine it",
                "change the autoscaling limits of the cluster[ (at least \
                 {spark.databricks.clusterUsageTags.clusterMinWorkers} workers)][ (at most \
                 {spark.databricks.clusterUsageTags.clusterMaxWorkers} workers)]",
            ),
            fixed(
                ALLOCATION,
                "on Databricks autoscaling adds and removes workers",
                "lower the autoscaling limits of the cluster[ (at least \
                 {spark.databricks.clusterUsageTags.clusterMinWorkers} workers)][ (at most \
                 {spark.databricks.clusterUsageTags.clusterMaxWorkers} workers)], or end it earlier",
            ),
        ],
        shuffle_service: ShuffleService::Runs,
    },
    Platform {
        key: "glue",
        name: "AWS Glue",
        is_named: true,
        signs: &[Sign::Setting("spark.glue.")],
        fixed: &[
            fixed(
                SIZE,
                "on Glue the worker type determines it",
                "choose another worker type (G.1X, G.2X, …), which on Glue determines the cores and the memory of executors",
            ),
            fixed(
                DRIVER,
                "on Glue the worker type determines it",
                "choose another worker type (G.1X, G.2X, …), one of which runs the driver",
            ),
            fixed(
                NUMBER,
                "on Glue the number of workers determines it",
                "change the number of workers of the job; on Glue each runs one executor, apart from that of the driver",
            ),
            fixed(
                ALLOCATION,
                "on Glue auto scaling adds and removes workers",
                "let Glue scale the job (--enable-auto-scaling true), with the number of workers as its limit",
            ),
        ],
        shuffle_service: ShuffleService::Absent,
    },
    Platform {
        key: "emr-serverless",
        name: "EMR Serverless",
        is_named: true,
        signs: &[Sign::Setting("spark.emr-serverless.")],
        fixed: &[only(&["1", "2", "4", "8", "16"], "EMR Serverless has workers of 1, 2, 4, 8 or 16 cores")],
        shuffle_service: ShuffleService::Absent,
    },
    Platform {
        key: "dataproc-serverless",
        name: "Dataproc Serverless",
        is_named: true,
        signs: &[
            Sign::Setting("spark.dataproc.scaling."),
            Sign::Setting("spark.dataproc.driver.disk."),
            Sign::Setting("spark.dataproc.driver.compute."),
            Sign::Setting("spark.dataproc.executor."),
        ],
        fixed: &[only(
            &["4", "8", "16"],
            "Dataproc Serverless has drivers and executors of 4, 8 or 16 cores",
        )],
        shuffle_service: ShuffleService::Absent,
    },
    Platform {
        key: "fabric",
        name: "Microsoft Fabric",
        is_named: true,
        signs: &[Sign::Setting("spark.fabric."), Sign::Setting("spark.trident."), Sign::Setting("trident.")],
        fixed: &[
            only(&["4", "8", "16", "32", "64"], "the nodes of a Fabric pool have 4, 8, 16, 32 or 64 cores"),
            fixed(
                MEMORY,
                "on Fabric it belongs to the cores of an executor",
                "choose executors with other cores in the environment of the workspace; on Fabric their memory belongs to them",
            ),
        ],
        shuffle_service: ShuffleService::Runs,
    },
    Platform {
        key: "synapse",
        name: "Azure Synapse",
        is_named: true,
        signs: &[Sign::Setting("spark.synapse.")],
        fixed: &[
            only(
                &["4", "8", "16", "32", "64", "80"],
                "the nodes of a Synapse pool have 4, 8, 16, 32, 64 or 80 cores",
            ),
            fixed(
                MEMORY,
                "on Synapse it belongs to the node size of the pool",
                "choose another executor size of the pool (Small, Medium, Large), which on Synapse determines cores and memory",
            ),
        ],
        shuffle_service: ShuffleService::Runs,
    },
    Platform {
        key: "emr",
        name: "Amazon EMR",
        is_named: true,
        signs: &[
            Sign::Version("-amzn-"),
            Sign::Setting("spark.emr."),
            Sign::Setting("spark.sql.emr.internal."),
            Sign::Setting("spark.hadoop.fs.s3.emr."),
        ],
        fixed: &[],
        shuffle_service: ShuffleService::Runs,
    },
    Platform {
        key: "dataproc",
        name: "Dataproc",
        is_named: true,
        signs: &[
            Sign::Setting("spark.dataproc."),
            Sign::Host(&["-m.", "c.", ".internal"]),
            Sign::Host(&["-w-", "c.", ".internal"]),
        ],
        fixed: &[],
        shuffle_service: ShuffleService::Runs,
    },
    Platform {
        key: "hdinsight",
        name: "HDInsight",
        is_named: true,
        signs: &[
            Sign::Setting("spark.hdinsight."),
            Sign::Host(&["hn", ".cloudapp.net"]),
            Sign::Host(&["wn", ".cloudapp.net"]),
        ],
        fixed: &[],
        shuffle_service: ShuffleService::First(SERVICE_OF_YARN),
    },
    Platform {
        key: "yarn",
        name: "YARN",
        is_named: false,
        signs: &[Sign::Manager(ClusterManager::Yarn)],
        fixed: &[],
        shuffle_service: ShuffleService::First(SERVICE_OF_YARN),
    },
    Platform {
        key: "kubernetes",
        name: "Kubernetes",
        is_named: true,
        signs: &[Sign::Manager(ClusterManager::Kubernetes)],
        fixed: &[],
        shuffle_service: ShuffleService::Absent,
    },
    Platform {
        key: "standalone",
        name: "standalone",
        is_named: true,
        signs: &[Sign::Manager(ClusterManager::Standalone)],
        fixed: &[Fixed {
            settings: &["spark.executor.instances"],
            when: &[],
            except: &[],
            why: "a standalone cluster starts as many executors as spark.cores.max allows",
            instead: None,
        }],
        shuffle_service: ShuffleService::First(SERVICE_OF_STANDALONE),
    },
    Platform {
        key: "mesos",
        name: "Mesos",
        is_named: true,
        signs: &[Sign::Manager(ClusterManager::Mesos)],
        fixed: &[],
        shuffle_service: ShuffleService::First(SERVICE_OF_MESOS),
    },
    Platform {
        key: "local",
        name: "local",
        is_named: false,
        signs: &[Sign::Manager(ClusterManager::Local)],
        fixed: &[Fixed {
            settings: &[
                "spark.executor.",
                "spark.speculation",
                "spark.speculation.",
                "spark.dynamicAllocation.",
                "spark.shuffle.service.",
            ],
            when: &[],
            except: &[],
            why: "there are no executors in local mode",
            instead: None,
        }],
        shuffle_service: ShuffleService::Absent,
    },
    Platform {
        key: "unknown",
        name: "unknown platform",
        is_named: true,
        signs: &[Sign::UnknownMaster],
        fixed: &[
            fixed(
                SIZE,
                UNKNOWN,
                "change the size of executors as this platform allows it[ (spark.master is {spark.master})]",
            ),
            fixed(
                NUMBER,
                UNKNOWN,
                "change the number of executors as this platform allows it[ (spark.master is {spark.master})]",
            ),
            fixed(
                ALLOCATION,
                UNKNOWN,
                "let executors come and go as this platform allows it[ (spark.master is {spark.master})]",
            ),
            fixed(
                DRIVER,
                UNKNOWN,
                "change the size of the driver as this platform allows it[ (spark.master is {spark.master})]",
            ),
        ],
        shuffle_service: ShuffleService::Absent,
    },
];

const UNKNOWN: &str = "whether the platform grants it is unknown";
