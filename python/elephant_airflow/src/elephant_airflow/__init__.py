"""Checks what a Spark or MapReduce application wasted, as a task of Airflow, and links its page.

`results` needs no Airflow; `operators`, `links`, `listener` and `plugin` do.
"""

from __future__ import annotations


def provider_info() -> dict:
    """What Airflow asks of a provider."""
    return {
        "package-name": "elephant-airflow",
        "name": "elephant-rs",
        "description": "Checks what a Spark or MapReduce application wasted, and links its page",
        "versions": ["0.1.0"],
        "extra-links": ["elephant_airflow.links.PageLink"],
    }
