//! How queries commit the files that they wrote, as far as settings and paths tell, and what commits them faster.

use elephant_model::model::Application;
use elephant_model::model::spark::SqlExecution;
use elephant_query::OperatorKind;
use elephant_rule::finding::{Advice, SettingChange};

/// The settings that name a committer, the most specific first.
const COMMITTERS: [&str; 3] = [
    "spark.hadoop.fs.s3a.committer.name",
    "spark.sql.parquet.output.committer.class",
    "spark.sql.sources.commitProtocolClass",
];
/// The algorithm of Hadoop's `FileOutputCommitter`, as Spark's setting and as Hadoop's.
const VERSION: &str = "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version";
const HADOOP_VERSION: &str = "mapreduce.fileoutputcommitter.algorithm.version";
/// What Spark uses unless another protocol is chosen: it runs Hadoop's committer.
const OF_HADOOP: &str = "SQLHadoopMapReduceCommitProtocol";

/// Where files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Store {
    /// Amazon S3: a rename copies the file.
    S3,
    /// Another object store.
    Objects,
    /// A file system, in which a rename is one call.
    Files,
}

/// How an application commits files.
#[derive(Debug)]
pub(super) struct Commit {
    /// Another committer than Hadoop's `FileOutputCommitter`.
    committer: Option<String>,
    /// The algorithm of `FileOutputCommitter`.
    version: Option<SettingChange>,
    store: Option<Store>,
}

impl Commit {
    /// As the settings and the path to which a query writes tell.
    pub(super) fn of(app: &Application, query: Option<&SqlExecution>) -> Self {
        let conf = |name: &&str| app.conf.raw(name).filter(|value| !value.is_empty());
        let committer = COMMITTERS.iter().find_map(conf).filter(|name| !name.ends_with(OF_HADOOP));
        let committer = committer.map(|name| name.rsplit('.').next().unwrap_or(&name).to_owned());
        let version = [VERSION, HADOOP_VERSION].iter().find_map(conf);
        let version = version.map(|from| SettingChange {
            setting: VERSION.to_owned(),
            from: Some(from),
            to: "2".to_owned(),
        });
        Self { committer, version, store: query.and_then(store_of) }
    }

    /// "with the committer magic", "with version 1 of `FileOutputCommitter`"; `None` if no setting tells.
    pub(super) fn words(&self) -> Option<String> {
        let of_hadoop = || {
            let version = self.version.as_ref()?.from.as_deref()?;
            Some(format!("with version {version} of FileOutputCommitter"))
        };
        self.committer.as_ref().map(|name| format!("with the committer {name}")).or_else(of_hadoop)
    }

    /// What commits faster, given what is in force.
    pub(super) fn advice(&self) -> Vec<Advice> {
        let fewer = "write fewer files and partitions: a commit moves or lists each of them";
        let faster = match (&self.committer, self.store) {
            (Some(_), _) => None,
            (None, Some(Store::S3)) => Some(Advice::new(
                "commit without renaming, which copies files on S3: the S3A committer magic \
                 (spark.hadoop.fs.s3a.committer.name=magic with the classes of spark-hadoop-cloud), that of EMR, or a \
                 table format",
            )),
            (None, Some(Store::Objects)) => Some(Advice::new(
                "commit with the manifest committer of Hadoop 3.3.5 or later, or write a table format: a rename is slow on an \
                 object store",
            )),
            (None, Some(Store::Files) | None) => self.second_version(),
        };
        [Some(Advice::new(fewer)), faster].into_iter().flatten().collect()
    }

    /// Version 2 moves files when their tasks end, in parallel.
    fn second_version(&self) -> Option<Advice> {
        let change = self.version.clone().unwrap_or_else(|| SettingChange {
            setting: VERSION.to_owned(),
            from: None,
            to: "2".to_owned(),
        });
        let is_in_force = change.from.as_deref() == Some(&change.to);
        let text = "if a write that fails may leave some of its files, let tasks move them";
        (!is_in_force).then(|| Advice::new(text).set([change]).conditional())
    }
}

