//! A job configuration file as Hadoop 2 and 3 write it: all defaults of the distribution with their sources.

use std::io::{self, Write};

/// Properties that rules read, and some more that users set.
const SET: &[(&str, &str, &str)] = &[
    ("mapreduce.job.name", "word count (generated)", "because set programmatically"),
    ("mapreduce.job.user.name", "alice", "because set programmatically"),
    ("mapreduce.job.queuename", "root.default", "programatically"),
    ("mapreduce.map.memory.mb", "1024", "mapred-site.xml"),
    ("mapreduce.reduce.memory.mb", "2048", "mapred-site.xml"),
    ("mapreduce.map.java.opts", "-Xmx820m", "mapred-site.xml"),
    ("mapreduce.reduce.java.opts", "-Xmx1640m", "mapred-site.xml"),
    ("mapreduce.task.io.sort.mb", "256", "mapred-site.xml"),
    ("mapreduce.map.output.compress", "true", "mapred-site.xml"),
    ("mapreduce.map.speculative", "true", "mapred-default.xml"),
    ("mapreduce.reduce.speculative", "true", "mapred-default.xml"),
    ("mapreduce.input.fileinputformat.split.minsize", "0", "mapred-default.xml"),
    ("yarn.scheduler.minimum-allocation-mb", "1024", "yarn-site.xml"),
    ("yarn.scheduler.maximum-allocation-mb", "16384", "yarn-site.xml"),
];

/// First and middle parts of the other property names, with their source files.
const DEFAULTS: [(&str, &[&str], &str); 4] = [
    ("yarn", &["resourcemanager", "nodemanager", "timeline-service", "client"], "yarn-default.xml"),
    ("dfs", &["namenode", "datanode", "client", "journalnode", "ha"], "hdfs-default.xml"),
    ("mapreduce", &["jobhistory", "job", "task", "shuffle", "jobtracker"], "mapred-default.xml"),
    ("hadoop", &["security", "http", "ssl", "rpc", "proxyuser"], "core-default.xml"),
];

/// Last parts of those names, with their values.
const SUFFIXES: &[(&str, &str)] = &[
    ("address", "0.0.0.0:10020"),
    ("webapp.https.address", "${yarn.resourcemanager.hostname}:8090"),
    ("heartbeat.interval-ms", "1000"),
    ("connect.max-wait.ms", "900000"),
    ("connect.retry-interval.ms", "30000"),
    ("thread-count", "10"),
    ("keytab", "/etc/krb5.keytab"),
    ("principal", "jhs/_HOST@REALM.TLD"),
    ("recovery.store.class", "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore"),
    ("log-aggregation.compression-type", "none"),
    ("delete.debug-delay-sec", "0"),
    ("disk-health-checker.min-healthy-disks", "0.25"),
    ("linux-container-executor.nonsecure-mode.user-pattern", "^[_.A-Za-z0-9][-@_.A-Za-z0-9]{0,255}?[$]?$"),
    ("cleaner.interval-ms", "86400000"),
    ("container-metrics.unregister-delay-ms", "10000"),
    ("leveldb-state-store.path", "${hadoop.tmp.dir}/yarn/system/rmstore"),
    ("resource-tracker.client.thread-count", "50"),
    ("fs.state-store.retry-policy-spec", "2000, 500"),
    ("local-cache.max-files-per-directory", "8192"),
    ("acl.enable", "false"),
    ("max-completed-applications", "10000"),
    ("zk-timeout-ms", "10000"),
    (
        "classpath",
        "$HADOOP_CONF_DIR,$HADOOP_COMMON_HOME/share/hadoop/common/*,$HADOOP_HDFS_HOME/share/hadoop/hdfs/*",
    ),
    ("cross-origin.enabled", "false"),
    ("bind-host", ""),
    ("amlauncher.thread-count", "50"),
    ("env-whitelist", "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,HADOOP_YARN_HOME"),
    ("vmem-check-enabled", "true"),
    ("vmem-pmem-ratio", "2.1"),
    ("resource.percentage-physical-cpu-limit", "100"),
    ("log.retain-seconds", "10800"),
    ("admin.client.thread-count", "1"),
    ("am.max-attempts", "2"),
    ("nodes.include-path", ""),
    ("move.interval-ms", "180000"),
    ("handler.count.per-node", "64"),
    ("cgroups.hierarchy", "/hadoop-yarn"),
    ("replace-datanode-on-failure.policy", "DEFAULT"),
    ("max.transfer.threads", "4096"),
];

/// Writes the configuration.
pub fn write(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n")?;
    for (name, value, source) in SET {
        write_property(name, value, source, out)?;
    }
    for (first, middles, source) in DEFAULTS {
        for middle in middles {
            for (suffix, value) in SUFFIXES {
                write_property(&format!("{first}.{middle}.{suffix}"), value, source, out)?;
            }
        }
    }
    out.write_all(b"</configuration>\n")
}

fn write_property(name: &str, value: &str, source: &str, out: &mut dyn Write) -> io::Result<()> {
    // No name or value here contains a character that XML escapes.
    writeln!(
        out,
        "<property><name>{name}</name><value>{value}</value><final>false</final><source>{source}</source>\
         <source>job.xml</source></property>"
    )
}
