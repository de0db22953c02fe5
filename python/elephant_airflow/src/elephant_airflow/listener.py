"""Adds the link to the page to tasks of any kind that tell the id of their application.

The section `elephant_rs` of Airflow's configuration (or AIRFLOW__ELEPHANT_RS__SERVER and so on) says where the id is:

    [elephant_rs]
    server = https://elephant.example.com
    xcom_key = application_id             # the tasks push it
    field = log_url                       # or a template field has it,
    pattern = (application_\\d+_\\d+)       # where this finds it; its first group, if it has one, is the id
"""

from __future__ import annotations

import logging
import re
from typing import Any, Optional

from airflow.configuration import conf
from airflow.listeners import hookimpl

from . import results
from .links import PAGE_KEY

LOG = logging.getLogger(__name__)
SECTION = "elephant_rs"
# A pattern of the user must not take long.
MOST_CHARACTERS = 20_000


def _setting(name: str) -> str:
    return (conf.get(SECTION, name, fallback="") or "").strip()


def application_of(task_instance: Any, xcom_key: str, field: str, pattern: str) -> Optional[str]:
    """The id that a task tells, if it does."""
    if xcom_key:
        # Asked for one index, Airflow 3 logs an error if there is nothing, which is the rule here.
        index = {} if task_instance.map_index < 0 else {"map_indexes": task_instance.map_index}
        pushed = task_instance.xcom_pull(task_ids=task_instance.task_id, key=xcom_key, **index)
        if isinstance(pushed, str) and pushed.strip():
            return pushed.strip()
    value = getattr(getattr(task_instance, "task", None), field, None) if field else None
    found = re.search(pattern, str(value)[:MOST_CHARACTERS]) if pattern and value is not None else None
    if found is None:
        return None
    return (found.group(1) if found.re.groups else found.group()) or None


def _add_link(task_instance: Any) -> None:
    server = _setting("server")
    if not server:
        return
    # A link must not make a task fail.
    try:
        application = application_of(task_instance, _setting("xcom_key"), _setting("field"), _setting("pattern"))
        if application is None:
            return
        address = results.page(server, application)
        task_instance.xcom_push(key=PAGE_KEY, value=address)
        LOG.info("elephant-rs: %s", address)
    except Exception as error:
        LOG.warning("elephant-rs: no link was added: %r", error)


@hookimpl
def on_task_instance_success(previous_state: Any, task_instance: Any) -> None:
    """Called by Airflow."""
    _add_link(task_instance)


@hookimpl
def on_task_instance_failed(previous_state: Any, task_instance: Any) -> None:
    """Called by Airflow. Failed applications are those that one wants to look at."""
    _add_link(task_instance)
