//! Environment of the application: the properties of Spark, Hadoop and Java.

use std::io;

use super::json::{Json, Log};

/// The application's identifier.
pub(super) const APP_ID: &str = "application_1732147200000_0001";
/// The application's name.
pub(super) const APP_NAME: &str = "sales-daily-totals";

const JAVA_OPTIONS: &str = "-Djava.net.preferIPv6Addresses=false -XX:+IgnoreUnrecognizedVMOptions \
    --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.lang.invoke=ALL-UNNAMED \
    --add-opens=java.base/java.lang.reflect=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED \
    --add-opens=java.base/java.net=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED \
    --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.util.concurrent=ALL-UNNAMED \
    --add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED \
    --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/sun.nio.cs=ALL-UNNAMED \
    --add-opens=java.base/sun.security.action=ALL-UNNAMED \
    --add-opens=java.base/sun.util.calendar=ALL-UNNAMED -Djdk.reflect.useDirectMethodHandle=false";

/// Settings of the user and the cluster, except for the size of executors.
const SPARK: &[(&str, &str)] = &[
    ("spark.app.id", APP_ID),
    ("spark.app.name", APP_NAME),
    ("spark.app.startTime", "1732147200000"),
    ("spark.app.submitTime", "1732147195412"),
    ("spark.driver.extraJavaOptions", JAVA_OPTIONS),
    ("spark.driver.host", "node900"),
    ("spark.driver.memory", "4g"),
    ("spark.driver.port", "38331"),
    ("spark.dynamicAllocation.enabled", "false"),
    ("spark.eventLog.compress", "false"),
    ("spark.eventLog.dir", "hdfs://nameservice1/spark-history"),
    ("spark.eventLog.enabled", "true"),
    ("spark.eventLog.logStageExecutorMetrics", "true"),
    ("spark.eventLog.rolling.enabled", "false"),
    ("spark.executor.extraJavaOptions", JAVA_OPTIONS),
    ("spark.executor.heartbeatInterval", "10s"),
    ("spark.executor.id", "driver"),
    ("spark.executor.memory", "8g"),
    ("spark.executor.processTreeMetrics.enabled", "true"),
    ("spark.history.fs.logDirectory", "hdfs://nameservice1/spark-history"),
    ("spark.master", "yarn"),
    ("spark.memory.fraction", "0.6"),
    ("spark.network.timeout", "300s"),
    ("spark.rdd.compress", "true"),
    ("spark.repl.local.jars", ""),
    ("spark.scheduler.mode", "FIFO"),
    ("spark.serializer", "org.apache.spark.serializer.KryoSerializer"),
    ("spark.shuffle.service.enabled", "true"),
    ("spark.speculation", "true"),
    ("spark.speculation.multiplier", "2"),
    ("spark.sql.adaptive.enabled", "true"),
    ("spark.sql.autoBroadcastJoinThreshold", "33554432"),
    ("spark.sql.shuffle.partitions", "800"),
    ("spark.sql.warehouse.dir", "hdfs://nameservice1/warehouse"),
    ("spark.submit.deployMode", "cluster"),
    ("spark.submit.pyFiles", ""),
    ("spark.ui.port", "0"),
    ("spark.yarn.app.id", APP_ID),
    ("spark.yarn.historyServer.address", "node901:18080"),
    ("spark.yarn.queue", "root.sales"),
];

const SYSTEM: &[(&str, &str)] = &[
    ("file.encoding", "UTF-8"),
    ("file.separator", "/"),
    ("java.class.version", "61.0"),
    ("java.home", "/usr/lib/jvm/java-17-openjdk-amd64"),
    ("java.io.tmpdir", "/data/1/yarn/appcache/application_1732147200000_0001/tmp"),
    ("java.library.path", "/opt/hadoop/lib/native:/usr/java/packages/lib:/usr/lib64:/lib64:/lib:/usr/lib"),
    ("java.runtime.name", "OpenJDK Runtime Environment"),
    ("java.runtime.version", "17.0.12+7"),
    ("java.specification.version", "17"),
    ("java.vendor", "Eclipse Adoptium"),
    ("java.version", "17.0.12"),
    ("java.vm.name", "OpenJDK 64-Bit Server VM"),
    ("java.vm.version", "17.0.12+7"),
    ("line.separator", "\n"),
    ("os.arch", "amd64"),
    ("os.name", "Linux"),
    ("os.version", "5.14.0-427.13.1.el9_4.x86_64"),
    ("path.separator", ":"),
    ("sun.arch.data.model", "64"),
    (
        "sun.java.command",
        "org.apache.spark.deploy.yarn.ApplicationMaster --class com.example.sales.DailyTotals",
    ),
    ("sun.jnu.encoding", "UTF-8"),
    (
        "user.dir",
        "/data/1/yarn/appcache/application_1732147200000_0001/container_1732147200000_0001_01_000001",
    ),
    ("user.home", "/home/sales"),
    ("user.language", "en"),
    ("user.name", "sales"),
    ("user.timezone", "Etc/UTC"),
];

