"""Tests of elephant_fleet.py: `python3 -m unittest` in this folder.

Those that need Spark run if pyspark is installed and ELEPHANT_RS names the program; `.ci/fleet` sets both up. They start a
standalone master and two workers on this machine.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

import elephant_fleet as fleet

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.environ.get("ELEPHANT_RS")
# A program that dies if a file is called so, and else reports an application for each file.
FAKE = """
import json, sys
paths = sys.stdin.read().split("\\0")[:-1]
print(json.dumps({"type": "run"}))
for path in paths:
    if "deadly" in path:
        sys.stderr.write("killed by " + path)
        sys.exit(134)
    print(json.dumps({"type": "application", "id": path, "sources": [path + "!member" if ".zip" in path else path]}))
    if "twin" in path:
        print(json.dumps({"type": "problem", "source": path, "code": "duplicate", "message": "is also in %s2, too" % path}))
if not any("cut" in path for path in paths):
    print(json.dumps({"type": "end"}))
"""


def files(*names):
    return [fleet.File(name, len(name)) for name in names]


class Units(unittest.TestCase):
    def test_what_is_read_together_is_one_unit(self):
        units = fleet.units_of(
            files(
                "f:/d/job_1_0001-2-bob.jhist", "f:/conf/job_1_0001_conf.xml", "f:/d/job_1_0002.jhist",
                "f:/e/eventlog_v2_app-1/events_1_app-1", "f:/e/eventlog_v2_app-1/appstatus_app-1", "f:/e/app-2",
                "f:/h/host_1_job%5F1%5F0003_bob",
            )
        )
        names = sorted(tuple(os.path.basename(file.path) for file in unit.files) for unit in units)
        self.assertEqual(
            names,
            [
                ("app-2",), ("appstatus_app-1", "events_1_app-1"), ("host_1_job%5F1%5F0003_bob",),
                ("job_1_0001_conf.xml", "job_1_0001-2-bob.jhist"), ("job_1_0002.jhist",),
            ],
        )

    def test_batches_have_about_the_same_size_and_all_units(self):
        units = [fleet.Unit(("file", str(place)), files(str(place)), size) for place, size in enumerate(range(0, 10**6, 10**4))]
        batches = fleet.batches_of(units, 10**7)
        sizes = [sum(unit.size + fleet.COST_OF_UNIT for unit in batch) for batch in batches]
        self.assertEqual(len(batches), 6)
        self.assertLess(max(sizes) - min(sizes), 10**6 + fleet.COST_OF_UNIT)
        self.assertEqual(sorted(unit.key for batch in batches for unit in batch), sorted(unit.key for unit in units))
        self.assertEqual(fleet.batches_of([], 10), [])


class Bisection(unittest.TestCase):
    def records(self, *names):
        command = [sys.executable, "-c", FAKE]
        units = fleet.units_of(files(*names))
        found = list(fleet.records_of(command, units, lambda file: file.path, 60))
        applications = sorted(record["id"] for record in found if record["type"] == "application")
        problems = {record["source"]: record for record in found if record["type"] == "problem"}
        return applications, problems

    def test_each_file_is_reported_once_whatever_dies(self):
        names = ["f%02d" % place for place in range(20)]
        self.assertEqual(self.records(*names), (names, {}))
        applications, problems = self.records("deadly-1", "also-cut", "deadly-2", *names)
        self.assertEqual(applications, names)
        self.assertEqual(sorted(problems), ["also-cut", "deadly-1", "deadly-2"])
        self.assertIn("status 134: killed by deadly-1", problems["deadly-1"]["message"])
        self.assertEqual(problems["also-cut"]["code"], "program-died")

    def test_copies_count_once(self):
        def record(source, complete=True, finished="t"):
            return {"id": "a", "sources": [source], "complete": complete, "finished_at": finished, "type": "application"}

        chosen = list(fleet.counted([record("c"), record("b"), record("a", complete=False), record("d", finished="u")]))
        self.assertEqual([app["sources"][0] for app in chosen if app["type"] == "application"], ["b", "d"])
        self.assertEqual(sorted(told["source"] for told in chosen if told["type"] == "problem"), ["a", "c"])

    def test_the_most_complete_copy_counts(self):
        def record(source, tasks, attempts, **more):
            metrics = {"tasks": {"task": {"total_count": tasks, "attempts_count": attempts}}}
            record = {"id": "a", "sources": [source], "complete": False, "metrics": metrics, "type": "application"}
            return dict(record, **{"submitted_at": "t", "name": "etl", **more})

        def sources(*records):
            for given in (records, records[::-1]):
                chosen = [app["sources"][0] for app in fleet.counted(given) if app["type"] == "application"]
                yield sorted(chosen)

        for chosen in sources(record("a", 4, 4), record("b", 6, 6), record("c", 6, 5)):
            self.assertEqual(chosen, ["b"])
        # A log that ends before the start of its application tells less, and another start is another run.
        for chosen in sources(record("a", 0, 0, submitted_at=None, name=None), record("b", 6, 6, submitted_at="u")):
            self.assertEqual(chosen, ["b"])
        for chosen in sources(record("a", 6, 6), record("b", 6, 6, submitted_at="u"), record("c", 9, 9, submitted_at=None)):
            self.assertEqual(chosen, ["a", "b", "c"])


# Copies a file of the file system `there:`. It fails for ever if the file is missing, and once if it is shy.
FETCH = """
import os, shutil, sys
path = sys.argv[1].partition(":")[2]
if not os.path.exists(path):
    sys.stderr.write("get: no such file: " + sys.argv[1] + " to " + sys.argv[2])
    sys.exit(1)
