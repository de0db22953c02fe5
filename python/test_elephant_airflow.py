"""Tests of the provider of Airflow that need no Airflow: `python3 -m unittest` in this folder.

Those with the program run if ELEPHANT_RS names it. test_elephant_airflow_dag.py runs DAGs.
"""

import contextlib
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "elephant_airflow", "src"))

from elephant_airflow import results  # noqa: E402

BINARY = os.environ.get("ELEPHANT_RS")
DONE = os.path.join(os.path.dirname(HERE), "testdata", "done")
STORED = {"applications": [{"id": "app-1", "severity": "severe", "status": "succeeded", "judged": True}]}


@contextlib.contextmanager
def answering(answer):
    """The address of a server with an answer to each request, and the requests: `answer(handler)` writes it."""
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append((self.path, dict(self.headers)))
            # A client may have given up.
            with contextlib.suppress(OSError):
                answer(self)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def reply(status, body=b"", **headers):
    def answer(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def fetched(answer, application="app-1", headers=None, timeout=5):
    with answering(answer) as (address, requests):
        return results.fetch(address, application, headers or {}, timeout), requests


class Asking(unittest.TestCase):
    def fails(self, answer, kind, message, **options):
        with self.assertRaisesRegex(kind, message):
            fetched(answer, **options)

    def test_an_answer_is_returned(self):
        stored, requests = fetched(reply(200, json.dumps(STORED).encode()), headers={"Authorization": "Bearer x"})
        self.assertEqual(stored, STORED)
        ((path, headers),) = requests
        self.assertEqual(path, "/api/v1/applications/app-1")
        self.assertEqual(headers["Authorization"], "Bearer x")

    def test_ids_stay_one_part_of_the_path(self):
        for name in ("../../healthz", "a/b?c=d#e", "ü ☃", "a%2Fb", "a\r\nHost: evil"):
            _, requests = fetched(reply(200, json.dumps(STORED).encode()), application=name)
            path = requests[0][0]
            self.assertEqual(path.count("/"), 4, path)
            self.assertNotRegex(path, r"[?#\s]")

    def test_what_may_change_is_asked_again(self):
        for status in (404, 429, 500, 502, 503, 504):
            self.fails(reply(status), results.NotYet, str(status))

    def test_what_does_not_change_is_not(self):
        for status in (400, 401, 403):
            self.fails(reply(status), results.Unusable, str(status))

    def test_redirects_do_not_get_the_credentials(self):
        with answering(reply(200, b"{}")) as (login, asked):
            self.fails(reply(302, Location=login), results.Unusable, "login", headers={"Authorization": "x"})
        self.assertEqual(asked, [])

    def test_other_content_is_refused(self):
        for body in (b"<html>", b"", b"[]", b'{"applications": 1}', b'{"applications": [1]}', b"\xff", b"[" * 100_000):
            self.fails(reply(200, body), results.Unusable, "something else than JSON")

    def test_huge_answers_are_refused(self):
        with mock.patch.object(results, "MOST_BYTES", 1000):
            self.fails(reply(200, b" " * 1001), results.Unusable, "more than")

    def test_slow_answers_are_given_up(self):
        def slow(handler):
            handler.send_response(200)
            handler.end_headers()
            for _ in range(50):
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.1)

        begin = time.monotonic()
        self.fails(slow, results.NotYet, "too long", timeout=0.5)
        self.assertLess(time.monotonic() - begin, 4)

    def test_silent_servers_are_given_up(self):
        self.fails(lambda _: time.sleep(2), results.NotYet, "timed out", timeout=0.2)

    def test_answers_that_break_off_are_asked_again(self):
        def cut(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "100")
            handler.end_headers()
            handler.wfile.write(b"{")

        self.fails(cut, results.NotYet, "breaks off")
        self.fails(lambda handler: handler.wfile.write(b"no\r\n\r\n"), results.NotYet, "no valid answer")

    def test_without_a_server_it_is_asked_again(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with self.assertRaisesRegex(results.NotYet, "does not answer"):
            results.fetch(f"http://127.0.0.1:{port}", "app-1", {}, 1)

    def test_other_addresses_are_refused(self):
        for server in ("file:///etc", "elephant.example.com", "", "http://a b"):
            with self.assertRaises(results.Unusable):
                results.fetch(server, "app-1", {}, 1)

    def test_an_id_that_is_missing_is_told(self):
        self.assertEqual(results.checked_id(" app-1\n"), "app-1")
        for missing in (None, "", " ", "None", 7):
            with self.assertRaisesRegex(results.Unusable, "did the task before push it"):
                results.checked_id(missing)


class Running(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def program(self, text):
        path = os.path.join(self.folder, "program")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\nimport json, sys, time\n{text}\n")
        os.chmod(path, 0o755)
        return path

    def test_arguments_cannot_be_taken_for_options(self):
        echo = self.program("print(json.dumps({'applications': [], 'arguments': sys.argv[1:]}))")
        report = results.run(echo, ["--strict"], options=["--rules", "r"])
        self.assertEqual(report["arguments"][0], "analyze")
        self.assertEqual(report["arguments"][-4:], ["--rules", "r", "--", "--strict"])
        report = results.run(echo, ["a"], baseline="b.yaml")
        self.assertEqual(report["arguments"][:3], ["check", "--baseline", "b.yaml"])

    def test_failures_are_told(self):
        for text, message in [
            ("sys.exit('no report')", "something else than a report: no report"),
            ("print('it', file=sys.stderr); sys.exit(2)", "status 2: it"),
            ("print('{')", "something else than a report"),
            ("print('x' * 5000, file=sys.stderr); sys.exit(2)", "status 2: x{1999}$"),
        ]:
            with self.assertRaisesRegex(results.Unusable, message):
                results.run(self.program(text), ["a"])
        with self.assertRaisesRegex(results.Unusable, "cannot run"):
            results.run(os.path.join(self.folder, "none"), ["a"])
        with self.assertRaisesRegex(results.Unusable, "stopped"):
            results.run(self.program("time.sleep(60)"), ["a"], timeout=0.5)

    def test_huge_reports_are_refused(self):
        with mock.patch.object(results, "MOST_BYTES", 1000), self.assertRaisesRegex(results.Unusable, "more than"):
            results.run(self.program("print('x' * 5000)"), ["a"])

    @unittest.skipUnless(BINARY, "needs ELEPHANT_RS")
    def test_the_program_itself(self):
        short = results.summary(results.run(BINARY, [DONE]))
        self.assertEqual(short["severity"], "severe")
        self.assertEqual(short["applications_count"], 5)
        failed = {one["id"]: one for one in short["applications"]}["job_1795255938536_0001"]
        self.assertEqual((failed["status"], failed["severity"]), ("failed", "severe"))
        self.assertGreater(failed["resource_used_gb_hours"], 0)
        self.assertRegex(failed["troubles"][0]["cause"], "the job failed")
        self.assertRegex(results.violation(short, "severe"), "^severe: job_[0-9_]+: .")
        baseline = os.path.join(self.folder, "baseline.yaml")
        results.run(BINARY, [DONE], baseline=baseline, options=["--update"])
        accepted = results.summary(results.run(BINARY, [DONE], baseline=baseline))
        self.assertEqual(accepted["severity"], "severe")
        self.assertIsNone(results.violation(accepted, "low"))
        with open(baseline, "w", encoding="utf-8") as file:
            file.write("version: 1\nkeep_runs: 10\njobs: []\n")
        new = results.summary(results.run(BINARY, [DONE], baseline=baseline))
        self.assertRegex(results.violation(new, "low"), "compared with the baseline: [1-9] new")
        with self.assertRaisesRegex(results.Unusable, "no such file"):
            results.run(BINARY, [os.path.join(self.folder, "none")])


    @unittest.skipUnless(BINARY, "needs ELEPHANT_RS")
    def test_a_server_itself(self):
        store = os.path.join(self.folder, "fleet.db")
        subprocess.run([BINARY, "ingest", "--store", store, DONE], check=True, capture_output=True)
        command = [BINARY, "serve", "--store", store, "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            try:
                server = re.search(r"http://[0-9.:]+", process.stdout.readline()).group()
                for name in ("job_1795255938536_0001", "application_1795255938536_0001"):
                    short = results.summary(results.fetch(server, name, {}, 10), server)
                    (one,) = short["applications"]
                    self.assertEqual((short["severity"], one["status"], one["runtime_ms"]), ("severe", "failed", 8620))
                    self.assertRegex(results.violation(short, "severe"), "the job failed")
                    with urllib.request.urlopen(one["page"], timeout=10) as page:
                        self.assertIn("job_1795255938536_0001", page.read().decode())
                for name in ("application_1_2", "a/b?c", "../../healthz"):
                    with self.assertRaisesRegex(results.NotYet, "not stored yet"):
                        results.fetch(server, name, {}, 10)
            finally:
                process.terminate()


class Shortening(unittest.TestCase):
    def test_summaries_are_short(self):
        long = "x" * 100_000
        trouble = {"kind": "skew", "severity": "low", "cause": long}
        setting = {"setting": "a", "from": long, "to": long}
        application = {
            "id": "app-1", "name": long, "severity": "low", "troubles": [trouble] * 1000, "settings": [setting] * 1000,
        }
        short = results.summary({"applications": [application] * 1000}, "http://a")
        self.assertLess(len(json.dumps(short)), 64 << 10)
        self.assertEqual(short["applications"][0]["troubles_count"], 1000)
        self.assertEqual(short["applications_count"], 1000)
        self.assertEqual(short["applications"][0]["page"], "http://a/application/app-1")

    def test_unknown_is_not_none(self):
        self.assertIsNone(results.summary({"applications": []})["severity"])
        unjudged = {"applications": [{"id": "a", "severity": "none", "judged": False}]}
        self.assertIsNone(results.summary(unjudged)["severity"])
        self.assertEqual(results.summary(STORED)["severity"], "severe")
        for missing in ({}, {"id": None, "troubles": None, "metrics": None, "settings": None}):
            short = results.summary({"applications": [missing]}, "http://a")
            self.assertIsNone(short["applications"][0]["runtime_ms"])

    def test_the_worst_application_is_first(self):
        levels = ["none", None, "critical", "low"]
        short = results.summary({"applications": [{"id": level, "severity": level} for level in levels]})
        self.assertEqual([one["id"] for one in short["applications"]], ["critical", "low", "none", None])

    def test_the_latest_attempt_decides_whether_it_runs(self):
        first = {"submitted_at": "2026-11-21T09:00:00.000Z", "attempt": "1", "status": "failed"}
        second = {"submitted_at": "2026-11-21T09:00:00.000Z", "attempt": "2", "status": "running"}
        self.assertTrue(results.is_running({"applications": [second, first]}))
        self.assertFalse(results.is_running({"applications": [{**first, "status": "running"}, {**second, "status": "succeeded"}]}))
        self.assertFalse(results.is_running({"applications": []}))

    def test_violations_start_at_the_level(self):
        for level, fail_at, is_wrong in [
            ("low", "severe", False), ("severe", "severe", True), ("critical", "severe", True), ("none", "low", False),
        ]:
            short = results.summary({"applications": [{"id": "a", "severity": level}]})
            self.assertEqual(results.violation(short, fail_at) is not None, is_wrong, level)


if __name__ == "__main__":
    unittest.main()
