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

/// Each setting is fixed, and this part of a sentence says what to change instead; empty if nothing is said.
fn fixes(app: &Application, settings: &[(&str, &str)]) {
    let platform = Platform::of(app).unwrap();
    for (setting, instead) in settings {
        // No platform accepts this number of cores.
        assert!(platform.why_fixed(app, setting, "3").is_some(), "{} {setting}", platform.key);
        let said = platform.instead(app, setting, "3");
        assert_eq!(said.is_some(), !instead.is_empty(), "{} {setting}", platform.key);
        assert!(said.unwrap_or_default().contains(instead), "{} {setting}", platform.key);
    }
}

#[test]
fn databricks_names_what_to_change_instead() {
    let tag = |name: &str| format!("spark.databricks.clusterUsageTags.{name}");
    let [scaling, node, workers] = ["clusterScalingType", "clusterNodeType", "clusterWorkers"].map(tag);
    let databricks = |scaling_type| {
        app(&[STANDALONE, (&*scaling, scaling_type), (&*node, "m5.4xlarge"), (&*workers, "4")])
    };
    fixes(
        &databricks("fixed_size"),
        &[
            ("spark.executor.cores", "another worker type (now m5.4xlarge)"),
            ("spark.executor.memory", "another worker type (now m5.4xlarge)"),
            ("spark.executor.instances", "number of workers (now 4)"),
            ("spark.dynamicAllocation.enabled", "present number (4), or end it"),
        ],
    );
    fixes(
        &databricks("autoscaling"),
        &[
            ("spark.dynamicAllocation.maxExecutors", "autoscaling limits of the"),
            ("spark.cores.max", "autoscaling limits of the"),
            ("spark.driver.memory", "another driver type, which"),
        ],
    );
}

#[test]
fn other_platforms_name_what_they_fix() {
    fixes(
        &app(&[YARN, ("spark.glue.JOB_NAME", "etl")]),
        &[
            ("spark.executor.memory", "another worker type (G.1X"),
            ("spark.executor.instances", "number of workers of the job"),
            ("spark.dynamicAllocation.enabled", "--enable-auto-scaling"),
        ],
    );
    let unknown = app(&[("spark.master", "ray://host:10001")]);
    fixes(
        &unknown,
        &[("spark.executor.memory", "ray://host:10001"), ("spark.driver.cores", "ray://host:10001")],
    );
    let synapse = app(&[("spark.synapse.pool.name", "p"), YARN]);
    fixes(&synapse, &[("spark.executor.memory", "executor size of the pool"), ("spark.executor.cores", "")]);
    let fabric = app(&[("spark.fabric.pool", "p"), YARN]);
    fixes(
        &fabric,
        &[("spark.executor.memory", "other cores in the environment"), ("spark.executor.cores", "")],
    );
    fixes(&app(&[("spark.dataproc.executor.disk.size", "100g")]), &[("spark.executor.cores", "")]);
    fixes(&app(&[("spark.emr-serverless.executor.disk", "20g")]), &[("spark.driver.cores", "")]);
    fixes(&app(&[STANDALONE]), &[("spark.executor.instances", "")]);
    fixes(&app(&[("spark.master", "local[2]")]), &[("spark.executor.memory", ""), ("spark.speculation", "")]);
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
