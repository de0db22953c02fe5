"""Asks the program or a server for its results, and shortens them. Nothing here needs Airflow."""

from __future__ import annotations

import http.client
import json
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any, Optional

SEVERITIES = ("none", "low", "moderate", "severe", "critical")
# What is kept of a result, so that it fits where Airflow stores it.
MOST_APPLICATIONS = 10
MOST_TROUBLES = 5
MOST_SETTINGS = 5
MOST_CHARACTERS = 200
# An answer on one application has some kilobytes, and a report on the applications that are kept a few megabytes.
MOST_BYTES = 64 << 20
CHUNK = 1 << 16
# What is shown of the errors of the program.
MOST_ERRORS = 2000


class Unusable(Exception):
    """There is no result, and asking again gives none."""


class NotYet(Exception):
    """There is no result yet."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect leads to the login page of a proxy, and would get the credentials."""

    def redirect_request(self, *_: Any) -> None:
        return None


def page(server: str, application: str) -> str:
    """The address of the page of an application."""
    return f"{server.rstrip('/')}/application/{urllib.parse.quote(application, safe='')}"


def checked_id(application: Any) -> str:
    """An id of an application, which is more than the text of a missing value."""
    name = application.strip() if isinstance(application, str) else ""
    if not name or name == "None":
        raise Unusable(f"the application id is {application!r}: did the task before push it?")
    return name


def fetch(server: str, application: str, headers: Mapping[str, str], timeout: float) -> dict:
    """What a server has stored of an application."""
    path = "/api/v1/applications/" + urllib.parse.quote(application, safe="")
    address = server.rstrip("/") + path
    if urllib.parse.urlsplit(address).scheme not in ("http", "https"):
        raise Unusable(f"{server}: expected an address with http:// or https://")
    request = urllib.request.Request(address, headers={"Accept": "application/json", **headers})
    end = time.monotonic() + timeout
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=timeout) as answer:
            body = _bounded(answer, end)
    except urllib.error.HTTPError as error:
        with error:
            raise _failure(address, error.code) from None
    except OSError as error:
        raise NotYet(f"{address} does not answer: {getattr(error, 'reason', error)}") from error
    except (ValueError, http.client.InvalidURL) as error:
        raise Unusable(f"{address}: {error}") from error
    except http.client.HTTPException as error:
        raise NotYet(f"{address} gives no valid answer: {error!r}") from error
    return _parsed(body, f"{address} answers something else than JSON; is it the login page of a proxy?")


def _failure(address: str, status: int) -> Exception:
    if status == 404:
        return NotYet(f"{address}: the application is not stored yet (status 404)")
    if status in (408, 425, 429) or status >= 500:
        return NotYet(f"{address}: status {status}")
    if 300 <= status < 400:
        return Unusable(f"{address}: status {status}, a redirect; does a proxy ask for a login?")
    return Unusable(f"{address}: status {status}")


def _bounded(answer: Any, end: float) -> bytes:
    """The body, unless it is too large or comes too slowly."""
    parts, size = [], 0
    while True:
        part = answer.read1(CHUNK)
        if not part and answer.length:
            raise ConnectionError("the answer breaks off")
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise ValueError(f"the answer has more than {MOST_BYTES >> 20} MiB")
        if time.monotonic() > end:
            raise TimeoutError("the answer takes too long")


def _parsed(text: bytes, problem: str) -> dict:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unusable(problem) from error
    applications = parsed.get("applications") if isinstance(parsed, dict) else None
    if not isinstance(applications, list) or not all(isinstance(one, dict) for one in applications):
        raise Unusable(problem)
    return parsed


def run(
    binary: str,
    histories: Sequence[str],
    *,
    baseline: Optional[str] = None,
    options: Sequence[str] = (),
    timeout: Optional[float] = None,
) -> dict:
    """The report of the program on histories, compared with a baseline if there is one."""
    command = ["check", "--baseline", baseline] if baseline else ["analyze"]
    fixed = ["--format", "json", "--no-progress", "--quiet", "--top", str(MOST_APPLICATIONS), "--sort", "severity"]
    arguments = [binary, *command, *fixed, *options, "--", *histories]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        try:
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": errors}
            done = subprocess.run(arguments, timeout=timeout, check=False, **streams)
        except subprocess.TimeoutExpired as error:
            raise Unusable(f"{binary} was stopped after {timeout} s") from error
        except (OSError, ValueError) as error:
            raise Unusable(f"cannot run {binary}: {error}") from error
        out.seek(0)
        text = out.read(MOST_BYTES + 1)
        errors.seek(0, 2)
        errors.seek(max(0, errors.tell() - MOST_ERRORS))
        said = errors.read().decode(errors="replace").strip()
    if done.returncode not in (0, 1):
        raise Unusable(f"{binary} failed with status {done.returncode}: {said}")
    if len(text) > MOST_BYTES:
        raise Unusable(f"the report has more than {MOST_BYTES >> 20} MiB")
    return _parsed(text, f"{binary} wrote something else than a report: {said}")


