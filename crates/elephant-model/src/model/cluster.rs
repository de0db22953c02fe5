//! The cluster on which an application ran, as far as its configuration tells.

use super::conf::{Conf, ConfKey};

/// Spark passes settings of Hadoop on with this prefix.
const OF_HADOOP: &str = "spark.hadoop.";

/// Settings that name a cluster, or the machine that manages it, the clearest first.
const NAMES: [&str; 7] = [
    "yarn.resourcemanager.cluster-id",
    "yarn.resourcemanager.hostname",
    "yarn.resourcemanager.address",
    "spark.org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter.param.PROXY_HOSTS",
    "mapreduce.jobtracker.address",
    "mapred.job.tracker",
    "dfs.nameservices",
];

/// The name of the cluster that a configuration tells, or of the host that manages it.
#[must_use]
pub fn cluster_of(conf: &Conf) -> Option<String> {
    let named = |name: &str| conf.raw(name).or_else(|| conf.raw(&format!("{OF_HADOOP}{name}")));
    NAMES.iter().filter_map(|name| named(name)).find_map(|value| host(&value)).or_else(|| {
        let master = conf.text(ConfKey::SparkMaster)?;
        let (_, address) =
            master.split_once("://").filter(|(kind, _)| matches!(*kind, "spark" | "k8s" | "mesos"))?;
        host(address.rsplit_once("://").map_or(address, |(_, host)| host))
    })
}

/// A name without its port. The address of all interfaces, and what names this machine only, tell nothing.
fn host(value: &str) -> Option<String> {
    let first = value.split(',').next().unwrap_or_default().trim();
    let host = first.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let host = host.map_or(first, |(host, _)| host);
    let tells = !matches!(host, "" | "0.0.0.0" | "local" | "localhost" | "127.0.0.1" | "null")
        && !host.contains("${");
    (tells && !host.contains(char::is_whitespace)).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::conf::Property;
    use super::*;

    #[test]
    fn the_clearest_setting_names_the_cluster() {
        let told = |settings: &[(&str, &str)]| {
            let mut conf = Conf::default();
            for &(name, value) in settings {
                let property = Property { value: value.to_owned(), is_final: false };
                conf.insert(name.to_owned(), property);
            }
            cluster_of(&conf)
        };
        for (settings, cluster) in [
            (&[("spark.master", "yarn")][..], None),
            (&[("spark.master", "local[4]")], None),
            (&[("spark.master", "spark://m1:7077,m2:7077")], Some("m1")),
            (&[("spark.master", "k8s://https://api.prod:6443")], Some("api.prod")),
            (&[("mapred.job.tracker", "local"), ("dfs.nameservices", "etl")], Some("etl")),
            (
                &[("yarn.resourcemanager.hostname", "0.0.0.0"), ("yarn.resourcemanager.address", "rm:8032")],
                Some("rm"),
            ),
            (
                &[("spark.hadoop.yarn.resourcemanager.cluster-id", "prod"), ("dfs.nameservices", "etl")],
                Some("prod"),
            ),
            (&[("yarn.resourcemanager.address", "${yarn.resourcemanager.hostname}:8032")], None),
        ] {
            assert_eq!(told(settings).as_deref(), cluster, "{settings:?}");
        }
    }
}
