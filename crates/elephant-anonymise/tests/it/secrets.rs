//! Secrets of the kinds that histories contain, at the places where they stand.

use super::rewritten;
use elephant_testing::history::Job;
use serde_json::json;

/// Parts of the secrets below that must not survive.
const SECRETS: [&str; 33] = [
    "initech",
    "Initech",
    "lumbergh",
    "milton",
    "waddams",
    "swingline",
    "tps_report",
    "tpsreport",
    "Stapler",
    "stapler",
    "hunter2",
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI",
    "078-05-1120",
    "4111111111111111",
    "5550199",
    "payroll",
    "10.20.30.40",
    "ip-10-20-30-40",
    "Peter Gibbons",
    "Gibbons",
    "chotchkies",
    "größe",
    "salaries",
    "bobs",
    "eyJhbGci",
    "corp-lake",
    "flair",
    "redbinder",
    "basement",
    "lawrence",
    "TpsCover",
    "nagheenanajar",
];

/// A log with a secret in every kind of field.
fn event_log() -> String {
    let properties = json!({
        "spark.app.name": "initech payroll for lumbergh", "spark.app.id": "application_1795255830918_0001", "spark.driver.host": "ip-10-20-30-40.initech.com",
        "spark.master": "spark://initech-master:7077", "spark.hadoop.fs.s3a.access.key": "AKIAIOSFODNN7EXAMPLE",
        "spark.hadoop.fs.s3a.secret.key": "wJalrXUtnFEMI/K7MDENG", "spark.initech.swingline.url": "jdbc:postgresql://milton:hunter2@db.initech.com:5432/payroll",
        "spark.executor.extraJavaOptions": "-XX:+UseG1GC -Dinitech.password=hunter2 -Duser=lumbergh -javaagent:/opt/initech/flair.jar",
        "spark.yarn.dist.files": "hdfs://initech-nn/user/milton/redbinder.jar,s3a://corp-lake/tps_report/a.jar",
        "spark.sql.warehouse.dir": "abfss://payroll@initech.dfs.core.windows.net/salaries",
        "spark.executor.memory": "4g", "spark.job.tags": "Bearer eyJhbGciOiJIUzI1NiJ9.x.y", "spark.owner.mail": "milton.waddams@initech.com",
        "spark.executorEnv.PHONE": "5550199", "spark.contact": "078-05-1120",
    });
    let plan = json!({
        "nodeName": "Scan parquet initech.payroll", "simpleString": "Filter (isnotnull(salaries#12) AND (name#13 = Peter Gibbons) AND (card#14L = 4111111111111111))",
        "children": [{"nodeName": "BatchEvalPython", "simpleString": "BatchEvalPython [tps_report(salaries#12)#8], [pythonUDF0#11]", "children": [],
            "metadata": {"Location": "InMemoryFileIndex[hdfs://initech-nn/user/milton/salaries]", "ReadSchema": "struct<stapler:string,größe:int>"}, "metrics": []}],
        "metadata": {"chotchkies": "flair"}, "metrics": [{"name": "number of bobs", "accumulatorId": 3, "metricType": "sum"}],
    });
    let trace = "com.initech.tps.TpsCoverException: no stapler for milton\n\tat com.initech.Swingline.run(Swingline.scala:12)\n\
                 Caused by: java.io.FileNotFoundException: /user/lumbergh/redbinder.csv on 10.20.30.40:9866";
    let events = [
        json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.1-initech-2"}),
        json!({"Event": "SparkListenerResourceProfileAdded", "Resource Profile Id": 0, "Executor Resource Requests": {"gpu": {"Resource Name": "gpu", "Discovery Script": "/opt/initech/gpu.sh", "Vendor": "initech"}}}),
        json!({"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": properties, "Hadoop Properties": {"dfs.initech.key": "flair"},
            "JVM Information": {"Java Home": "/home/milton/java"}, "System Properties": {"user.name": "lumbergh", "sun.java.command": "Submit --password hunter2 payroll.jar"},
            "Classpath Entries": {"/home/milton/stapler.jar": "System Classpath", "initech.jar": "Added By User"}}),
        json!({"Event": "SparkListenerApplicationStart", "App Name": "initech payroll for lumbergh", "App ID": "application_1795255830918_0001", "Timestamp": 1_795_255_830_918_i64, "User": "lumbergh"}),
        json!({"Event": "SparkListenerExecutorAdded", "Timestamp": 1_795_255_831_000_i64, "Executor ID": "1", "Executor Info": {"Host": "ip-10-20-30-40.initech.com", "Total Cores": 4,
            "Log Urls": {"stdout": "http://ip-10-20-30-40:8042/node/containerlogs/container_1795255830918_0001_01_000002/lumbergh/stdout"}, "Attributes": {"USER": "lumbergh", "basement": "x"}}}),
        json!({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1_795_255_831_500_i64, "Stage Infos": [{"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "save at TpsCover.scala:12",
            "Number of Tasks": 1, "RDD Info": [{"RDD ID": 0, "Name": "hdfs://initech-nn/user/milton/in.txt", "Scope": "{\"id\":\"3\",\"name\":\"textFile of milton\"}", "Callsite": "textFile at /home/milton/tpsreport.py:3", "Parent IDs": []}],
            "Details": trace, "Accumulables": [{"ID": 1, "Name": "rows of lawrence", "Value": "nagheenanajar"}]}], "Stage IDs": [0],
            "Properties": {"spark.job.description": "SELECT salaries FROM payroll WHERE name = 'Peter Gibbons'", "spark.jobGroup.id": "initech-group", "user": "lumbergh"}}),
        json!({"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Task Type": "ResultTask", "Task End Reason": {"Reason": "ExceptionFailure", "Class Name": "com.initech.TpsCoverException",
            "Description": "mail milton.waddams@initech.com about customer Peter Gibbons, 4111111111111111", "Full Stack Trace": trace}, "Task Info": {"Task ID": 0, "Host": "ip-10-20-30-40.initech.com", "Executor ID": "1"}}),
        json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": 0, "description": "monthly payroll of initech", "details": trace,
            "physicalPlanDescription": "== Physical Plan ==\nScan parquet initech.payroll [salaries#12]", "sparkPlanInfo": plan, "time": 1_795_255_832_000_i64, "modifiedConfigs": {"spark.sql.initech": "lumbergh"}}),
        json!({"Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent", "progress": {"id": "b5c7c3d9-1111-2222-3333-444455556666", "name": "payroll stream",
            "timestamp": "2026-11-21T09:00:00.000Z", "sources": [{"description": "KafkaV2[Subscribe[salaries]]", "endOffset": "{\"salaries\":{\"0\":12}}", "latestOffset": {"salaries": {"0": 13}}}],
            "observedMetrics": {"bobs": {"stapler": 1}}}}),
        json!({"Event": "com.initech.SwinglineEvent", "secretOfMilton": "swingline", "redbinder": 4_111_111_111_111_111_i64, "nested": {"lawrence": ["flair"]}}),
    ];
    events.map(|event| event.to_string()).join("\n")
        + "\n{\"Event\":\"SparkListenerTaskEnd\",\"Host\":\"initech\n\"milton\"\nlumbergh"
}

