"""Runs DAGs in a real Airflow with the provider, the program, and a fake server: `.ci/airflow` sets it up.

Needs Airflow with the provider installed, and ELEPHANT_RS, which names the program.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from test_elephant_airflow import BINARY, DONE, answering, reply

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE_OF_MANUAL = os.path.join(os.path.dirname(HERE), "docs", "airflow.md")
FAILED = "job_1795255938536_0001"
IS_HERE = bool(BINARY) and importlib.util.find_spec("airflow") is not None
# Airflow reads its configuration when it is imported.
HOME = tempfile.mkdtemp() if IS_HERE else ""
IMPORTS = """
from datetime import timedelta
import pendulum
from airflow.sdk import dag, task
from airflow.exceptions import AirflowException
from elephant_airflow.operators import ElephantCheckOperator
START = pendulum.datetime(2026, 11, 1, tz="UTC")
"""


def setUpModule():
    if not IS_HERE:
        raise unittest.SkipTest("needs Airflow and ELEPHANT_RS")
    os.makedirs(os.path.join(HOME, "dags"))
    os.makedirs(os.path.join(HOME, "bin"))
    os.symlink(os.path.realpath(BINARY), os.path.join(HOME, "bin", "elephant-rs"))
    os.environ.update(
        AIRFLOW_HOME=HOME,
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
        AIRFLOW__CORE__DAGS_FOLDER=os.path.join(HOME, "dags"),
        AIRFLOW__LOGGING__LOGGING_LEVEL="ERROR",
        AIRFLOW__ELEPHANT_RS__SERVER="https://elephant.example.com/",
        AIRFLOW__ELEPHANT_RS__XCOM_KEY="application_id",
        AIRFLOW__ELEPHANT_RS__FIELD="op_kwargs",
        AIRFLOW__ELEPHANT_RS__PATTERN=r"tracked at \S*/(application_\d+_\d+)",
        AIRFLOW_CONN_PROXY=json.dumps(
            {"conn_type": "http", "login": "etl", "password": "secret", "extra": {"headers": {"X-Team": "blue"}}}
        ),
        PATH=os.path.join(HOME, "bin") + os.pathsep + os.environ["PATH"],
    )
    subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], check=True, capture_output=True)


def tearDownModule():
    if HOME:
        shutil.rmtree(HOME)


def stored_results(level="severe", status="failed"):
    """What a server has of an application."""
    trouble = {"kind": "failures", "severity": level, "cause": "the job failed"}
    application = {"id": FAILED, "severity": level, "status": status, "judged": True, "troubles": [trouble]}
    return json.dumps({"applications": [application]}).encode()


class Run:
    """What a DAG did."""

    count = 0

    def __init__(self, source):
        try:
            from airflow.dag_processing.dagbag import DagBag
        except ImportError:
            from airflow.models.dagbag import DagBag

        if importlib.util.find_spec("airflow.sdk") is None:
            source = source.replace("from airflow.sdk import", "from airflow.decorators import")
        Run.count += 1
        path = os.path.join(HOME, "dags", f"dag_{Run.count}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        bag = DagBag(path)
        assert not bag.import_errors, bag.import_errors
        (self.dag,) = bag.dags.values()
        self.run = self.dag.test()
        # Airflow reads all files of the folder for each task.
        os.remove(path)

    def state(self, task):
        return str(self.run.get_task_instance(task).state or "none")

    def tries(self, task):
        return self.run.get_task_instance(task).try_number

    def xcom(self, task, key="return_value"):
        from airflow.models import xcom
        from airflow.utils.session import create_session

        is_new = hasattr(xcom, "XComModel")
        model = xcom.XComModel if is_new else xcom.XCom
        with create_session() as session:
            asked = session.query(model).filter_by(run_id=self.run.run_id, dag_id=self.dag.dag_id, task_id=task, key=key)
            row = asked.first()
            # A row of Airflow 2 has the value itself.
            return None if row is None else model.deserialize_value(row) if is_new else row.value

    def links(self, task):
        """What the web page of a task shows."""
        from airflow.serialization import serialized_objects

        dags = getattr(serialized_objects, "DagSerialization", None) or serialized_objects.SerializedDAG
        known = dags.from_dict(json.loads(json.dumps(dags.to_dict(self.dag)))).get_task(task)
        instance = self.run.get_task_instance(task)
        return {name: known.get_extra_links(instance, name) for name in known.extra_links}


def checking(*checks):
    """A DAG with checks that have these options, and a task after each."""
    lines = "".join(
        f"""
    ElephantCheckOperator(task_id="check_{at}", retries=1, retry_delay=timedelta(0), {options}) >> after.override(
        task_id="after_{at}"
    )()
"""
        for at, options in enumerate(checks)
    )
    return (
        IMPORTS
        + f"""
@dag(schedule=None, start_date=START)
def checking_{Run.count}():
    @task
    def after():
        pass

{lines}