def is_running(stored: dict) -> bool:
    """Whether the latest of the attempts that a server has stored was read before its end."""
    attempts = stored["applications"]
    latest = max(attempts, key=lambda one: (_text(one.get("submitted_at")), _text(one.get("attempt"))), default={})
    return latest.get("status") == "running"


def summary(report: dict, server: Optional[str] = None) -> dict:
    """A short form of a report, whatever its size."""
    applications = [_application(one, server) for one in report["applications"]]
    applications.sort(key=lambda one: -_rank(one["severity"]))
    totals = report.get("summary") or {}
    short = {
        "severity": _worst(report),
        "applications_count": totals.get("applications", len(applications)),
        "applications": applications[:MOST_APPLICATIONS],
    }
    baseline = report.get("baseline")
    if baseline:
        short["baseline"] = {"failed": baseline.get("failed"), **(baseline.get("summary") or {})}
    return short


def _worst(report: dict) -> Optional[str]:
    """The highest severity. `None` if no application was judged."""
    levels = [one.get("severity") for one in report["applications"] if one.get("judged", True)]
    # A report lists only the first applications, but counts the findings of all.
    findings = (report.get("summary") or {}).get("findings") or {}
    levels += [level for level, count in findings.items() if count]
    known = [level for level in levels if level in SEVERITIES]
    return max(known, key=SEVERITIES.index, default=None)


def _application(one: dict, server: Optional[str]) -> dict:
    troubles = one.get("troubles") or []
    settings = one.get("settings") or one.get("recommended_configuration") or []
    return {
        "id": one.get("id"),
        "attempt": one.get("attempt"),
        "name": _cut(one.get("name")),
        "status": one.get("status"),
        "severity": one.get("severity"),
        "runtime_ms": _cost(one, "runtime_ms"),
        "resource_used_gb_hours": _cost(one, "resource_used_gb_hours"),
        "resource_wasted_gb_hours": _cost(one, "resource_wasted_gb_hours"),
        "troubles_count": len(troubles),
        "troubles": [
            {"kind": trouble.get("kind"), "severity": trouble.get("severity"), "cause": _cut(trouble.get("cause"))}
            for trouble in troubles[:MOST_TROUBLES]
        ],
        "settings": [
            {key: _cut(setting.get(key)) for key in ("setting", "from", "to")} for setting in settings[:MOST_SETTINGS]
        ],
        "page": page(server, one["id"]) if server and isinstance(one.get("id"), str) else None,
    }


def _cost(one: dict, key: str) -> Any:
    """Of a server, costs are next to the rest; in a report, they are metrics."""
    return one[key] if key in one else (one.get("metrics") or {}).get(key)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        return value[: MOST_CHARACTERS - 1] + "…"
    return value


def _rank(level: Any) -> int:
    return SEVERITIES.index(level) if level in SEVERITIES else -1


def violation(short: dict, fail_at: str) -> Optional[str]:
    """What is wrong with the result of a summary, in a line; `None` if nothing is."""
    baseline = short.get("baseline")
    if baseline is not None:
        if not baseline.get("failed"):
            return None
        counts = {key[: -len("_count")]: baseline.get(key, 0) for key in ("new_count", "worse_count", "regressed_metrics_count")}
        return "compared with the baseline: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    if _rank(short["severity"]) < SEVERITIES.index(fail_at):
        return None
    worst = next((one for one in short["applications"] if one["severity"] == short["severity"]), {})
    causes = "; ".join(str(trouble["cause"]) for trouble in worst.get("troubles", [])[:1])
    return f"{short['severity']}: {worst.get('id')}" + (f": {causes}" if causes else "")
