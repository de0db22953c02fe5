"""A server on the sample histories, for tests of what is deployed around it."""

import contextlib
import os
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ELEPHANT_RS", "")
# Small, with both engines, and with queues, troubles and failures.
HISTORIES = [str(ROOT / "testdata" / name) for name in ("done", "spark/3.5.9")]
START_SECONDS = 60


def get(address: str) -> str:
    """The body of an answer with status 200."""
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.read().decode()


def wait_for(condition, seconds: float, what: str):
    """The first true value of `condition`, which is asked until then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within {seconds} s")


@contextlib.contextmanager
def server(arguments: list[str]) -> Iterator[str]:
    """The address of `serve` with these arguments, which listens on a free port."""
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        process = subprocess.Popen([BINARY, "serve", *arguments], stdout=log, stderr=log)

        def address() -> str | None:
            assert process.poll() is None, pathlib.Path(log.name).read_text()
            found = re.search(r"(http://[^/\s]+)/\n", pathlib.Path(log.name).read_text())
            return found and found.group(1)

        try:
            yield wait_for(address, START_SECONDS, "an address")
        finally:
            process.terminate()
            process.wait(timeout=60)


@contextlib.contextmanager
def sample_server() -> Iterator[str]:
    """The address of a server that has read the sample histories."""
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "fleet.db")
        with server(["--store", store, "--listen", "127.0.0.1:0", "--ingest", *HISTORIES]) as address:
            has_read = lambda: "elephant_ingest_turns_total 1" in get(address + "/metrics")
            wait_for(has_read, START_SECONDS, "a turn of reading")
            yield address


def status(address: str) -> int:
    """The status of an answer."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