fn assert_clean(text: &str) {
    for secret in SECRETS {
        let at = text.find(secret);
        let around =
            at.map(|at| text.get(at.saturating_sub(100)..(at + 100).min(text.len())).unwrap_or(secret));
        assert_eq!(around, None, "{secret}");
    }
}

#[test]
fn no_secret_of_an_event_log_survives() {
    let text = rewritten("initech-payroll.log", event_log().as_bytes(), "k");
    assert_clean(&text);
    // What findings rest on survives.
    for kept in [
        "\"spark.executor.memory\":\"4g\"",
        "-XX:+UseG1GC",
        "java.io.FileNotFoundException",
        "BatchEvalPython",
        "pythonUDF0#11",
        "isnotnull(",
    ] {
        assert!(text.contains(kept), "{kept}");
    }
    assert!(!text.contains("1795255830918"), "times move, in ids, too");
    // All lines but the damaged ones are JSON.
    let lines = text.lines().skip(1).filter(|line| serde_json::from_str::<serde_json::Value>(line).is_err());
    assert!(
        lines.clone().count() >= 2 && lines.clone().all(|line| line == "{\"damaged\":"),
        "{:?}",
        lines.collect::<Vec<_>>()
    );
}

#[test]
fn the_same_name_has_the_same_pseudonym_everywhere() {
    let text = rewritten("a.log", event_log().as_bytes(), "k");
    let letters = |start: &str, text: &str| -> String {
        text.split(start).nth(1).unwrap().chars().take_while(char::is_ascii_lowercase).collect()
    };
    let user = letters("\"User\":\"user-", &text);
    assert_eq!(user.len(), 12);
    // In the user's setting, in the path, in the executor's environment, in the URL of its logs.
    assert!(text.matches(&user).count() >= 6, "{user}");
    let host = letters("\"Host\":\"host-", &text);
    assert!(text.matches(&host).count() >= 3, "{host}");
}

