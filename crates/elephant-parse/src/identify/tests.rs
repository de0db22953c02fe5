use super::*;

fn kind_of(text: impl AsRef<[u8]>) -> SourceKind {
    identify(text.as_ref(), true).unwrap()
}

#[test]
fn utf16_text_is_skipped_with_its_own_reason() {
    let kind_of = |text: &str| {
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        identify(&bytes, true).unwrap()
    };
    assert_eq!(kind_of("\u{feff}<?xml version=\"1.0\"?><configuration>"), SourceKind::JobConf);
    assert_eq!(kind_of("<conf>"), SourceKind::JobConf);
    assert_eq!(kind_of("\u{feff}Avro-Json\n"), SourceKind::Unrelated(Reason::Utf16));
    assert_eq!(kind_of("\u{feff}<html>"), SourceKind::Unrelated(Reason::Binary));
    let declared = "<!DOCTYPE conf [<!ENTITY a \"1\">]>";
    assert_eq!(kind_of(&format!("\u{feff}{declared}<conf>")), SourceKind::JobConf);
    assert_eq!(identify(format!("{declared}<conf>").as_bytes(), true), Some(SourceKind::JobConf));
    assert_eq!(identify(&declared.as_bytes()[..30], false), None);
    let comment: Vec<u8> = "\u{feff}<!-- ".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(identify(&comment, false), None);
}

#[test]
fn hadoop_2_and_3_histories() {
    let licence = "<!--\n  Licensed to someone,\n\n  under terms\n-->\n\n";
    assert_eq!(kind_of("Avro-Json\n{}"), SourceKind::JhistJson);
    assert_eq!(kind_of("Avro-Json\r\n"), SourceKind::JhistJson);
    assert_eq!(kind_of("Avro-Json"), SourceKind::JhistJson);
    assert_eq!(kind_of("\u{feff}\n Avro-Json \n"), SourceKind::JhistJson);
    assert_eq!(kind_of(format!("{licence}Avro-Json\n")), SourceKind::JhistJson);
    assert_eq!(kind_of(b"Avro-Binary\n{}\n\0\x02\x04"), SourceKind::JhistBinary);
    assert_eq!(kind_of("Avro-Jsonette\n"), SourceKind::Unrelated(Reason::Text));
}

#[test]
fn histories_without_their_header() {
    for line in [
        r#"{"type":"AM_STARTED","event":{"org"#,
        r#"{ "type" : "MAP_ATTEMPT_FINISHED" , "event" : { "#,
        r#"{"type":"record","name":"Event","namespace":"org.apache.hadoop.mapreduce.jobhistory","fields":["#,
        r#"{"type":"record","name":"Event","fields":["#,
    ] {
        assert_eq!(kind_of(line), SourceKind::JhistJson, "{line}");
    }
    for line in [
        r#"{"type":"WORKFLOW_PROGRESS","event":{"#,
        r#"{"type":"AM_STARTED"}"#,
        r#"{"type":"record","name":"Event","namespace":"com.linkedin.tony.events","fields":["#,
        r#"{"type":"record","name":"Task"}"#,
        r#"{"type":"record"#,
        r#"{"type":3}"#,
    ] {
        assert_eq!(kind_of(line), SourceKind::Unrelated(Reason::Text), "{line}");
    }
}

#[test]
fn hadoop_1_histories() {
    for head in [
        "Meta VERSION=\"1\" .\n",
        "Job JOBID=\"job_200903042324_10816\" JOBNAME=\"x",
        "Jobtracker START_TIME=\"1\" .\n",
        "Task TASKID=\"tip_1\"",
        "MapAttempt TASK_TYPE=\"MAP\"",
        "ReduceAttempt TASK_TYPE=\"REDUCE\"",
        "\u{c}!!FILE=host_1_job_1_1_conf.xml!!\n<?xml",
    ] {
        assert_eq!(kind_of(head), SourceKind::Hadoop1History, "{head}");
    }
    for head in ["Job JOBID=1\n", "Job description=\"x\"\n", "Jobs JOBID=\"1\"\n", "Task =\"1\"\n"] {
        assert_eq!(kind_of(head), SourceKind::Unrelated(Reason::Text), "{head}");
    }
}

