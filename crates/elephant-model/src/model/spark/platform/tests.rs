use super::*;
use crate::model::conf::Property;

fn app(settings: &[(&str, &str)]) -> Application {
    let mut app = Application::new(Engine::Spark);
    for (name, value) in settings {
        let property = Property { value: (*value).to_owned(), is_final: false };
        app.conf.insert((*name).to_owned(), property);
    }
    app
}

fn key(settings: &[(&str, &str)]) -> &'static str {
    Platform::of(&app(settings)).map_or("", |platform| platform.key)
}

const YARN: (&str, &str) = ("spark.master", "yarn");
const STANDALONE: (&str, &str) = ("spark.master", "spark://10.0.0.1:7077");

#[test]
fn each_platform_has_its_sign() {
    let host = |host: &'static str| ("spark.driver.host", host);
    for (settings, platform) in [
        (&[][..], ""),
        (&[("spark.master", "*********(redacted)")], ""),
        (&[("spark.master", "local[4]")], "local"),
        (&[STANDALONE], "standalone"),
        (&[("spark.master", "local-cluster[2,1,1024]")], "standalone"),
        (&[YARN], "yarn"),
        (&[("spark.master", "yarn-client")], "yarn"),
        (&[("spark.master", "k8s://https://10.0.0.1:443")], "kubernetes"),
        (&[("spark.master", "mesos://zk://host/mesos")], "mesos"),
        (&[STANDALONE, ("spark.databricks.clusterUsageTags.clusterId", "0")], "databricks"),
        // Delta Lake also runs elsewhere.
        (&[YARN, ("spark.databricks.delta.retentionDurationCheck.enabled", "false")], "yarn"),
        (&[YARN, ("spark.glue.GLUE_VERSION", "4.0")], "glue"),
        (&[YARN, ("spark.emr.default.executor.memory", "4g")], "emr"),
        (&[("spark.emr-serverless.executor.disk", "20g")], "emr-serverless"),
        (&[YARN, ("spark.dataproc.sql.joinConditionReorder.enabled", "true")], "dataproc"),
        (&[YARN, host("etl-m.us-central1-a.c.project.internal")], "dataproc"),
        (&[("spark.dataproc.executor.disk.size", "100g")], "dataproc-serverless"),
        (&[YARN, ("spark.synapse.pool.name", "small")], "synapse"),
        (&[YARN, ("spark.trident.pbienv", "prod")], "fabric"),
        (&[YARN, host("hn0-etl.abc.bx.internal.cloudapp.net")], "hdinsight"),
        (&[("spark.master", "ray://host:10001")], "unknown"),
    ] {
        assert_eq!(key(settings), platform, "{settings:?}");
    }
    let mut emr = app(&[YARN]);
    emr.engine_version = Some("3.5.1-amzn-1".to_owned());
    assert_eq!(Platform::of(&emr).map(|platform| platform.key), Some("emr"));
    let mut job = app(&[YARN]);
    job.engine = Engine::MapReduce;
    assert_eq!(Platform::of(&job), None);
}

#[test]
fn platforms_name_what_they_fix_and_what_to_change_instead() {
    let tag = |name: &str| format!("spark.databricks.clusterUsageTags.{name}");
    let [scaling, node, workers] = ["clusterScalingType", "clusterNodeType", "clusterWorkers"].map(tag);
    let databricks = |scaling_type| {
        app(&[STANDALONE, (&*scaling, scaling_type), (&*node, "m5.4xlarge"), (&*workers, "4")])
    };
    let serverless = || app(&[("spark.dataproc.executor.disk.size", "100g")]);
    let glue = || app(&[YARN, ("spark.glue.JOB_NAME", "etl")]);
    for (app, setting, value, instead) in [
        (databricks("fixed_size"), "spark.executor.cores", "4", Some("another worker type (now m5.4xlarge)")),
        (
            databricks("fixed_size"),
            "spark.executor.memory",
            "8g",
            Some("another worker type (now m5.4xlarge)"),
        ),
        (databricks("fixed_size"), "spark.executor.instances", "2", Some("number of workers (now 4)")),
        (
            databricks("fixed_size"),
            "spark.dynamicAllocation.enabled",
            "true",
            Some("present number (4), or end it"),
        ),
        (
            databricks("autoscaling"),
            "spark.dynamicAllocation.maxExecutors",
            "2",
            Some("autoscaling limits of the"),
        ),
        (databricks("autoscaling"), "spark.driver.memory", "2g", Some("another driver type, which")),
        (glue(), "spark.executor.memory", "2g", Some("another worker type (G.1X")),
        (glue(), "spark.executor.instances", "2", Some("number of workers of the job")),
        (glue(), "spark.dynamicAllocation.enabled", "true", Some("--enable-auto-scaling")),
        (
            app(&[("spark.master", "ray://host:10001")]),
            "spark.executor.memory",
            "2g",
            Some("ray://host:10001"),
        ),
        (
            app(&[("spark.synapse.pool.name", "p"), YARN]),
            "spark.executor.memory",
            "2g",
            Some("executor size of the pool"),
        ),
        (
            app(&[("spark.fabric.pool", "p"), YARN]),
            "spark.executor.memory",
            "2g",
            Some("other cores in the environment"),
        ),
        // Nothing else to say.
        (serverless(), "spark.executor.cores", "3", None),
        (app(&[STANDALONE]), "spark.executor.instances", "2", None),
        (app(&[("spark.master", "local[2]")]), "spark.executor.memory", "2g", None),
    ] {
        let platform = Platform::of(&app).unwrap();
        assert!(platform.why_fixed(&app, setting, value).is_some(), "{} {setting}", platform.key);
        let said = platform.instead(&app, setting, value);
        assert_eq!(said.is_some(), instead.is_some(), "{} {setting}", platform.key);
        assert!(said.unwrap_or_default().contains(instead.unwrap_or_default()), "{} {setting}", platform.key);
    }
}

#[test]
fn other_settings_have_an_effect() {
    for (settings, setting, value) in [
        (&[("spark.databricks.clusterUsageTags.clusterId", "0")][..], "spark.sql.shuffle.partitions", "100"),
        (&[("spark.dataproc.executor.disk.size", "100g")], "spark.executor.cores", "8"),
        (&[("spark.emr-serverless.executor.disk", "20g")], "spark.executor.memory", "8g"),
        (&[YARN], "spark.executor.instances", "8"),
        (&[STANDALONE], "spark.cores.max", "8"),
        (&[("spark.master", "local[2]")], "spark.driver.memory", "8g"),
        (&[("spark.master", "k8s://host")], "spark.dynamicAllocation.enabled", "true"),
    ] {
        let app = app(settings);
        assert_eq!(Platform::of(&app).unwrap().why_fixed(&app, setting, value), None, "{setting}");
    }
}

#[test]
fn a_cluster_of_databricks_may_be_created_for_a_job() {
    for (settings, is_job) in [
        (&[("spark.databricks.clusterSource", "JOB")][..], true),
        (&[("spark.databricks.clusterSource", "UI")], false),
        (&[("spark.databricks.clusterUsageTags.clusterCreator", "JobLauncher")], true),
        (&[("spark.databricks.clusterUsageTags.clusterName", "job-1-run-2")], true),
        (&[("spark.databricks.clusterUsageTags.clusterName", "shared")], false),
    ] {
        assert_eq!(is_databricks_job(&app(settings)), is_job, "{settings:?}");
    }
}

#[test]
fn rows_have_different_names() {
    let mut keys: Vec<&str> = table::ROWS.iter().map(|row| row.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), table::ROWS.len());
}
