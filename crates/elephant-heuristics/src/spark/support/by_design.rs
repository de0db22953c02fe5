//! Applications whose driver waits by design: streams wait for their next batch, servers and shells for their users.

use elephant_model::model::Application;
use elephant_model::model::spark::{Spark, is_databricks_job};

/// What a driver waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// The next batch of a stream.
    Batches,
    /// Queries of users.
    Users,
}

/// Names that Spark and notebooks give to applications that serve users. `SparkSQL::…` is not one of them: its client also
/// runs files of queries.
const SERVERS: [&str; 6] =
    ["Thrift JDBC/ODBC Server", "Spark shell", "PySparkShell", "SparkR", "Databricks Shell", "Zeppelin"];

/// Beginnings of such names.
const BEGINNINGS: [&str; 2] = ["Spark Connect", "livy-session-"];

/// Settings that only shells, notebooks and their gateways set.
const OF_SHELLS: [&str; 4] = [
    "spark.repl.class.uri",
    "spark.repl.class.outputDir",
    "spark.livy.spark_major_version",
    "zeppelin.spark.useHiveContext",
];

impl Waits {
    /// `None` if the driver has a program to run.
    pub(crate) fn of(app: &Application, spark: &Spark) -> Option<Self> {
        let batches = spark.jobs.iter().filter(|job| job.of_stream).count();
        if batches > 1 && 2 * batches > spark.jobs.len() {
            return Some(Self::Batches);
        }
        let is_named =
            |name: &str| SERVERS.contains(&name) || BEGINNINGS.iter().any(|start| name.starts_with(start));
        // Databricks gives all applications the same name, also those of jobs without a user at work.
        let serves = app.name.as_deref().is_some_and(is_named) && !is_databricks_job(app)
            || OF_SHELLS.iter().any(|setting| app.conf.raw(setting).is_some());
        serves.then_some(Self::Users)
    }

    /// To follow the time in which no job ran.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Batches => "the stream waited for its next batch",
            Self::Users => "the application waited for its users",
        }
    }

    /// What to do about cores that are idle meanwhile.
    pub(crate) const fn advice(self) -> &'static str {
        match self {
            Self::Batches => {
                "a stream waits between its batches by design; if batches may take longer, run it with fewer or smaller \
                 executors, as long as each batch ends before the next one is due"
            }
            Self::Users => {
                "a server, shell or notebook waits for its users by design: stop it when it is not in use"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::Job;

    #[test]
    fn servers_and_shells_are_known_by_name_or_settings() {
        let waits = |name: &str, settings: &[(&str, &str)]| {
            let mut app = elephant_sample::app(settings);
            app.name = Some(name.to_owned());
            let spark = elephant_sample::spark(&mut app).clone();
            Waits::of(&app, &spark)
        };
        for name in ["nightly", "SparkReports", "SparkSQL::10.0.0.1"] {
            assert_eq!(waits(name, &[]), None, "{name}");
        }
        assert_eq!(waits("livy-session-12", &[]), Some(Waits::Users));
        assert_eq!(waits("Thrift JDBC/ODBC Server", &[]), Some(Waits::Users));
        assert_eq!(waits("PySparkShell", &[]), Some(Waits::Users));
        assert_eq!(waits("Databricks Shell", &[]), Some(Waits::Users));
        assert_eq!(waits("Databricks Shell", &[("spark.databricks.clusterSource", "JOB")]), None);
        assert_eq!(waits("my notebook", &[("spark.repl.class.uri", "x")]), Some(Waits::Users));
    }

    #[test]
    fn most_jobs_of_a_stream_belong_to_batches() {
        let waits = |batches: u32, others: u32| {
            let mut app = elephant_sample::app(&[]);
            for id in 0..batches + others {
                let mut job = Job::new(id);
                job.of_stream = id < batches;
                elephant_sample::spark(&mut app).jobs.push(job);
            }
            let spark = elephant_sample::spark(&mut app).clone();
            Waits::of(&app, &spark)
        };
        assert_eq!(waits(5, 2), Some(Waits::Batches));
        assert_eq!(waits(2, 5), None);
        assert_eq!(waits(1, 0), None);
    }
}
