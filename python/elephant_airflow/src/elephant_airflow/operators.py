"""A task that checks the application of a task before it."""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Optional, Union

from . import results
from ._airflow import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
    BaseHook,
    BaseOperator,
    TimeDeltaTrigger,
)
from .links import PAGE_KEY, PageLink

ACTIONS = ("fail", "skip", "warn")


class ElephantCheckOperator(BaseOperator):
    """Checks an application, by the program on its history or by a server that has stored it.

    :param history: paths or addresses of histories, which the program reads where the task runs.
    :param application_id: id of an application that a server has stored, or will have soon.
    :param server: address of the server; with `history`, it is only for the link to the page.
    :param conn_id: a connection of Airflow with a login for the server, or headers in its extra
        (`{"headers": {"Authorization": "Bearer …"}}`).
    :param baseline: a file of accepted findings; only what is new or worse counts. With `history` only.
    :param fail_at: the lowest severity that counts, if there is no baseline.
    :param action: what happens then, or if there is no result: `fail`, `skip` (also the tasks after it), or `warn`.
    :param wait_seconds: how long to wait until the server has the whole application.
    :param poll_seconds: the time between two questions.
    :param request_seconds: how long an answer may take.
    :param deferrable: whether to wait without a slot of a worker.
    :param binary: the program.
    :param options: further options of the program, such as `["--rules", "rules.yaml"]`.
    """

    template_fields: Sequence[str] = ("history", "application_id", "server", "baseline", "options")
    operator_extra_links = (PageLink(),)
    ui_color = "#e8e4f3"

    def __init__(
        self,
        *,
        history: Union[str, Sequence[str], None] = None,
        application_id: Optional[str] = None,
        server: Optional[str] = None,
        conn_id: Optional[str] = None,
        baseline: Optional[str] = None,
        fail_at: str = "severe",
        action: str = "fail",
        wait_seconds: float = 1800,
        poll_seconds: float = 30,
        request_seconds: float = 30,
        deferrable: bool = False,
        binary: str = "elephant-rs",
        options: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if (history is None) == (application_id is None):
            raise ValueError("give either history or application_id")
        if application_id is not None and server is None:
            raise ValueError("application_id needs the server that has stored it")
        if application_id is not None and baseline is not None:
            raise ValueError("a baseline is compared with a history")
        if fail_at not in results.SEVERITIES[1:]:
            raise ValueError(f"fail_at: expected one of {', '.join(results.SEVERITIES[1:])}")
        if action not in ACTIONS:
            raise ValueError(f"action: expected one of {', '.join(ACTIONS)}")
        self.history = history
        self.application_id = application_id
        self.server = server
        self.conn_id = conn_id
        self.baseline = baseline
        self.fail_at = fail_at
        self.action = action
        self.wait_seconds = wait_seconds
        self.poll_seconds = poll_seconds
        self.request_seconds = request_seconds
        self.deferrable = deferrable
        self.binary = binary
        self.options = options
        # Of the application that was checked.
        self.page: Optional[str] = None

    def execute(self, context: Any) -> Optional[dict]:
        """Checks once, or until the server has the application."""
        if self.history is None:
            return self.ask(context, time.time() + self.wait_seconds)
        histories = [self.history] if isinstance(self.history, str) else list(self.history)
        try:
            report = results.run(self.binary, histories, baseline=self.baseline, options=self.options)
        except results.Unusable as error:
            why = str(error)
        else:
            return self.judge(context, report)
        return self.without_result(why)

    def resume(self, context: Any, event: Any = None, deadline: Optional[float] = None) -> Optional[dict]:
        """Asks again after a pause."""
        return self.ask(context, time.time() + self.wait_seconds if deadline is None else deadline)

    def ask(self, context: Any, deadline: float) -> Optional[dict]:
        """Asks the server until it has the application."""
        while True:
            stored, why, may_change = self.stored()
            left = deadline - time.time()
            if not may_change or left <= 0:
                break
            self.log.info("%s; asking again", why)
            pause = min(self.poll_seconds, left)
            if self.deferrable:
                self.defer(
                    trigger=TimeDeltaTrigger(timedelta(seconds=pause)),
                    method_name="resume",
                    kwargs={"deadline": deadline},
                )
            time.sleep(pause)
        if stored is None:
            return self.without_result(why)
        if why:
            self.log.warning("%s; what was read is judged", why)
        return self.judge(context, stored)

    def stored(self) -> tuple[Optional[dict], str, bool]:
        """What the server has, what is wrong with it, and whether that may change."""
        try:
            application = results.checked_id(self.application_id)
            stored = results.fetch(str(self.server), application, self.headers(), self.request_seconds)
        except results.NotYet as error:
            return None, str(error), True
        except results.Unusable as error:
            return None, str(error), False
        is_running = results.is_running(stored)
        return stored, f"{application} was still running when its history was read" if is_running else "", is_running

    def headers(self) -> dict[str, str]:
        """What the connection adds to a question."""
        if not self.conn_id:
            return {}
        connection = BaseHook.get_connection(self.conn_id)
        headers = {str(name): str(value) for name, value in (connection.extra_dejson.get("headers") or {}).items()}
        if connection.login:
            login = f"{connection.login}:{connection.password or ''}".encode()
            headers.setdefault("Authorization", "Basic " + base64.b64encode(login).decode())
        return headers

    def judge(self, context: Any, report: dict) -> Optional[dict]:
        """Keeps a summary, and fails, skips or warns."""
        short = results.summary(report, self.server)
        worst = short["applications"][0] if short["applications"] else None
        if worst and worst["page"]:
            self.page = worst["page"]
            context["ti"].xcom_push(key=PAGE_KEY, value=self.page)
            self.log.info("Page: %s", self.page)
        if short["severity"] is None:
            return self.without_result("no application could be judged")
        wrong = results.violation(short, self.fail_at)
        if wrong is None:
            self.log.info("Nothing to complain about: %s", short["severity"])
            return short
        # A task that fails or is skipped returns nothing.
        context["ti"].xcom_push(key="return_value", value=short)
        if self.action == "fail":
            # The application is what it is: another try would find the same.
            raise AirflowFailException(wrong)
        if self.action == "skip":
            raise AirflowSkipException(wrong)
        self.log.warning("%s", wrong)
        return short

    def without_result(self, why: str) -> None:
        """There is nothing to judge, which another try of the task may change."""
        if self.action == "fail":
            raise AirflowException(why)
        if self.action == "skip":
            raise AirflowSkipException(why)
        self.log.warning("%s", why)
