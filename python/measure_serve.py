"""Measures `elephant-rs serve` on a store: many clients that ask its pages again and again, while it reads histories.

`ELEPHANT_RS=PROGRAM python3 measure_serve.py STORE [--clients 50] [--seconds 60] [--histories FOLDER]`

Clients keep their connections and ask for the next page as soon as they have one. With `--histories`, copies of these files
are laid into a folder that the server reads (`--ingest`), one each second, so that it writes during the measurement; the store
is changed by it, so give a copy. Prints the times of each page in milliseconds, and the memory of the server as it grows.
With `--seconds 3600` it is a soak: memory is told each tenth of the time.
"""

import argparse
import asyncio
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

# How often the server looks for new histories.
EVERY = "5s"


def pages(ask, generator):
    """A page of each kind: names, and addresses of which clients take one after another."""
    applications = ask("/api/v1/applications?limit=200")["applications"]
    jobs = sorted({application["job"] for application in applications if application.get("job")})
    users = sorted({application["user"] for application in applications if application.get("user")})
    quote = urllib.request.quote
    ids = [application["id"] for application in applications]
    addresses = {
        "/": ["/"],
        "/application/ID": ["/application/" + quote(id) for id in ids],
        "/job/KEY": ["/job/" + quote(job, safe="") for job in jobs],
        "/user/NAME": ["/user/" + quote(user) for user in users],
        "/search?q=": ["/search?q=" + quote(id[-6:]) for id in ids],
        "/api/v1/summary": ["/api/v1/summary"],
    }
    for some in addresses.values():
        generator.shuffle(some)
    return {page: some for page, some in addresses.items() if some}


async def answer(reader):
    """The status of an answer, of which everything is read."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    length = next(int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:"))
    await reader.readexactly(length)
    closes = any(line.lower() == b"connection: close" for line in lines)
    return int(lines[0].split()[1]), closes


async def client(address, turns, end, times, failed):
    connection = None
    for page, path in turns:
        if time.monotonic() >= end:
            break
        if connection is None:
            connection = await asyncio.open_connection(*address)
        reader, writer = connection
        begin = time.monotonic()
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        try:
            status, closes = await answer(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            # A connection is closed after two minutes.
            connection = None
            continue
        if status == 200:
            times[page].append(1000 * (time.monotonic() - begin))
        else:
            failed[status] = failed.get(status, 0) + 1
        if closes:
            writer.close()
            connection = None
    if connection is not None:
        connection[1].close()


def resident(process):
    """Mebibytes of memory that the server holds."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) // 1024


async def grow(process, seconds, told):
    for _ in range(10):
        await asyncio.sleep(seconds / 10)
        told.append(resident(process))
        print(f"memory {told[-1]} MiB", flush=True)


async def lay(files, folder, end):
    """Lays a copy of a file into the folder each second."""
    for number, file in zip(itertools.count(), itertools.cycle(files)):
        if time.monotonic() >= end:
            return number
        to = folder / f"{number:06d}"
        to.mkdir()
        shutil.copy(file, to / file.name)
        await asyncio.sleep(1)


def share(times, part):
    return sorted(times)[min(len(times) - 1, int(part * len(times)))]


def report(times, failed, seconds):
    whole = sum(map(len, times.values()))
    print(f"\n{whole} answers in {seconds} s, {whole / seconds:.0f} a second; others: {failed or 'none'}")
    print("| page | answers | median | 95 % | 99 % | longest |\n| --- | --: | --: | --: | --: | --: |")
    for page, some in times.items():
        if some:
            figures = [share(some, part) for part in (0.5, 0.95, 0.99)] + [max(some)]
            print(f"| `{page}` | {len(some)} | " + " | ".join(f"{ms:.1f}" for ms in figures) + " |")


async def measure(address, process, arguments, all_pages, laid):
    end = time.monotonic() + arguments.seconds
    times, failed, memory = {page: [] for page in all_pages}, {}, []
    every = [(page, itertools.cycle(some)) for page, some in all_pages.items()]
    turns = ((page, next(some)) for page, some in itertools.cycle(every))
    work = [client(address, turns, end, times, failed) for _ in range(arguments.clients)]
    work.append(grow(process, arguments.seconds, memory))
    if laid is not None:
        work.append(lay(*laid, end))
    await asyncio.gather(*work)
    report(times, failed, arguments.seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--histories", type=pathlib.Path)
    arguments = parser.parse_args()
    command = [os.environ["ELEPHANT_RS"], "serve", "--store", arguments.store, "--listen", "127.0.0.1:0"]
    with tempfile.TemporaryDirectory() as folder:
        laid = None
        if arguments.histories:
            files = sorted(file for file in arguments.histories.rglob("*") if file.is_file())
            laid = files, pathlib.Path(folder)
            command += ["--ingest", folder, "--every", EVERY]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            host = server.stdout.readline().rsplit("http://", 1)[1].strip().rstrip("/")

            def ask(path):
                with urllib.request.urlopen(f"http://{host}{path}") as answered:
                    return json.load(answered)

            all_pages = pages(ask, random.Random(1))
            name, port = host.split(":")
            print(f"memory {resident(server.pid)} MiB at the start", flush=True)
            asyncio.run(measure((name, int(port)), server.pid, arguments, all_pages, laid))
        finally:
            server.send_signal(signal.SIGTERM)
            print("the server ended with status", server.wait(60))


if __name__ == "__main__":
    sys.exit(main())
