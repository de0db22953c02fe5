"""The link from a task to the page of its application."""

from __future__ import annotations

from typing import Any

from ._airflow import BaseOperatorLink

# Under this key, a task has the address of the page among its XComs.
PAGE_KEY = "elephant_page"


class PageLink(BaseOperatorLink):
    """A button on the page of a task in Airflow."""

    name = "elephant-rs"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address, or nothing if the task has none."""
        # Airflow 3 asks where the task runs, with the task that has run.
        if hasattr(ti_key, "xcom_pull"):
            return getattr(operator, "page", None) or ""
        return _stored(ti_key) or ""


def _stored(ti_key: Any) -> Any:
    try:
        from airflow.models.xcom import XComModel
    except ImportError:
        from airflow.models.xcom import XCom

        return XCom.get_value(ti_key=ti_key, key=PAGE_KEY)
    from airflow.utils.session import create_session

    question = XComModel.get_many(
        key=PAGE_KEY,
        run_id=ti_key.run_id,
        dag_ids=ti_key.dag_id,
        task_ids=ti_key.task_id,
        map_indexes=ti_key.map_index,
    )
    with create_session() as session:
        row = session.execute(question.with_only_columns(XComModel.value)).first()
    return XComModel.deserialize_value(row) if row else None
