"""What Airflow loads by itself once the package is installed."""

from __future__ import annotations

from airflow.plugins_manager import AirflowPlugin

from . import listener
from .links import PageLink


class ElephantPlugin(AirflowPlugin):
    """The listener, and its link on tasks of any kind."""

    name = "elephant"
    listeners = [listener]
    global_operator_extra_links = [PageLink()]