#[test]
fn job_configurations() {
    let declaration = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>"#;
    for head in [
        format!("{declaration}<configuration>\n"),
        format!("\u{feff}{declaration}\n<!-- a --><!-- b -->\n<configuration/>"),
        format!("<!-- licence -->{declaration}<conf><path>"),
        "<!DOCTYPE configuration>\n<configuration xmlns:xi=\"x\">".to_owned(),
    ] {
        assert_eq!(kind_of(&head), SourceKind::JobConf, "{head}");
    }
    for head in ["<html>", "<configurations>", "<!-- never ends", "<", "<configuration-backup>"] {
        assert_eq!(kind_of(head), SourceKind::Unrelated(Reason::Text), "{head}");
    }
}

#[test]
fn spark_event_logs() {
    let start = r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}"#;
    assert_eq!(kind_of(start), SourceKind::SparkEventLog);
    assert_eq!(kind_of(format!("\r\n\n{start}\r\n")), SourceKind::SparkEventLog);
    assert_eq!(kind_of(format!("\u{feff}{start}")), SourceKind::SparkEventLog);
    assert_eq!(kind_of(format!("3,\"x\":1}}}}\n{start}\n")), SourceKind::SparkEventLog, "damaged first line");
    assert_eq!(kind_of("{\n  \"Event\": \"SparkListenerTaskEnd\""), SourceKind::Unrelated(Reason::Text));
}

#[test]
fn a_log_with_a_damaged_first_line_is_read_further() {
    let damaged = format!("3,\"x\":\"{}\"}}}}\n", "y".repeat(FIRST_LOOK));
    assert_eq!(identify(damaged.get(..FIRST_LOOK).unwrap().as_bytes(), false), None);
    let log = format!("{damaged}{{\"Event\":\"SparkListenerJobEnd\"}}\n");
    assert_eq!(kind_of(log), SourceKind::SparkEventLog);
}

#[test]
fn a_log_may_follow_a_lost_block() {
    let lost = vec![0; FIRST_LOOK];
    assert_eq!(identify(&lost, false), None);
    assert_eq!(kind_of(&lost), SourceKind::Unrelated(Reason::Binary));
    let mut log = lost;
    log.extend(b"rest\"}\n{\"Event\":\"SparkListenerJobEnd\"}\n");
    assert_eq!(kind_of(log), SourceKind::SparkEventLog);
}

#[test]
fn every_other_file_has_a_skip_reason() {
    let mut tar = vec![b'a'; 512];
    tar[257..262].copy_from_slice(b"ustar");
    let summary = "2018 INFO jobhistory.JobSummary: jobId=job_1_1,submitTime=1,launchTime=2\n";
    for (head, reason) in [
        (&b""[..], Reason::Empty),
        (b" \n\n", Reason::Empty),
        (b"crc\0\0\0\x02\0", Reason::Checksum),
        (b"Obj\x01\x02\x16avro.schema", Reason::AvroContainer),
        (b"PK\x03\x04", Reason::Archive),
        (b"7z\xbc\xaf\x27\x1c\0\x04", Reason::OtherFormat),
        (b"Rar!\x1a\x07\x01\0", Reason::OtherFormat),
        (b"\x02\x21\x4c\x18\x10\x27", Reason::OtherFormat),
        (b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0", Reason::OtherFormat),
        (b"\x5d\0\0\x80\0\x01\x02\x03\x04\x05\x06\x07\x08\0", Reason::Binary),
        (tar.as_slice(), Reason::Archive),
        (summary.as_bytes(), Reason::JobSummary),
        (b"[ {\n  \"id\" : \"app-1\", \"attempts\" : [ {\"startTime\" : \"2015\"", Reason::SparkAnswer),
        (b"[{\"status\":\"COMPLETE\",\"stageId\":1,\"attemptId\":0", Reason::SparkAnswer),
        (b"{\"clusterMetrics\":{\"appsSubmitted\":0}}", Reason::OtherAnswer),
        (b"[{\"stageId\":1}]", Reason::Text),
        (b"this is not a valid log file\n", Reason::Text),
        (b"caf\xe9 \x1b[1mbold\x1b[0m\n", Reason::Text),
        (b"\0\x01\x02", Reason::Binary),
    ] {
        assert_eq!(kind_of(head), SourceKind::Unrelated(reason), "{}", head.escape_ascii());
    }
}

#[test]
fn an_undecided_head_asks_for_more() {
    for head in ["", "  \n", "<!-- licence", "Avro-Json", "<?xml version", "Job JOB"] {
        assert_eq!(identify(head.as_bytes(), false), None, "{head}");
    }
    assert_eq!(identify(&[b'x'; DECISIVE_LINE], false), Some(SourceKind::Unrelated(Reason::Text)));
}

proptest::proptest! {
    #[test]
    fn a_complete_head_always_has_a_kind(head in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        proptest::prop_assert!(identify(&head, true).is_some());
    }
}