checking_{Run.count}()
"""
    )


class TheManual(unittest.TestCase):
    def test_its_dag_runs(self):
        with open(PAGE_OF_MANUAL, encoding="utf-8") as page:
            (source,) = re.findall(r"```python\n(.*?)```", page.read(), re.DOTALL)
        baseline = os.path.join(HOME, "baseline.yaml")
        subprocess.run([BINARY, "check", "--baseline", baseline, "--update", DONE], check=True, capture_output=True)
        # Not stored, then out of order, then read while it was running, and then whole.
        replies = [reply(404), reply(503), reply(200, stored_results("low", "running")), reply(200, stored_results())]

        with answering(lambda handler: replies.pop(0)(handler)) as (server, requests):
            for old, new in [
                ("https://elephant.example.com", server),
                ("/mr-history/done", DONE),
                ("/etc/elephant/baseline.yaml", baseline),
                ("deferrable=True", "deferrable=True, poll_seconds=0.1"),
            ]:
                self.assertEqual(source.count(old), 1, old)
                source = source.replace(old, new)
            run = Run(source)
        self.assertEqual([path for path, _ in requests], [f"/api/v1/applications/{FAILED}"] * 4)
        self.assertEqual((run.state("check"), run.state("gate")), ("success", "success"))
        short = run.xcom("check")
        self.assertEqual((short["severity"], short["applications"][0]["troubles_count"]), ("severe", 1))
        page = f"{server}/application/{FAILED}"
        self.assertEqual(run.links("check"), {"elephant-rs": page})
        self.assertEqual(run.xcom("check", "elephant_page"), page)
        gate = run.xcom("gate")
        self.assertEqual((gate["applications_count"], gate["baseline"]["failed"]), (5, False))


class Actions(unittest.TestCase):
    def test_findings_fail_once_skip_or_pass(self):
        run = Run(
            checking(
                f"history={DONE!r}, server='https://elephant.example.com', fail_at='severe'",
                f"history=[{DONE!r}], action='skip'",
                f"history={DONE!r}, fail_at='critical'",
            )
        )
        self.assertEqual((run.state("check_0"), run.state("after_0")), ("failed", "upstream_failed"))
        self.assertEqual(run.tries("check_0"), 1)
        self.assertEqual((run.state("check_1"), run.state("after_1")), ("skipped", "skipped"))
        self.assertEqual((run.state("check_2"), run.state("after_2")), ("success", "success"))
        for check in ("check_0", "check_1", "check_2"):
            self.assertEqual((run.xcom(check)["severity"], run.xcom(check)["applications_count"]), ("severe", 5))
        self.assertRegex(run.links("check_0")["elephant-rs"], r"^https://elephant.example.com/application/job_[0-9_]+$")

    def test_without_a_result_it_is_tried_again_or_warned_of(self):
        checks = [
            "history='/none'",
            f"history={DONE!r}, binary='/none'",
            "application_id='{{ ti.xcom_pull(task_ids=\"none\") }}', server='http://127.0.0.1:9'",
            "application_id='a', server='http://127.0.0.1:9', wait_seconds=0.2, poll_seconds=0.1",
        ]
        run = Run(checking(*checks, *(check + ", action='warn'" for check in checks)))
        for at in range(len(checks)):
            self.assertEqual((run.state(f"check_{at}"), run.tries(f"check_{at}")), ("failed", 2), checks[at])
            warns = at + len(checks)
            self.assertEqual((run.state(f"check_{warns}"), run.state(f"after_{warns}")), ("success", "success"))

    def test_what_is_still_running_at_the_end_of_the_time_is_judged(self):
        with answering(reply(200, stored_results("critical", "running"))) as (server, requests):
            run = Run(checking(f"application_id='a', server={server!r}, wait_seconds=0.3, poll_seconds=0.1"))
        self.assertEqual(run.state("check_0"), "failed")
        self.assertEqual(run.xcom("check_0")["severity"], "critical")
        self.assertGreater(len(requests), 1)

    def test_a_connection_has_the_login(self):
        with answering(reply(200, stored_results("low", "succeeded"))) as (server, requests):
            run = Run(checking(f"application_id='a', server={server!r}, conn_id='proxy'"))
        self.assertEqual(run.state("check_0"), "success")
        headers = requests[0][1]
        self.assertEqual((headers["Authorization"], headers["X-Team"]), ("Basic ZXRsOnNlY3JldA==", "blue"))

    def test_wrong_parameters_are_refused(self):
        from elephant_airflow.operators import ElephantCheckOperator

        for options, message in [
            ({}, "either history or application_id"),
            ({"history": "a", "application_id": "b"}, "either history or application_id"),
            ({"application_id": "b"}, "server"),
            ({"application_id": "b", "server": "c", "baseline": "d"}, "baseline"),
            ({"history": "a", "fail_at": "none"}, "fail_at"),
            ({"history": "a", "action": "stop"}, "action"),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                ElephantCheckOperator(task_id="check", **options)


class Links(unittest.TestCase):
    def test_every_task_that_tells_an_application_has_one(self):
        run = Run(
            IMPORTS
            + textwrap.dedent(
                """
                @dag(schedule=None, start_date=START)
                def linked():
                    @task(multiple_outputs=True)
                    def pushes():
                        return {"application_id": "app 1/2"}

                    @task
                    def fails(text):
                        raise AirflowException(text)

                    @task
                    def tells_nothing(text):
                        pass

                    pushes()
                    fails(text="tracked at http://rm:8088/proxy/application_1_2/ now")
                    tells_nothing(text="application_1_2")

                linked()
                """
            )
        )
        self.assertEqual(run.state("fails"), "failed")
        base = "https://elephant.example.com/application/"
        self.assertEqual(run.links("pushes"), {"elephant-rs": base + "app%201%2F2"})
        self.assertEqual(run.links("fails"), {"elephant-rs": base + "application_1_2"})
        self.assertEqual(run.links("tells_nothing"), {"elephant-rs": ""})


if __name__ == "__main__":
    unittest.main()