const METRICS: &[(&str, &str)] = &[
    ("*.sink.servlet.class", "org.apache.spark.metrics.sink.MetricsServlet"),
    ("*.sink.servlet.path", "/metrics/json"),
    ("applications.sink.servlet.path", "/metrics/applications/json"),
    ("master.sink.servlet.path", "/metrics/master/json"),
];

/// Hadoop has about a thousand properties; these produce as many, of the same length.
const HADOOP_PARTS: &[&str] = &[
    "dfs.client.failover",
    "dfs.client.hedged.read",
    "dfs.datanode.directoryscan",
    "dfs.ha.tail-edits",
    "dfs.namenode.checkpoint",
    "dfs.namenode.snapshotdiff",
    "fs.azure.authorization",
    "fs.s3a.assumed.role",
    "fs.s3a.committer.staging",
    "fs.s3a.connection",
    "ha.failover-controller",
    "hadoop.caller.context",
    "hadoop.http.authentication",
    "hadoop.registry.zk.retry",
    "hadoop.security.group.mapping",
    "io.compression.codec",
    "ipc.client.connect",
    "mapreduce.client.progressmonitor",
    "mapreduce.job.counters",
    "mapreduce.jobhistory.cleaner",
    "mapreduce.reduce.shuffle.fetch",
    "mapreduce.task.profile",
    "yarn.app.mapreduce.am.job",
    "yarn.federation.state-store",
    "yarn.nodemanager.container-executor",
    "yarn.nodemanager.disk-health-checker",
    "yarn.nodemanager.log-aggregation",
    "yarn.resourcemanager.am-scheduling",
    "yarn.resourcemanager.delegation-token",
    "yarn.resourcemanager.placement-constraints",
    "yarn.sharedcache.store.in-memory",
    "yarn.timeline-service.entity-group-fs-store",
];

const HADOOP_ENDS: &[(&str, &str)] = &[
    ("address", "0.0.0.0:8042"),
    ("cache.max-entries", "1000"),
    ("class", "org.apache.hadoop.yarn.server.DefaultImplementation"),
    ("compress", "false"),
    ("enabled", "true"),
    ("interval-ms", "300000"),
    ("interval.secs", "60"),
    ("keytab", "/etc/security/keytabs/service.keytab"),
    ("limit", "2048"),
    ("max-retries", "10"),
    ("max.attempts", "3"),
    ("min-free-space-per-disk", "0"),
    ("minimum", "1"),
    ("path", "${hadoop.tmp.dir}/local"),
    ("policy", "default"),
    ("port", "0"),
    ("principal", "service/_HOST@EXAMPLE.COM"),
    ("provider.path", ""),
    ("queue.capacity", "100"),
    ("ratio", "0.95"),
    ("retry-interval-ms", "1000"),
    ("retry.policy.spec", "2000,500"),
    ("scope", "private"),
    ("sleep.base-millis", "500"),
    ("sleep.max-millis", "15000"),
    ("store-limit", "86400"),
    ("thread-count", "10"),
    ("timeout", "30s"),
    ("transfer.buffer.size", "64M"),
    ("ttl-ms", "604800000"),
];

const JARS: i64 = 250;

/// Only the number of cores varies.
fn spark_properties(cores: u32) -> Vec<(String, String)> {
    let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let mut properties: Vec<_> = SPARK.iter().map(own).collect();
    properties.push(("spark.executor.cores".to_owned(), cores.to_string()));
    properties
}

pub(super) fn write(cores: u32, log: &mut Log<'_>) -> io::Result<()> {
    log.event("SparkListenerEnvironmentUpdate", |event| {
        event.object("JVM Information", |jvm| {
            jvm.text("Java Home", "/usr/lib/jvm/java-17-openjdk-amd64");
            jvm.text("Java Version", "17.0.12 (Eclipse Adoptium)").text("Scala Version", "version 2.12.18");
        });
        event.texts("Spark Properties", &spark_properties(cores));
        event.object("Hadoop Properties", |hadoop| {
            for part in HADOOP_PARTS {
                for (end, value) in HADOOP_ENDS {
                    hadoop.text(&format!("{part}.{end}"), value);
                }
            }
        });
        event.texts("System Properties", SYSTEM).texts("Metrics Properties", METRICS);
        event.object("Classpath Entries", |entries| {
            for jar in 0..JARS {
                entries
                    .text(&format!("/opt/spark/jars/some-library-{jar}_2.12-3.5.9.jar"), "System Classpath");
            }
        });
    })
}

/// The properties that jobs and stages repeat.
pub(super) fn write_job_properties(execution: i64, event: &mut Json) {
    event.object("Properties", |properties| {
        properties.quoted("spark.sql.execution.id", execution);
        properties.quoted("spark.sql.execution.root.id", execution);
        properties.text("spark.rdd.scope.noOverride", "true");
        properties.text(
            "spark.rdd.scope",
            "{\"id\":\"41\",\"name\":\"Execute InsertIntoHadoopFsRelationCommand\"}",
        );
        for (key, value) in SPARK {
            properties.text(key, value);
        }
    });
}
