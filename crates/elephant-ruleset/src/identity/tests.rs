use super::*;
use elephant_model::model::Engine;
use elephant_model::model::conf::Property;
use elephant_model::model::spark::{Spark, SqlExecution};

fn app(settings: &[(&str, &str)]) -> Application {
    let mut app = Application::new(Engine::Spark);
    for (name, value) in settings {
        let property = Property { value: (*value).to_owned(), is_final: false };
        app.conf.insert((*name).to_owned(), property);
    }
    app
}

/// "scheduler job flow run task owner link", with "-" for what is unknown.
fn identity(app: &Application, own: &[Identifying]) -> String {
    let Some(found) = JobIdentity::of(app, own) else { return String::new() };
    let fields = [found.job, found.flow, found.run, found.task, found.owner, found.link];
    let fields = fields.map(|field| field.unwrap_or_else(|| "-".to_owned()));
    format!("{} {}", found.scheduler, fields.join(" "))
}

#[test]
fn schedulers_are_known_by_their_settings() {
    let label = |name: &str| format!("spark.kubernetes.driver.label.{name}");
    for (settings, found) in [
        (&[][..], ""),
        (
            &[
                ("spark.airflow.ctx.dag_id", "etl"),
                ("spark.airflow.ctx.task_id", "load"),
                ("airflow.ctx.dag_owner", "bi"),
            ],
            "airflow - etl - load bi -",
        ),
        (&[(&*label("dag_id"), "etl"), (&*label("task_id"), "load")], "airflow - etl - load - -"),
        (
            &[("spark.openlineage.parentJobName", "etl.load.spark"), ("spark.openlineage.parentRunId", "7")],
            "openlineage - etl 7 load.spark - -",
        ),
        (
            &[
                ("azkaban.flow.flowid", "nightly"),
                ("azkaban.flow.execid", "12"),
                ("azkaban.job.id", "load"),
                ("azkaban.link.execution.url", "https://azkaban/executor?execid=12"),
            ],
            "azkaban - nightly 12 load - https://azkaban/executor?execid=12",
        ),
        (
            &[("spark.driver.extraJavaOptions", "-Xss4m -Dazkaban.flow.flowid=nightly '-Da=b'")],
            "azkaban - nightly - - - -",
        ),
        (
            &[("mapreduce.job.name", "oozie:launcher:T=hive:W=daily:A=load:ID=0000123-W")],
            "oozie - daily 0000123-W load - -",
        ),
        (
            &[
                ("spark.databricks.clusterUsageTags.clusterName", "job-703-run-31144-etl"),
                ("spark.databricks.workspaceUrl", "dbc.cloud.databricks.com"),
            ],
            "databricks 703 - 31144 etl - https://dbc.cloud.databricks.com/jobs/703/runs/31144",
        ),
        (&[("spark.databricks.job.id", "*********(redacted)")], ""),
        (&[("spark.glue.JOB_NAME", "load"), ("spark.glue.JOB_RUN_ID", "jr_7")], "glue load - jr_7 - - -"),
        (
            &[
                ("spark.synapse.context.notebookname", "sales"),
                ("spark.synapse.context.activityname", "Load"),
                ("spark.synapse.context.pipelinejobid", "7"),
            ],
            "synapse sales - 7 Load - -",
        ),
        (
            &[("spark.trident.artifact.name", "nb"), ("spark.synapse.context.notebookname", "sales")],
            "fabric nb - - - - -",
        ),
        // A cluster is no job: each run may have its own.
        (&[("spark.yarn.appMasterEnv.EMR_CLUSTER_ID", "j-1")], ""),
        (
            &[(&*label("sparkoperator.k8s.io/app-name"), "taxi"), (&*label("team"), "data")],
            "kubernetes taxi - - - data -",
        ),
        (&[("spark.yarn.tags", "x,workflow:etl, task=load,owner:bi")], "yarn-tags - etl - load bi -"),
        (&[("spark.yarn.tags", "hive_20240101")], ""),
    ] {
        assert_eq!(identity(&app(settings), &[]), found, "{settings:?}");
    }
}

#[test]
fn the_comment_of_dbt_counts_if_all_queries_agree() {
    let with = |nodes: &[&str]| {
        let mut app = app(&[]);
        let query = |(id, node): (u64, &&str)| {
            let comment =
                format!(r#"/* {{"app": "dbt", "profile_name": "bi", "node_id": "{node}"}} */ select 1"#);
            SqlExecution { description: Some(comment), ..SqlExecution::new(id) }
        };
        app.spark = Some(Box::new(Spark { sql: (0..).zip(nodes).map(query).collect(), ..Spark::default() }));
        identity(&app, &[])
    };
    assert_eq!(with(&["model.bi.sales", "model.bi.sales"]), "dbt - bi - model.bi.sales - -");
    assert_eq!(with(&["model.bi.sales", "model.bi.costs"]), "dbt - bi - - - -");
}

#[test]
fn documents_of_users_come_first() {
    let (own, problems) = read(
        "identify: ours\njob: [my.job]\nlink: ['https://jobs/{job}?u={my.user}', 'https://jobs/{job}']\n",
    );
    assert_eq!(problems, Vec::<String>::new());
    let settings = [("spark.my.job", "a"), ("airflow.ctx.dag_id", "etl")];
    assert_eq!(identity(&app(&settings), &own), "ours a - - - - https://jobs/a");
    assert_eq!(identity(&app(&settings[1..]), &own), "airflow - etl - - - -");
}

fn read(text: &str) -> (Vec<Identifying>, Vec<String>) {
    let file = Arc::new(RuleFile { name: "own.yaml".to_owned(), text: text.to_owned() });
    let mut problems = Problems::default();
    let (nodes, _) = documents(&file.text);
    let entries = nodes
        .iter()
        .filter_map(|node| if let Kind::Map(entries) = &node.kind { Some(entries) } else { None });
    let read = entries
        .filter_map(|entries| Identifying::read(&file, entries, Compile::Now, &mut problems))
        .collect();
    (read, problems.into_vec(&[file]).iter().map(ToString::to_string).collect())
}

#[test]
fn mistakes_are_told() {
    for (text, expected) in [
        ("identify: a\n", "names the settings of a job, flow or task"),
        ("identify: a\nflows: [x]\nflow: [x]\n", "has no key \"flows\""),
        ("identify: a\nflow: ['x /(/']\n", "is invalid"),
        ("identify: a\nflow: ['x /y/']\n", "has no group"),
        ("identify: a\nflow: ['x /y']\n", "has no / at its end"),
        ("identify: a\nflow: ['x y']\n", "is no setting"),
    ] {
        let (_, problems) = read(text);
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{text}: {problems:?}");
    }
}

#[test]
fn the_built_in_list_is_read_without_mistakes() {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/identity.yaml"));
    let (documents, problems) = read(text);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(documents.len(), BUILT_IN.len());
}