/// Whether a query writes data, or runs another command.
pub(super) fn writes(query: &SqlExecution) -> bool {
    targets(query).next().is_some()
}

/// The texts of the operators of a query that write.
fn targets(query: &SqlExecution) -> impl Iterator<Item = &str> {
    let writing = query.plan.operators.iter().filter(|operator| operator.kind == OperatorKind::Write);
    writing.map(|operator| query.plan.text(operator.text))
}

/// Where a query writes, by the scheme of its path.
fn store_of(query: &SqlExecution) -> Option<Store> {
    targets(query).find_map(|text| {
        let mut words = text.split(|c: char| c.is_whitespace() || "[(,=".contains(c));
        words.find_map(|word| store(word.split_once(":/")?.0))
    })
}

fn store(scheme: &str) -> Option<Store> {
    match scheme {
        "s3" | "s3a" | "s3n" => Some(Store::S3),
        "gs" | "abfs" | "abfss" | "wasb" | "wasbs" | "oss" | "cos" | "cosn" => Some(Store::Objects),
        "hdfs" | "file" | "viewfs" | "maprfs" => Some(Store::Files),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::{Operator, PlanText};

    fn told(settings: &[(&str, &str)], scheme: &str) -> (Option<String>, Vec<String>) {
        let mut commit = Commit::of(&elephant_sample::app(settings), None);
        commit.store = store(scheme);
        (commit.words(), commit.advice().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_advice_fits_what_is_in_force() {
        let (words, advice) = told(&[(HADOOP_VERSION, "1")], "hdfs");
        assert_eq!(words.as_deref(), Some("with version 1 of FileOutputCommitter"));
        assert!(advice[1].ends_with(&format!("--conf {VERSION}=2 (now 1)")), "{advice:?}");
        let (words, advice) = told(&[(VERSION, "2")], "hdfs");
        assert_eq!(words.as_deref(), Some("with version 2 of FileOutputCommitter"));
        assert_eq!(advice.len(), 1, "it is in force: {advice:?}");
        let (words, advice) = told(&[("spark.hadoop.fs.s3a.committer.name", "magic"), (VERSION, "1")], "s3a");
        assert_eq!((words.as_deref(), advice.len()), (Some("with the committer magic"), 1));
        let (words, advice) = told(&[], "s3a");
        assert_eq!(words, None);
        assert!(
            advice[1].contains("magic") && !advice[1].contains(VERSION),
            "version 2 renames, too: {advice:?}"
        );
        let protocol = "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol";
        let (words, advice) = told(&[("spark.sql.sources.commitProtocolClass", protocol)], "abfss");
        assert_eq!(words, None, "it runs FileOutputCommitter");
        assert!(advice[1].contains("manifest"), "{advice:?}");
    }

    fn written(app: &mut Application, text: &str) -> SqlExecution {
        let name = app.strings.intern("Execute InsertIntoHadoopFsRelationCommand").unwrap();
        let mut query = SqlExecution::new(1);
        query.plan.texts = text.to_owned();
        let text = PlanText { start: 0, end: u32::try_from(text.len()).unwrap() };
        query.plan.operators.push(Operator { name, kind: OperatorKind::Write, parent: None, text });
        query
    }

    #[test]
    fn the_store_is_read_from_the_path() {
        let mut app = elephant_sample::app(&[]);
        for (text, expected) in [
            ("Execute InsertIntoHadoopFsRelationCommand s3a://lake/out, false, Parquet", Some(Store::S3)),
            ("InsertInto file:/out, [path=file:/out]", Some(Store::Files)),
            ("Execute SaveIntoDataSourceCommand", None),
        ] {
            let query = written(&mut app, text);
            assert!(writes(&query));
            assert_eq!(store_of(&query), expected, "{text}");
        }
    }
}
