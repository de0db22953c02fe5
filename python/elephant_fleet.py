#!/usr/bin/env python3
"""Runs elephant-rs on the executors of a Spark cluster, over any number of histories, and writes Parquet.

    spark-submit --files elephant-rs elephant_fleet.py --binary elephant-rs --out hdfs:///fleet \
        hdfs:///spark-events hdfs:///mr-history/done

The driver lists the files, groups what is read together (the parts of an event log, a job history with its configuration)
and packs these units into batches of about the same size. Each batch is one task: it fetches its files, unless they are on
a file system that all machines mount, and runs the program on them once. A batch whose process dies is halved until the
unit that kills it is alone, which is then reported as a problem. A file that cannot be fetched is a problem, too. So every
history is reported once, and a lost executor only repeats its batches.

The output folder gets `applications`, `findings` and `problems`, each partitioned by the day of the run and by the run's
id. They are written to a staging folder and renamed, so a reader sees all of a run or nothing, and a run with the same
`--run-id` replaces the one before, whatever its day.

Needs Python 3.7 or newer and Spark 2.4 or newer, and nothing else on the executors.
"""

import argparse
import collections
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

File = collections.namedtuple("File", "path size")
Unit = collections.namedtuple("Unit", "key files size")

# A small file costs about as much as this many bytes of a large one.
COST_OF_UNIT = 50000
JOB = re.compile(r"job_[0-9]+_[0-9]+")
# The layouts of event logs of several files, as elephant-rs knows them by name.
PART = re.compile(r"(?:events_[0-9]+_|appstatus_)|EVENT_LOG_|SPARK_VERSION_|APPLICATION_COMPLETE|COMPRESSION_CODEC_|eventlog")
# What comes after the end of a process that was killed, or that hung.
STUCK_AFTER_SECONDS = 3600
# Lines that could not be one application: a guard against a program that is not elephant-rs.
TAIL_OF_ERRORS = 2000
# How often a file is fetched if that fails, and the seconds before each further attempt.
PAUSES_OF_FETCH = (1, 5)


def unit_of(path):
    """What a file is read together with."""
    folder, _, name = path.rpartition("/")
    if PART.match(name):
        return ("log", folder)
    job = JOB.search(urllib.parse.unquote(name))
    return ("job", job.group()) if job else ("file", path)


def units_of(files):
    """Files grouped by what is read together, in a fixed order."""
    groups = collections.defaultdict(list)
    for file in files:
        groups[unit_of(file.path)].append(file)
    return [Unit(key, sorted(members), sum(file.size for file in members)) for key, members in sorted(groups.items())]


