"""Measures elephant_fleet.py on one and two executors of a standalone cluster on this machine.

`ELEPHANT_RS=PROGRAM ELEPHANT_HISTORIES=FOLDER[:FOLDER…] python3 measure_fleet.py`, with pyspark installed (`.ci/fleet` installs
it). Prints histories a second while tasks run, what the start of Spark takes, and the share of the tasks' time in which the
program ran.
"""

import json
import os
import time

from test_elephant_fleet import BINARY, OnSpark

# Runs the program, and adds how long it took to a file.
TIMED = """#!/bin/sh
begin=$(date +%%s%%N)
%s "$@"
status=$?
echo $(($(date +%%s%%N) - begin)) >>%s
exit $status
"""


class Measured(OnSpark):
    def run_with(self, executors):
        """Seconds of the whole run, of its tasks together, of the time in which any ran, and of the program."""
        logs = os.path.join(self.folder, "logs-%d" % executors)
        out = os.path.join(self.folder, "out-%d" % executors)
        times, timed = os.path.join(logs, "times"), os.path.join(self.folder, "timed-%d" % executors)
        os.mkdir(logs)
        with open(timed, "w") as script:
            script.write(TIMED % (BINARY, times))
        os.chmod(timed, 0o755)
        conf = os.path.join(self.folder, "conf-%d" % executors)
        os.mkdir(conf)
        with open(os.path.join(conf, "spark-defaults.conf"), "w") as defaults:
            defaults.write("spark.cores.max %d\nspark.eventLog.enabled true\nspark.eventLog.dir file://%s\n" % (executors, logs))
        self.environment["SPARK_CONF_DIR"] = conf
        paths = ["file://" + path for path in self.histories()]
        begin = time.time()
        output = self.submit(paths, "file://" + out, "--batch-mb", "16", binary=timed)
        whole = time.time() - begin
        spans = []
        for name in os.listdir(logs):
            if name.startswith("app-"):
                with open(os.path.join(logs, name)) as log:
                    events = (json.loads(line) for line in log)
                    ends = [event["Task Info"] for event in events if event["Event"] == "SparkListenerTaskEnd"]
                    spans += [(task["Launch Time"] / 1000, task["Finish Time"] / 1000) for task in ends]
        with open(times) as file:
            program = sum(int(line) for line in file) / 1e9
        return whole, union(spans), sum(end - start for start, end in spans), program, output

    def runTest(self):
        files = sum(len(names) for path in self.histories() for _, _, names in os.walk(path))
        for executors in (1, 2):
            whole, busy, tasks, program, output = self.run_with(executors)
            print(
                "%d executors: %d files in %.1f s, %.0f a second; with the start of Spark %.1f s; %.0f %% of the tasks' time is "
                "the program; %s" % (executors, files, busy, files / busy, whole, 100 * program / tasks, output.strip())
            )


def union(spans):
    """How long any of these spans lasts."""
    total, until = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


if __name__ == "__main__":
    Measured.setUpClass()
    try:
        Measured().runTest()
    finally:
        Measured.tearDownClass()