if "shy" in path and not os.path.exists(path + ".asked"):
    open(path + ".asked", "w").close()
    open(sys.argv[2], "w").close()
    sys.exit(1)
shutil.copy(path, sys.argv[2])
"""


class Fetching(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="elephant-test-")
        self.pauses, fleet.PAUSES_OF_FETCH = fleet.PAUSES_OF_FETCH, (0, 0)

    def tearDown(self):
        fleet.PAUSES_OF_FETCH = self.pauses
        shutil.rmtree(self.folder, ignore_errors=True)

    def records(self, names, missing=(), fetch=(sys.executable, "-c", FETCH, "{path}", "{to}")):
        for name in names:
            os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(name)
        units = fleet.units_of(files(*["there:%s/%s" % (self.folder, name) for name in list(names) + list(missing)]))
        options = {"binary": sys.executable, "prefix": ["-c", FAKE], "fetch": list(fetch), "seconds": 60}
        found = [json.loads(line) for line in fleet.run_batch(units, options)]
        strip = lambda text: text.replace("there:" + self.folder + "/", "")
        applications = sorted(strip(record["sources"][0]) for record in found if record["type"] == "application")
        problems = {strip(record["source"]): record for record in found if record["type"] == "problem"}
        return applications, problems

    def test_a_file_that_cannot_be_fetched_is_a_problem(self):
        names = ["a/app-1", "a/shy", "b/job_1_0001.jhist", "c/events_1_x", "c/events_3_x"]
        applications, problems = self.records(names, ["a/app-2.inprogress", "b/job_1_0001_conf.xml", "c/events_2_x"])
        self.assertEqual(applications, names)
        self.assertEqual(sorted(problems), ["a/app-2.inprogress", "b/job_1_0001_conf.xml", "c/events_2_x"])
        told = problems["a/app-2.inprogress"]
        self.assertEqual((told["level"], told["code"]), ("error", "unreadable"))
        source = "there:%s/a/app-2.inprogress" % self.folder
        self.assertIn("cannot fetch %s: %s ended with status 1" % (source, sys.executable), told["message"])
        self.assertIn("(get: no such file: %s to %s), 3 attempts;" % (source, source), told["message"])
        self.assertEqual(self.records([], ["a/app-3"])[0], [])
        with self.assertRaises(SystemExit) as stopped:
            self.records(["a/x"], fetch=["/no/such/program", "{path}", "{to}"])
        self.assertIn("cannot run /no/such/program", str(stopped.exception))

    def test_messages_name_files_where_they_are(self):
        applications, problems = self.records(["a/twin", "b/twin-zip.zip"])
        self.assertEqual(applications, ["a/twin", "b/twin-zip.zip!member"])
        self.assertEqual(problems["a/twin"]["message"], "is also in there:%s/a/twin2, too" % self.folder)


    def test_hadoop_takes_names_literally(self):
        path = "hdfs://n/a/[br]{ace}*?\\"
        for command in ("hadoop fs -get", "/opt/hadoop/bin/hdfs dfs -get"):
            self.assertEqual(fleet.escaped(command.split(), path), "hdfs://n/a/\\[br\\]\\{ace\\}\\*\\?\\\\")
        self.assertEqual(fleet.escaped(["aws", "s3", "cp"], path), path)


class FakeJava:
    """The parts of Hadoop's file systems that list files. Those of `refused` throw."""

    def __init__(self, there, refused):
        self.there, self.refused = there, refused
        self._jvm = self.org = self.apache = self.hadoop = self.fs = self._jsc = self
        self.Path = lambda text: types.SimpleNamespace(toString=lambda: text, getFileSystem=lambda conf: self)

    def hadoopConfiguration(self):
        return None

    def exists(self, path):
        if path.toString() in self.refused:
            raise OSError("refused\n\tat org.apache.hadoop")
        return any(name == path.toString() or name.startswith(path.toString() + "/") for name in self.there)

    def isFile(self, path):
        return path.toString() in self.there

    def makeQualified(self, path):
        return path

    def listFiles(self, path, _):
        names = [name for name in self.there if name.startswith(path.toString())]
        status = lambda name: types.SimpleNamespace(getPath=lambda: self.Path(name), getLen=lambda: 1)
        return types.SimpleNamespace(hasNext=lambda: bool(names), next=lambda: status(names.pop()))