#[test]
fn no_secret_of_a_job_history_survives() {
    let name = "job_1795255830918_0001-1795255830918-lumbergh-initech+payroll-1795255831500-1-1-SUCCEEDED-bobs-1795255831000.jhist";
    let event = |kind: &str, record: &str, fields: serde_json::Value| {
        json!({"type": kind, "event": {format!("org.apache.hadoop.mapreduce.jobhistory.{record}"): fields}})
            .to_string()
    };
    let lines = [
        "<!-- initech -->".to_owned(),
        "Avro-Json".to_owned(),
        json!({"type": "record", "name": "Event", "doc": "written at initech", "fields": []}).to_string(),
        event(
            "JOB_SUBMITTED",
            "JobSubmitted",
            json!({"jobid": "job_1795255830918_0001", "jobName": "initech payroll", "userName": "lumbergh", "submitTime": 1_795_255_830_918_i64,
            "jobConfPath": "hdfs://initech-nn/user/lumbergh/.staging/job.xml", "acls": {"mapreduce.job.acl-view-job": "milton,bobs"}, "jobQueueName": "bobs",
            "workflowId": {"string": "swingline"}, "workflowAdjacencies": {"string": "\"initech\"=\"payroll\""}}),
        ),
        event(
            "MAP_ATTEMPT_FAILED",
            "TaskAttemptUnsuccessfulCompletion",
            json!({"taskid": "task_1795255830918_0001_m_000000", "hostname": "ip-10-20-30-40.initech.com", "rackname": "/basement/flair",
            "error": "Error: com.initech.TpsCoverException: milton has no stapler", "counters": {"org.apache.hadoop.mapreduce.jobhistory.JhCounters": {"name": "TOTAL",
                "groups": [{"name": "com.initech.Counters", "displayName": "of initech", "counts": [{"name": "BOBS_bobs", "displayName": "bobs", "value": 3}]}]}}}),
        ),
        "milton is no JSON".to_owned(),
    ];
    let text = rewritten(name, (lines.join("\n") + "\n").as_bytes(), "k");
    assert_clean(&text);
    assert!(text.contains("/.staging/job.xml") && text.contains("-1-1-SUCCEEDED-queue%2D"), "{text}");
    let job = Job::succeeded(&json!([])).named(7, "tps_report of Initech");
    assert_clean(&rewritten(&format!("{}.jhist", job.job_id()), job.history().as_bytes(), "k"));
}

#[test]
fn no_secret_of_a_history_of_hadoop_1_survives() {
    let history = "Meta VERSION=\"1\" .\n\
        Job JOBID=\"job_201311192236_3583\" JOBNAME=\"initech payroll\" USER=\"lumbergh\" SUBMIT_TIME=\"1386370578196\" JOBCONF=\"hdfs://initech/user/milton/job\\.xml\" VIEW_JOB=\"bobs\" JOB_QUEUE=\"bobs\" .\n\
        MapAttempt TASK_TYPE=\"MAP\" TASKID=\"task_201311192236_3583_m_000000\" TASK_ATTEMPT_ID=\"attempt_201311192236_3583_m_000000_0\" START_TIME=\"1386370578665\" TRACKER_NAME=\"tracker_basement7\\.initech\\.com:localhost/127\\.0\\.0\\.1:3333\" HTTP_PORT=\"50060\" .\n\
        MapAttempt TASK_TYPE=\"MAP\" TASKID=\"task_201311192236_3583_m_000000\" TASK_ATTEMPT_ID=\"attempt_201311192236_3583_m_000000_0\" TASK_STATUS=\"FAILED\" FINISH_TIME=\"1386370579850\" HOSTNAME=\"/flair/basement7\\.initech\\.com\" STATE_STRING=\"milton > map\" ERROR=\"com\\.initech\\.TpsCoverException: \\\"hunter2\\\"\n\tat x\" COUNTERS=\"{(com\\.initech\\.Bobs)(of initech)[(swingline)(red swingline)(3)]}\" SECRET=\"stapler\" .\n\
        milton is no record\n\
        Job JOBID=\"job_201311192236_3583\" FINISH_TIME=\"1386370580850\" JOB_STATUS=\"SUCCESS\" .\n";
    let text =
        rewritten("initech1_1386370578196_job_201311192236_3583_lumbergh_payroll", history.as_bytes(), "k");
    assert_clean(&text);
    assert!(
        text.contains("JOB_STATUS=\"SUCCESS\" .")
            && text.contains("(3)]}")
            && !text.contains("1386370578196"),
        "{text}"
    );
}

#[test]
fn no_secret_of_a_configuration_survives() {
    let conf = "<?xml version=\"1.0\"?><!-- milton --><configuration>\n\
        <property><name>mapreduce.job.user.name</name><value>lumbergh</value><source>/home/milton/job.xml</source></property>\n\
        <property><name>initech.swingline</name><value>hunter2</value></property>\n\
        <property><name>mapreduce.map.memory.mb</name><value>2048</value><description>for bobs</description></property>\n\
        <property><name>hive.query.string</name><value>select salaries from payroll where name = &quot;Peter Gibbons&quot;</value></property>\n\
        <property><name>mapreduce.job.map.class</name><value>com.initech.TpsCover</value></property>\n\
        <property><name>dfs.namenode.rpc-address.initech.nn1</name><value>ip-10-20-30-40:8020</value></property>\n</configuration>";
    let text = rewritten("job_1795255830918_0001_conf.xml", conf.as_bytes(), "k");
    assert_clean(&text);
    assert!(text.contains("<name>mapreduce.map.memory.mb</name><value>2048</value>"), "{text}");
    assert!(text.contains("select name_") && text.contains("&quot;Name_"), "{text}");
}
