"""The dashboard asks only for what a real server has, shows all of it, and is well formed.

Prometheus itself answers the queries where it is installed (Debian's package `prometheus`).
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.parse
from collections import defaultdict

import promql_parser
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from serving import ROOT, get, sample_server, wait_for

DASHBOARD = json.loads((ROOT / "deploy/grafana/elephant-rs.json").read_text())
# Prometheus adds these to what it collects.
ADDED = {"job", "instance"}
SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? \S+$")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
# Each route with figures of its own that the queries leave out must have been asked.
ASKED = ("/healthz", "/readyz", "/", "/api/v1/summary", "/metrics")


def panels() -> list[dict]:
    """All panels but the headings of rows."""
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def queries() -> list[tuple[str, str, str]]:
    """The title of a panel, a query with the variables replaced, and its legend."""
    values = {"$__rate_interval": "15s", "$job": ".+", "$instance": ".+"}
    found = []
    for panel in panels():
        for target in panel["targets"]:
            query = target["expr"]
            for name, value in values.items():
                query = query.replace(name, value)
            found.append((panel["title"], query, target["legendFormat"]))
    return found


def within(expression) -> list:
    """An expression and all parts of it, each with the name of the function around it."""
    found = []

    def walk(part, function):
        found.append((part, function))
        if isinstance(part, promql_parser.Call):
            function = part.func.name
        inner = ("lhs", "rhs", "expr", "param", "args", "vector_selector")
        for name in inner:
            below = getattr(part, name, None)
            for one in below if isinstance(below, list) else [below]:
                if isinstance(one, promql_parser.Expr):
                    walk(one, function)

    walk(expression, None)
    return found


def lost(before, after, path: str = "") -> list[str]:
    """The fields that the types of Grafana's SDK dropped or changed."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [one for key in before for one in lost(before[key], after.get(key), f"{path}/{key}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [one for at, pair in enumerate(zip(before, after)) for one in lost(*pair, f"{path}/{at}")]
    return [] if before == after else [path]


class Metrics:
    """What a server answered at /metrics."""

    def __init__(self, text: str):
        self.types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
        self.labels: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            name, labels = SAMPLE.match(line).groups()
            values = self.labels[name]
            for label, value in LABEL.findall(labels or ""):
                values[label].add(value)

    def is_gauge(self, name: str) -> bool:
        """Counters and histograms have samples with another name than their family."""
        return self.types.get(name) == "gauge"


class OnAServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.address = cls.enterClassContext(sample_server())
        for route in ASKED:
            get(cls.address + route)
        cls.metrics = Metrics(get(cls.address + "/metrics"))

    def selectors(self):
        for title, query, _ in queries():
            for part, function in within(promql_parser.parse(query)):
                if isinstance(part, promql_parser.VectorSelector):
                    yield title, part, function

    def test_every_metric_and_label_exists(self):
        count = 0
        for title, selector, _ in self.selectors():
            self.assertIn(selector.name, self.metrics.labels, title)
            labels = self.metrics.labels[selector.name]
            for matcher in selector.matchers.matchers:
                self.assertIn(matcher.name, ADDED | set(labels), title)
                if matcher.name not in ADDED:
                    for value in matcher.value.split("|"):
                        self.assertIn(value, labels[matcher.name], title)
                        count += 1
        self.assertGreater(count, 0)

    def test_every_grouping_and_legend_has_labels_of_its_metrics(self):
        for title, query, legend in queries():
            parts = [part for part, _ in within(promql_parser.parse(query))]
            names = [part.name for part in parts if isinstance(part, promql_parser.VectorSelector)]
            known = ADDED | set.union(*(set(self.metrics.labels[name]) for name in names))
            grouped = [part.modifier for part in parts if isinstance(part, promql_parser.AggregateExpr)]
            kept = {label for modifier in grouped if modifier for label in modifier.labels}
            self.assertLessEqual(kept, known, title)
            self.assertLessEqual(set(re.findall(r"{{(\w+)}}", legend)), kept, title)

    def test_counters_are_rates_and_gauges_are_not(self):
        for title, selector, function in self.selectors():
            is_rate = function in ("rate", "increase")
            self.assertEqual(is_rate, not self.metrics.is_gauge(selector.name), f"{title}: {selector.name}")

    def test_every_metric_is_shown(self):
        shown = {selector.name for _, selector, _ in self.selectors()}
        # An average of times tells less than the histogram.
        left_out = {"elephant_http_seconds_sum", "elephant_http_seconds_count"}
        self.assertEqual(set(self.metrics.labels) - left_out, shown)

    def test_variables_ask_for_what_exists(self):
        for variable in DASHBOARD["templating"]["list"]:
            if variable["type"] == "query":
                query = variable["query"]["query"]
                metric, label = re.fullmatch(r"label_values\((\w+)(?:{.*})?, (\w+)\)", query).groups()
                self.assertIn(metric, self.metrics.labels)
                self.assertIn(label, ADDED)

    @unittest.skipUnless(shutil.which("prometheus"), "Prometheus is not installed")
    def test_prometheus_answers_every_query(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            own = f"127.0.0.1:{free.getsockname()[1]}"
            free.close()
            config = pathlib.Path(folder, "prometheus.yml")
            target = urllib.parse.urlsplit(self.address).netloc
            jobs = [{"job_name": "elephant-rs", "static_configs": [{"targets": [target]}]}]
            config.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}))
            options = [f"--config.file={config}", f"--storage.tsdb.path={folder}/data", f"--web.listen-address={own}"]
            process = subprocess.Popen(["prometheus", *options], stderr=subprocess.DEVNULL)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)

            def values(query):
                try:
                    answer = get(f"http://{own}/api/v1/query?" + urllib.parse.urlencode({"query": query}))
                except OSError:
                    return []
                return json.loads(answer)["data"]["result"]

            wait_for(lambda: values("count_over_time(elephant_http_connections[1m]) > 3"), 30, "samples")
            for title, query, _ in queries():
                self.assertTrue(values(query), f"{title}: no value of {query}")


class WellFormed(unittest.TestCase):
    def test_grafana_knows_every_field(self):
        register_default_plugins()
        text = JSONEncoder().encode(Dashboard.from_json(DASHBOARD))
        self.assertEqual(lost(DASHBOARD, json.loads(text)), [])

    def test_panels_say_what_they_show(self):
        for panel in panels():
            self.assertTrue(panel["title"] and panel["description"], panel)
            units = [panel["fieldConfig"]["defaults"].get("unit")]
            overrides = panel["fieldConfig"]["overrides"]
            units += [one["value"] for field in overrides for one in field["properties"] if one["id"] == "unit"]
            self.assertTrue(any(units), panel["title"])

    def test_ids_and_titles_are_unique(self):
        for key in ("id", "title"):
            values = [panel[key] for panel in DASHBOARD["panels"]]
            self.assertEqual(len(values), len(set(values)))

    def test_panels_do_not_overlap(self):
        taken = {}
        for panel in DASHBOARD["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertIsNone(taken.get((x, y)), panel["title"])
                    taken[x, y] = panel["title"]

    def test_any_prometheus_can_be_chosen(self):
        chosen = {"type": "prometheus", "uid": "${datasource}"}
        for panel in panels():
            self.assertEqual([panel["datasource"], *(target["datasource"] for target in panel["targets"])],
                             [chosen] * (len(panel["targets"]) + 1))
            for target in panel["targets"]:
                for selector in re.findall(r"{([^{}]*)}", target["expr"]):
                    self.assertTrue(selector.startswith('job=~"$job",instance=~"$instance"'), target["expr"])


if __name__ == "__main__":
    unittest.main()