class Listing(unittest.TestCase):
    def test_a_path_that_cannot_be_listed_is_a_problem_and_all_others_are_read(self):
        java = FakeJava(["hdfs://n/a/1", "hdfs://n/b"], ["hdfs://n/c"])
        found, named, problems = fleet.list_files(java, ["hdfs://n/x", "hdfs://n/a", "hdfs://n/c", "hdfs://n/b"])
        self.assertEqual([file.path for file in found], ["hdfs://n/a/1", "hdfs://n/b"])
        self.assertEqual(named, {"hdfs://n/x", "hdfs://n/c", "hdfs://n/b"})
        self.assertEqual([line["code"] for line in problems], ["not-found", "unreadable"])
        self.assertIn("cannot list hdfs://n/c: refused;", problems[1]["message"])
        self.assertTrue(all(fleet.is_named(line["source"], named) for line in problems))


def has_spark():
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return False
    return BINARY is not None


@unittest.skipUnless(has_spark(), "needs pyspark, Java and ELEPHANT_RS")
class OnSpark(unittest.TestCase):
    """A master and two workers with one core each, on loopback."""

    @classmethod
    def setUpClass(cls):
        import pyspark

        cls.folder = tempfile.mkdtemp(prefix="elephant-fleet-")
        cls.home = os.path.dirname(pyspark.__file__)
        cls.servers = []
        environment = dict(
            os.environ, SPARK_HOME=cls.home, SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable,
            SPARK_WORKER_DIR=os.path.join(cls.folder, "work"),
        )
        cls.environment = environment

        def start(*words):
            with open(os.path.join(cls.folder, "servers.log"), "ab") as log:
                server = subprocess.Popen(
                    [os.path.join(cls.home, "bin", "spark-class")] + list(words), env=environment, stdout=log, stderr=log,
                    preexec_fn=os.setsid,
                )
            cls.servers.append(server)

        start("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "17077", "--webui-port", "18081")
        cls.workers = []
        for port in (18082, 18083):
            start(
                "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "-c", "1", "-m", "1g", "--webui-port",
                str(port), "spark://127.0.0.1:17077",
            )

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            try:
                os.killpg(server.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            server.wait()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def submit(self, paths, out, *more, disturb=None, binary=BINARY, day="2026-11-21", status=0):
        command = [
            os.path.join(self.home, "bin", "spark-submit"), "--master", "spark://127.0.0.1:17077", "--conf",
            "spark.ui.enabled=false", "--conf", "spark.executor.memory=512m", "--conf", "spark.driver.host=127.0.0.1",
            os.path.join(HERE, "elephant_fleet.py"), "--binary", binary, "--out", out, "--day", day, "--run-id", "r",
        ]
        job = subprocess.Popen(
            command + list(more) + paths, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        if disturb:
            disturb()
        output, errors = job.communicate(timeout=900)
        self.assertEqual(job.returncode, status, errors.decode()[-3000:])
        return output.decode()

    def read(self, out, table):
        """The rows of a table, read by a Spark of its own in another process."""
        code = (
            "import json, sys; from pyspark.sql import SparkSession; "
            "s = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate(); "
            "print('ROWS' + json.dumps([r.asDict() for r in s.read.parquet(sys.argv[1]).collect()], default=str))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, "file://%s/%s" % (out, table)], env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, check=True,
        )
        return json.loads(done.stdout.decode().split("ROWS")[1])

    def expected(self, paths):
        done = subprocess.run(
            [BINARY, "analyze", "--quiet", "--format", "json"] + paths, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        return json.loads(done.stdout.decode())["applications"]

    def assert_equal_to_local(self, out, paths):
        expected = self.expected(paths)
        rows = self.read(out, "applications")
        key = lambda record, source: (record["id"], source, record["severity"], record["score"])
        self.assertEqual(
            sorted(key(row, row["source"]) for row in rows), sorted(key(app, app["sources"][0]) for app in expected)
        )
        findings = sorted((row["id"], row["source"], row["rule"], row["message"]) for row in self.read(out, "findings"))
        self.assertEqual(
            findings,
            sorted((app["id"], app["sources"][0], told["rule"], told["message"]) for app in expected for told in app["findings"]),
        )
        return len(rows)

    def histories(self):
        given = os.environ.get("ELEPHANT_HISTORIES")
        return given.split(":") if given else [os.path.join(os.path.dirname(HERE), "testdata")]

    def test_the_cluster_finds_what_one_machine_finds(self):
        paths, out = self.histories(), os.path.join(self.folder, "plain")
        output = self.submit(["file://" + path for path in paths], "file://" + out, "--batch-mb", "4")
        count = self.assert_equal_to_local(out, paths)
        self.assertIn("%d applications" % count, output)
        self.assertFalse(any(name.startswith(".staging") for name in os.listdir(out)))
        # A run with the same id replaces the one before, also on another day.
        self.submit(["file://" + path for path in paths], "file://" + out, "--batch-mb", "400", day="2026-11-22")
        self.assertEqual(self.assert_equal_to_local(out, paths), count)

    def test_input_that_cannot_be_read_is_a_failure_after_all_else_is_written(self):
        broken, out = os.path.join(self.folder, "broken.gz"), os.path.join(self.folder, "failed")
        with open(broken, "wb") as file:
            file.write(b"\x1f\x8b\x08\0" + b"\xff" * 2000)
        paths = [os.path.join(os.path.dirname(HERE), "testdata", "hadoop1"), broken]
        self.submit(["file://" + path for path in paths], "file://" + out, status=2)
        self.assert_equal_to_local(out, paths)
        self.assertIn("file:" + broken, ["file:" + row["source"] for row in self.read(out, "problems")])

    def test_killed_executors_and_workers_lose_nothing(self):
        paths, out = self.histories(), os.path.join(self.folder, "killed")

        def kill():
            for _ in range(2):
                deadline = time.time() + 60
                while time.time() < deadline:
                    found = subprocess.run(
                        ["pgrep", "-f", "CoarseGrainedExecutorBackend"], stdout=subprocess.PIPE
                    ).stdout.split()
                    if found:
                        os.kill(int(found[0]), signal.SIGKILL)
                        break
                    time.sleep(0.2)
                time.sleep(2)

        self.submit(["file://" + path for path in paths], "file://" + out, "--batch-mb", "1", disturb=kill)
        self.assert_equal_to_local(out, paths)


if __name__ == "__main__":
    unittest.main()
