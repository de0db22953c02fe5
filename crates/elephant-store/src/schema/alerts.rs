//! The tables of alerts, the same in both databases except the type of texts.

/// Alerts that wait for their receivers, one for a job and receiver, and the days on which one was sent. A row of a day is
/// there while it is sent, too, so that two programs do not send on the same day.
macro_rules! alert_tables {
    ($text:literal) => {
        concat!(
            "
CREATE TABLE alert_waiting (
    receiver ",
            $text,
            " NOT NULL,
    job ",
            $text,
            " NOT NULL,
    severity BIGINT NOT NULL,
    queued BIGINT NOT NULL,
    due BIGINT NOT NULL,
    alert ",
            $text,
            " NOT NULL,
    PRIMARY KEY (receiver, job)
);
CREATE TABLE alert_sent (
    receiver ",
            $text,
            " NOT NULL,
    job ",
            $text,
            " NOT NULL,
    day BIGINT NOT NULL,
    since BIGINT NOT NULL,
    done BOOLEAN NOT NULL,
    PRIMARY KEY (receiver, job, day)
);
"
        )
    };
}
pub(super) use alert_tables;