def batches_of(units, batch_bytes):
    """Units packed into batches of about `batch_bytes`: the largest first, each into the batch that has least."""
    cost = sum(unit.size + COST_OF_UNIT for unit in units)
    count = max(1, min(len(units), -(-cost // batch_bytes)))
    batches = [[0, place, []] for place in range(count)]
    for unit in sorted(units, key=lambda unit: (-unit.size, unit.key)):
        least = min(batches)
        least[0] += unit.size + COST_OF_UNIT
        least[2].append(unit)
    return [members for _, _, members in batches if members]


class Dead(Exception):
    """The program did not finish its report."""


def report_of(command, paths, seconds):
    """Runs the program on files, and returns the lines of its report."""
    names = "".join(path + "\0" for path in paths).encode("utf-8", "surrogateescape")
    arguments = ["analyze", "--format", "ndjson", "--envelope", "--files-from", "-", "--allow-empty", "--quiet", "--jobs", "1"]
    try:
        done = subprocess.run(
            command + arguments, input=names, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise Dead("it ran longer than %d seconds" % seconds)
    except OSError as error:
        raise SystemExit("cannot run %s: %s" % (command[0], error))
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    # The last line says that the report is whole. Status 2 is a report on input that could not be read.
    if done.returncode not in (0, 1, 2) or not lines or json.loads(lines[-1]).get("type") != "end":
        errors = done.stderr.decode("utf-8", "replace")[-TAIL_OF_ERRORS:].strip()
        raise Dead("it ended with status %d: %s" % (done.returncode, errors))
    return [json.loads(line) for line in lines]


def records_of(command, units, local, seconds):
    """The applications and problems of a batch. `local` maps a file to its path on this machine."""
    paths = [local(file) for unit in units for file in unit.files]
    try:
        lines = report_of(command, paths, seconds)
    except Dead as dead:
        if len(units) == 1:
            yield problem(units[0].files[0].path, "program-died", str(dead))
            return
        middle = len(units) // 2
        for half in (units[:middle], units[middle:]):
            for record in records_of(command, half, local, seconds):
                yield record
        return
    for line in lines:
        # Each file is named, but most of the others in a folder are no histories, and that is no problem.
        if line["type"] == "application" or (line["type"] == "problem" and line.get("code") != "no-history"):
            yield line


def run_batch(batch, options):
    """The records of a batch, as text. Runs on an executor."""
    command = [program(options["binary"])] + options["prefix"]
    folder = tempfile.mkdtemp(prefix="elephant-")
    try:
        copies = Copies(folder, options["fetch"], options["seconds"])
        units = []
        for unit in batch:
            there = []
            for file in unit.files:
                try:
                    copies.add(file)
                    there.append(file)
                except Missing as missing:
                    yield json.dumps(problem(file.path, "unreadable", str(missing)), sort_keys=True)
            if there:
                units.append(unit._replace(files=there))
        for record in records_of(command, units, copies.paths.get, options["seconds"]) if units else ():
            yield json.dumps(copies.renamed(record), sort_keys=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def problem(source, code, message):
    return {"type": "problem", "source": source, "level": "error", "code": code, "message": message}


def program(binary):
    """The program as Spark distributed it (`--files`), or where it is installed on every machine."""
    try:
        from pyspark import SparkFiles

        distributed = SparkFiles.get(os.path.basename(binary))
    except Exception:
        distributed = ""
    if not os.path.exists(distributed):
        return binary
    if not os.access(distributed, os.X_OK):
        os.chmod(distributed, 0o755)
    return distributed


class Missing(Exception):
    """A file could not be fetched."""


def escaped(command, path):
    """A path for a command: Hadoop's shell takes a name with brackets for a pattern."""
    if os.path.basename(command[0]) not in ("hadoop", "hdfs"):
        return path
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


def mounted_path(path):
    """The path on each machine of a file of a mounted file system, which the program reads in place."""
    scheme, _, rest = path.partition(":")
    if not rest:
        return path
    return "/" + rest.lstrip("/") if scheme == "file" else None


class Copies:
    """Copies of files of other file systems on this machine, which keep their names. Files of a mounted one stay."""

    def __init__(self, folder, command, seconds):
        self.folder, self.command, self.seconds = folder, command, seconds
        # Hadoop's shell takes the name of a copy for a URI, so it gets a plain one.
        self.fetched = os.path.join(folder, "fetched")
        # The path of each file on this machine, and the folder for the files of each folder.
        self.paths, self.folders = {}, {}

    def add(self, file):
        mounted = mounted_path(file.path)
        if mounted is not None:
            self.paths[file] = mounted
            return
        # Files of one folder stay together, so that configurations and parts of logs are found.
        parent, _, name = file.path.rpartition("/")
        if parent not in self.folders:
            to = os.path.join(self.folder, str(len(self.folders)), os.path.basename(parent))
            os.makedirs(to)
            self.folders[parent] = to
        to = os.path.join(self.folders[parent], name)
        for pause in PAUSES_OF_FETCH + (None,):
            failure = self.fetch(file.path)
            if failure is None:
                os.rename(self.fetched, to)
                self.paths[file] = to
                return
            if os.path.exists(self.fetched):
                os.remove(self.fetched)
            if pause is not None:
                time.sleep(pause)
        raise Missing(
            "cannot fetch %s: %s, %d attempts; a log that ended meanwhile has another name, and the next run reads it; "
            "otherwise check the permissions of the file, and --fetch" % (file.path, failure, len(PAUSES_OF_FETCH) + 1)
        )

    def fetch(self, path):
        """Copies a file, and returns why that failed."""
        to = self.fetched
        command = [part.format(path=escaped(self.command, path), to=to) for part in self.command]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=self.seconds)
        except subprocess.TimeoutExpired:
            return "%s ran longer than %d seconds" % (command[0], self.seconds)
        except OSError as error:
            raise SystemExit("cannot run %s: %s; check --fetch" % (command[0], error))
        if done.returncode == 0 and os.path.exists(to):
            return None
        errors = done.stderr.decode("utf-8", "replace")[-TAIL_OF_ERRORS:].strip().replace(to, path)
        return "%s ended with status %d (%s)" % (command[0], done.returncode, errors or "without a message")

    def renamed(self, value):
        """A record in which each file is called what it is called in its own file system, also in messages."""
        if isinstance(value, str):
            # Most texts name no file.
            if self.folder in value:
                for parent, to in self.folders.items():
                    value = value.replace(to + "/", parent + "/")
            return value
        if isinstance(value, list):
            return [self.renamed(item) for item in value]
        if isinstance(value, dict):
            return {key: self.renamed(item) for key, item in value.items()}
        return value


def list_files(spark, paths):
    """All files below paths of any file system that Hadoop knows, what was named, as problems name it, and a problem for
    each path that cannot be listed."""
    jvm, conf = spark._jvm, spark._jsc.hadoopConfiguration()
    files, named, problems = [], set(), []
    for text in paths:
        try:
            path = jvm.org.apache.hadoop.fs.Path(text)
            system = path.getFileSystem(conf)
            if not system.exists(path):
                named.add(text)
                problems.append(problem(text, "not-found", "there is no %s; check the spelling" % text))
                continue
            if system.isFile(path):
                path_of_file = system.makeQualified(path).toString()
                named.add(mounted_path(path_of_file) or path_of_file)
            found = system.listFiles(path, True)
            while found.hasNext():
                status = found.next()
                files.append(File(status.getPath().toString(), status.getLen()))
        except Exception as error:  # whatever Java throws
            named.add(text)
            message = "cannot list %s: %s; check the address and the permissions" % (text, said(error))
            problems.append(problem(text, "unreadable", message))
    return sorted(set(files)), named, problems


def said(error):
    """The message of an error, without the trace of an exception of Java."""
    java = getattr(error, "java_exception", None)
    text = str(error if java is None else java.toString())
    return (text.splitlines() or [type(error).__name__])[0]


APPLICATION = "id string, attempt string, source string, engine string, name string, user string, queue string, \
status string, complete boolean, severity string, score long, submitted_at string, finished_at string, runtime_ms long, \
resource_used_gb_hours double, resource_wasted_gb_hours double, saves_gb_hours double, record string"
FINDING = "id string, attempt string, source string, rule string, subject string, severity string, score long, message string"
PROBLEM = "source string, level string, code string, message string"


def application_row(record):
    metrics = record.get("metrics") or {}
    joint = ((record.get("savings") or {}).get("joint") or {}).get("gb_hours") or {}
    number = lambda value: None if value is None else float(value)
    whole = lambda value: None if value is None else int(value)
    return (
        record["id"], record.get("attempt"), (record.get("sources") or [None])[0], record["engine"], record.get("name"),
        record.get("user"), record.get("queue"), record.get("status"), record.get("complete"), record.get("severity"),
        whole(record.get("score")), record.get("submitted_at"), record.get("finished_at"), whole(metrics.get("runtime_ms")),
        number(metrics.get("resource_used_gb_hours")), number(metrics.get("resource_wasted_gb_hours")),
        number(joint.get("point")), json.dumps(record, sort_keys=True),
    )


def finding_rows(record):
    source = (record.get("sources") or [None])[0]
    for finding in record.get("findings") or []:
        yield (
            record["id"], record.get("attempt"), source, finding["rule"], finding.get("subject"), finding["severity"],
            finding.get("score"), finding.get("message"),
        )


def problem_row(record):
    return (record.get("source"), record.get("level"), record.get("code"), record.get("message"))


def write(spark, options):
    """Lists, runs and writes. Returns the number of applications and of problems, and whether a named file failed."""
    files, named, unlisted = list_files(spark, options.paths)
    batches = batches_of(units_of(files), options.batch_mb * 1000000)
    settings = {
        "binary": options.binary,
        "prefix": [],
        "fetch": options.fetch.split(),
        "seconds": options.timeout,
    }
    print("%d files, %d batches" % (len(files), len(batches)), file=sys.stderr)
    context = spark.sparkContext
    lines = context.parallelize(batches, max(1, len(batches))).flatMap(lambda batch: run_batch(batch, settings))
    if unlisted:
        lines = lines.union(context.parallelize([json.dumps(line, sort_keys=True) for line in unlisted], 1))
    staging = "%s/.staging-%s" % (options.out.rstrip("/"), options.run_id)
    codec = {"compression": options.compression}
    # The program runs once for each batch: what it printed is stored before it is split.
    spark.createDataFrame(lines.map(lambda line: (line,)), "line string").write.mode("overwrite").options(**codec).parquet(
        staging + "/lines"
    )
    records = spark.read.parquet(staging + "/lines").rdd.map(lambda row: json.loads(row.line))
    told = records.filter(lambda record: record["type"] == "problem")
    runs = records.filter(lambda record: record["type"] == "application").map(lambda record: (run_of(record), record))
    chosen = runs.groupByKey().flatMap(lambda run: counted(run[1])).cache()
    applications = chosen.filter(lambda record: record["type"] == "application")
    problems = told.union(chosen.filter(lambda record: record["type"] == "problem"))
    tables = {
        "applications": (applications.map(application_row), APPLICATION),
        "findings": (applications.flatMap(finding_rows), FINDING),
        "problems": (problems.map(problem_row), PROBLEM),
    }
    for name, (rows, schema) in tables.items():
        frame = spark.createDataFrame(rows, schema)
        frame.coalesce(options.files).write.mode("overwrite").options(**codec).parquet("%s/%s" % (staging, name))
    failed = problems.filter(lambda record: record["level"] == "error" and is_named(record["source"] or "", named))
    counts = applications.count(), problems.count(), not failed.isEmpty()
    for name in tables:
        table = "%s/%s" % (options.out.rstrip("/"), name)
        day = "day=%s" % options.day
        rename(spark, "%s/%s" % (staging, name), "%s/%s/run=%s" % (table, day, options.run_id))
        for other in days_of(spark, table):
            if other != day:
                delete(spark, "%s/%s/run=%s" % (table, other, options.run_id))
    delete(spark, staging)
    return counts


def is_named(source, named):
    """Whether a file, or the archive of a member, was named."""
    return source in named or source.split("!")[0] in named


def run_of(record):
    """What all records of one application have in common. Two clusters may have the same ids."""
    return tuple(record.get(key) for key in ("engine", "id", "attempt"))


def facts_of(record):
    """What tells runs with one id apart, as far as the history has it: one that ends early lacks the start."""
    return (record.get("submitted_at") or record.get("started_at"), record.get("name"), record.get("user"))


def extent_of(record):
    """How complete a history is."""
    tasks = ((record.get("metrics") or {}).get("tasks") or {}).values()
    sums = [sum((kind or {}).get(key) or 0 for kind in tasks) for key in ("total_count", "attempts_count")]
    return [bool(record.get("complete")), record.get("finished_at") is not None] + sums


def counted(copies):
    """The applications that count of those with one id, and a problem for each of the others. As elephant-rs chooses:
    complete histories with the same content are copies of the first by path, an incomplete one is a copy of the most
    complete one of its run, and one without a start, name or user is a copy of one that has them and tells as much."""
    # The most files first: a history with its configuration tells more.
    copies = sorted(copies, key=lambda record: (-len(record["sources"]), record["sources"]))
    content = lambda record: json.dumps([facts_of(record), record.get("finished_at"), extent_of(record)])
    best, whole = {}, {}
    for record in copies:
        facts = facts_of(record)
        if facts not in best or extent_of(record) > extent_of(best[facts]):
            best[facts] = record
        if record.get("complete"):
            whole.setdefault(content(record), record)
    chosen = [whole[content(record)] if record.get("complete") else best[facts_of(record)] for record in copies]
    kept = [record for record, other in zip(copies, chosen) if other is record]
    unknown = lambda record: sum(fact is None for fact in facts_of(record))
    joined = {}
    for record in sorted((one for one in kept if not one.get("complete") and unknown(one)), key=unknown):
        agrees = lambda other: all(own in (None, fact) for own, fact in zip(facts_of(record), facts_of(other)))
        others = [one for one in kept if unknown(one) < unknown(record) and agrees(one) and extent_of(one) >= extent_of(record)]
        if others:
            other = max(others, key=extent_of)
            joined[id(record)] = joined.get(id(other), other)
    for record, other in zip(copies, chosen):
        other = joined.get(id(other), other)
        if other is record:
            yield record
            continue
        message = "%s is also in %s; it is counted once" % (record["id"], other["sources"][0])
        yield {
            "type": "problem", "source": record["sources"][0], "level": "info", "code": "duplicate", "message": message
        }


def file_system(spark, text):
    path = spark._jvm.org.apache.hadoop.fs.Path(text)
    return path.getFileSystem(spark._jsc.hadoopConfiguration()), path


def delete(spark, text):
    system, path = file_system(spark, text)
    system.delete(path, True)


def days_of(spark, table):
    """The names of the partitions of a table."""
    system, path = file_system(spark, table)
    names = [status.getPath().getName() for status in system.listStatus(path)]
    return [name for name in names if name.startswith("day=")]


def rename(spark, source, target):
    delete(spark, target)
    system, path = file_system(spark, target)
    system.mkdirs(path.getParent())
    if not system.rename(spark._jvm.org.apache.hadoop.fs.Path(source), path):
        raise SystemExit("cannot rename %s to %s" % (source, target))


def arguments(given=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+", metavar="PATH", help="folders and files, of any file system that Hadoop knows")
    parser.add_argument("--binary", required=True, help="elephant-rs: a file given to --files, or its path on all machines")
    parser.add_argument("--out", required=True, help="folder for the Parquet files")
    parser.add_argument("--run-id", help="id of this run; a run with the same id is replaced [the id of Spark's application]")
    parser.add_argument("--day", default=datetime.datetime.utcnow().strftime("%Y-%m-%d"), help="partition [today, UTC]")
    parser.add_argument("--batch-mb", type=int, default=256, help="megabytes of histories for each task [256]")
    parser.add_argument("--files", type=int, default=1, help="Parquet files for each table and run [1]")
    parser.add_argument("--compression", default="zstd", help="codec of the Parquet files [zstd]")
    parser.add_argument("--timeout", type=int, default=STUCK_AFTER_SECONDS, help="seconds for each run of the program [3600]")
    parser.add_argument(
        "--fetch", default="hadoop fs -get {path} {to}", help="command that copies a file of another file system"
    )
    parser.add_argument("--allow-empty", action="store_true", help="do not fail if no application was read")
    options = parser.parse_args(given)
    if options.batch_mb < 1 or options.files < 1:
        parser.error("--batch-mb and --files must be at least 1")
    return options


def main():
    options = arguments()
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("elephant-rs").getOrCreate()
    # If YARN starts the driver again, the id stays the same, and the second attempt replaces the first.
    options.run_id = options.run_id or spark.sparkContext.applicationId
    applications, problems, failed = write(spark, options)
    print("%d applications, %d problems, run %s" % (applications, problems, options.run_id))
    spark.stop()
    # As the program itself does.
    if failed:
        raise Failed("some input could not be read; the table problems says why")
    if applications == 0 and not options.allow_empty:
        raise Failed("no application was read; --allow-empty accepts that")


class Failed(Exception):
    """What was found is written, and input is missing."""


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        print("error: %s" % failed, file=sys.stderr)
        sys.exit(2)
