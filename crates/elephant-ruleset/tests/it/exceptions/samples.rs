//! Logs of other projects.

use elephant_container_log::{Digest, Form};
use elephant_testing::shared;

use super::{digest_of_file, kind};

/// The log of a project; `None` without the test material.
fn sample(path: &str) -> Option<Digest> {
    let folder = shared("corpus/container-logs")?;
    Some(digest_of_file(&folder.join(path)))
}

/// Line, kind, count and innermost class of each chain.
fn told(digest: &Digest) -> Vec<(u64, &str, u64, &str)> {
    let chains = digest.chains.iter();
    chains.map(|chain| (chain.line, kind(chain), chain.count, chain.innermost().unwrap_or("-"))).collect()
}

#[test]
fn a_driver_of_spark_3_logs_its_errors_as_information() {
    let Some(log) = sample("cubefs__compass/application_1593014569456_34512") else { return };
    let class = "org.apache.spark.SparkException";
    assert_eq!(
        told(&log),
        [
            (1, "broadcast-too-large", 1, class),
            (2, "missing-input", 1, class),
            (3, "result-too-large", 1, class)
        ]
    );
    let fact = |place: usize, name: &str| {
        log.chains[place].facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    assert_eq!(fact(0, "seconds"), Some("300"));
    assert_eq!(
        (fact(2, "tasks"), fact(2, "size"), fact(2, "limit")),
        (Some("9478"), Some("1024.1 MiB"), Some("1024.0 MiB"))
    );
    assert!(
        log.chains[2].remedy().unwrap().ends_with("9478 tasks sent 1024.1 MiB, and the limit is 1024.0 MiB")
    );
}

#[test]
fn a_scheduler_only_repeats_that_the_application_failed() {
    let Some(log) = sample("linkedin__dr-elephant/azkabanExceptionLog_1.log.txt") else { return };
    let with_frames: Vec<_> = log.chains.iter().filter(|chain| chain.has_frames).collect();
    assert_eq!(with_frames.iter().map(|chain| chain.count).sum::<u64>(), 3);
    assert_eq!(log.fingerprints().iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(
        with_frames.iter().map(|chain| kind(chain)).collect::<Vec<_>>(),
        ["application-failed", "process-failed"]
    );
    assert!(with_frames.iter().all(|chain| chain.is_echo()));
    assert!(log.ids.applications.contains("application_1584565458783_12345678"), "{:?}", log.ids);
    assert_eq!(with_frames[0].ids.applications.len(), 1);
    assert_eq!(
        with_frames[0].remedy().unwrap(),
        "read the logs of application_1584565458783_12345678: this program only waited for it"
    );
}

#[test]
fn a_launcher_logs_the_lines_of_its_child() {
    let Some(log) = sample("JunzhongLin__apache_livy_practice/stderr") else { return };
    let told = told(&log);
    for expected in [
        (112, "network", 2, "java.net.UnknownHostException"),
        (157, "user-code", 1, "java.lang.NullPointerException"),
        (210, "user-code", 1, "io.netty.util.concurrent.BlockingOperationException"),
        (245, "user-code", 1, "java.io.IOException"),
    ] {
        assert!(told.contains(&expected), "{expected:?} is not among {told:?}");
    }
    assert_eq!(log.chains.iter().filter(|chain| chain.has_frames).count(), 4);
}

#[test]
fn errors_without_time_stamps_are_counted() {
    let Some(log) = sample("ciprian-morar__capestone-udacity/stderr") else { return };
    let class = "java.lang.RuntimeException";
    assert_eq!(told(&log), [(1, "user-code", 3, class), (34, "user-code", 1, class)]);
    let own = log.chains[0].own.as_ref().unwrap();
    assert_eq!(
        own.to_string(),
        "com.amazon.elasticmapreduce.s3distcp.CopyFilesReducer.cleanup (CopyFilesReducer.java:67)"
    );
    assert!(log.chains[1].ids.tasks.contains("task_1616255590960_0001_r_000001"));
}

#[test]
fn a_log_without_failures_has_none() {
    let Some(log) = sample("cubefs__compass/2859.log") else { return };
    assert_eq!(told(&log), []);
    assert!(log.ids.applications.contains("application_1642582961937_0382"));
}

#[test]
fn pages_of_the_node_manager_are_read_without_their_frame() {
    let Some(log) = sample("linkedin__dr-elephant/app_1_stderr_response.html") else { return };
    assert_eq!(log.form, Form::Page);
    assert_eq!(log.sections[0].log_type.as_deref(), Some("amstderr.log"));
    let missing: Vec<_> = log.chains.iter().filter(|chain| kind(chain) == "missing-input").collect();
    assert_eq!(missing.len(), 1, "{:?}", told(&log));
    assert_eq!(
        (missing[0].count, missing[0].innermost()),
        (2, Some("tensorflow.python.framework.errors_impl.NotFoundError"))
    );
    assert_eq!(missing[0].own.as_ref().unwrap().to_string(), "run_tensorflow (widendeep_training.py:675)");
    assert!(log.ids.containers.contains("container_e42_1576097000949_30598_01_000013"));
    let Some(log) = sample("linkedin__dr-elephant/app_2_stdout_response.html") else { return };
    let missing: Vec<_> = log.chains.iter().filter(|chain| kind(chain) == "missing-input").collect();
    assert_eq!((missing.len(), missing[0].count), (1, 2), "{:?}", told(&log));
}

#[test]
fn excerpts_may_begin_within_a_trace() {
    let Some(log) = sample("linkedin__dr-elephant/testLogSimilarityResource_1.log") else { return };
    assert_eq!(told(&log), [(2, "python-error", 1, "tensorflow.python.framework.errors_impl.UnknownError")]);
    assert_eq!(log.chains[0].own.as_ref().unwrap().to_string(), "main (train_listwise_model.py:242)");
    let Some(log) = sample("linkedin__dr-elephant/testLogSimilarityResource_3.log") else { return };
    assert_eq!(told(&log).len(), 1, "{:?}", told(&log));
    assert_eq!(kind(&log.chains[0]), "missing-input");
}
