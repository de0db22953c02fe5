"""What is used of Airflow, which moved between its versions 2 and 3."""

from __future__ import annotations

try:
    from airflow.sdk import BaseHook, BaseOperator, BaseOperatorLink
except ImportError:
    from airflow.hooks.base import BaseHook
    from airflow.models.baseoperator import BaseOperator
    from airflow.models.baseoperatorlink import BaseOperatorLink
try:
    from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
except ImportError:
    from airflow.exceptions import AirflowException, AirflowFailException, AirflowSkipException
try:
    from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
except ImportError:
    from airflow.triggers.temporal import TimeDeltaTrigger

__all__ = [
    "AirflowException",
    "AirflowFailException",
    "AirflowSkipException",
    "BaseHook",
    "BaseOperator",
    "BaseOperatorLink",
    "TimeDeltaTrigger",
]
