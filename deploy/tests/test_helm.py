"""Helm itself renders the chart; Kubernetes' schemas and the program itself accept what it renders."""

import copy
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import kubernetes_validate
import yaml
from serving import BINARY, HISTORIES, ROOT, server, status

HELM = os.environ["HELM"]
CHART = ROOT / "deploy/helm/elephant-rs"
EXAMPLES = sorted((CHART / "ci").glob("*-values.yaml"))
# The oldest that the chart names, and the newest that is known here.
KUBERNETES = ("1.25", kubernetes_validate.latest_version())
# Others define these.
NOT_KUBERNETES = {"ServiceMonitor"}
MINIMAL = {"access": {"mode": "anyone"}, "histories": [{"address": "s3://logs"}], "store": {"kind": "sqlite"}}


def helm(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([HELM, *arguments], capture_output=True, text=True, timeout=60)


def rendered(values: pathlib.Path, release: str = "fleet") -> list[dict]:
    """The objects that the chart makes with these values."""
    done = helm("template", release, str(CHART), "--values", str(values))
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def pods(objects: list[dict]) -> list[dict]:
    """The pods that controllers make."""
    found = []
    for one in objects:
        if one["kind"] == "Deployment":
            found.append(one["spec"]["template"]["spec"])
        if one["kind"] == "CronJob":
            found.append(one["spec"]["jobTemplate"]["spec"]["template"]["spec"])
    return found


def containers(pod: dict) -> list[dict]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def refusal(change: dict, base: dict = MINIMAL) -> str:
    """What Helm says of values with a change."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        values = copy.deepcopy(base)
        for name, value in change.items():
            *above, last = name.split(".")
            inner = values
            for key in above:
                inner = inner.setdefault(key, {})
            inner[last] = value
        yaml.safe_dump(values, file)
        file.flush()
        done = helm("template", "fleet", str(CHART), "--values", file.name)
    return done.stderr if done.returncode else ""


class Chart(unittest.TestCase):
    def test_lint_finds_nothing(self):
        for values in EXAMPLES:
            done = helm("lint", "--strict", str(CHART), "--values", str(values))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotRegex(done.stdout, "WARNING|ERROR")

    def test_kubernetes_knows_every_field(self):
        for values in EXAMPLES:
            for one in rendered(values):
                for version in KUBERNETES if one["kind"] not in NOT_KUBERNETES else ():
                    with self.subTest(values=values.name, kind=one["kind"], version=version):
                        kubernetes_validate.validate(one, version, strict=True)

    def test_pods_are_restricted(self):
        """As the level "restricted" of Kubernetes' Pod Security Standards demands, and without writable roots."""
        for values in EXAMPLES:
            for pod in pods(rendered(values)):
                context = pod["securityContext"]
                self.assertTrue(context["runAsNonRoot"])
                self.assertGreater(context["runAsUser"], 0)
                self.assertEqual(context["seccompProfile"], {"type": "RuntimeDefault"})
                self.assertFalse(pod["automountServiceAccountToken"])
                for container in containers(pod):
                    own = container["securityContext"]
                    self.assertIs(own["allowPrivilegeEscalation"], False)
                    self.assertIs(own["readOnlyRootFilesystem"], True)
                    self.assertEqual(own["capabilities"], {"drop": ["ALL"]})

    def test_names_are_short_enough(self):
        for release, name in [("fleet", "fleet-elephant-rs"), ("elephant-rs", "elephant-rs"), ("a" * 53, "a" * 45)]:
            for one in rendered(CHART / "ci/postgres-values.yaml", release):
                job = "-ingest" if one["kind"] == "CronJob" else ""
                self.assertEqual(one["metadata"]["name"], name + job)
                self.assertLessEqual(len(one["metadata"]["name"]), 52)

    def test_every_mount_has_a_volume(self):
        for values in EXAMPLES:
            for pod in pods(rendered(values)):
                volumes = [volume["name"] for volume in pod["volumes"]]
                self.assertEqual(len(volumes), len(set(volumes)))
                for container in containers(pod):
                    for mount in container.get("volumeMounts", []):
                        self.assertIn(mount["name"], volumes)

    def test_selectors_find_the_servers_and_nothing_else(self):
        for values in EXAMPLES:
            objects = {one["kind"]: one for one in rendered(values)}
            deployment = objects["Deployment"]["spec"]
            labels = deployment["template"]["metadata"]["labels"]
            service = objects["Service"]
            selectors = [deployment["selector"]["matchLabels"], service["spec"]["selector"]]
            if "NetworkPolicy" in objects:
                selectors.append(objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"])
            for selector in selectors:
                self.assertLessEqual(selector.items(), labels.items())
            if "ServiceMonitor" in objects:
                monitored = objects["ServiceMonitor"]["spec"]["selector"]["matchLabels"]
                self.assertLessEqual(monitored.items(), service["metadata"]["labels"].items())
            if "CronJob" in objects:
                job = objects["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
                self.assertFalse(service["spec"]["selector"].items() <= job.items())

    def test_a_server_behind_a_proxy_in_its_pod_is_not_reached_from_outside(self):
        (pod,) = pods(rendered(CHART / "ci/sidecar-values.yaml"))
        serve, proxy = pod["containers"]
        self.assertIn("127.0.0.1:8750", serve["args"])
        self.assertNotIn("--allow-anyone", serve["args"])
        self.assertNotIn("ports", serve)
        (port,) = proxy["ports"]
        self.assertEqual((port["name"], port["containerPort"]), ("http", 4180))

    def test_probes_and_service_ask_a_port_that_exists(self):
        for values in EXAMPLES:
            objects = rendered(values)
            (pod,) = [pod for pod in pods(objects) if pod["containers"][0]["name"] == "serve"]
            (port,) = [port for container in pod["containers"] for port in container.get("ports", [])]
            self.assertEqual(port["name"], "http")
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                # A name would have to be one of the same container.
                self.assertEqual(pod["containers"][0][probe]["httpGet"]["port"], port["containerPort"])
            (service,) = [one for one in objects if one["kind"] == "Service"]
            self.assertEqual(service["spec"]["ports"][0]["targetPort"], "http")

    def test_values_that_cannot_work_are_refused(self):
        postgres = {"kind": "postgres", "postgres": {"address": "postgres://etl@db/fleet", "secret": {"name": "db"}}}
        self.assertEqual(refusal({}), "")
        self.assertEqual(refusal({"store": postgres, "replicas": 3}), "")
        for change, message in [
            ({"access.mode": ""}, "access.mode"),
            ({"access.mode": "addresses"}, "access.addresses"),
            ({"access.mode": "sidecar"}, "image"),
            ({"access.mode": "sidecar", "access.sidecar": {"container": {"image": "x", "ports": []}}}, "container"),
            ({"histories": []}, "histories.*(1 items|minItems)"),
            ({"histories": [{"path": "/x"}]}, "histories.0"),
            ({"replicas": 2}, "sqlite has one replica"),
            ({"replica": 1}, "replica"),
            ({"access.userHeader": "X-Forwarded-User"}, "access.userHeader"),
            ({"publicUrl": "https://example.com/elephant"}, "publicUrl"),
            ({"ingest.keep": "400"}, "ingest.keep"),
            ({"store": {"kind": "postgres"}}, "store.postgres"),
            ({"store": postgres, "store.postgres.address": "postgres://etl:secret@db/fleet"}, "store.postgres.address"),
            ({"ingress": {"enabled": True, "host": "a.example.com"}}, "access.from"),
        ]:
            with self.subTest(change=change):
                self.assertRegex(refusal(change), message)

    def test_the_example_of_the_manual_renders(self):
        blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/operate.md").read_text(), re.DOTALL)
        (example,) = [block for block in blocks if "histories:" in block]
        self.assertEqual(refusal({}, yaml.safe_load(example)), "")

    def test_examples_use_every_value(self):
        """So that no template is left without a test."""
        defaults = yaml.safe_load((CHART / "values.yaml").read_text())
        templates = "".join(file.read_text() for file in sorted((CHART / "templates").iterdir()))
        for name in defaults:
            self.assertRegex(templates, rf"\.Values\.{name}\b")
        kinds = {one["kind"] for values in EXAMPLES for one in rendered(values)}
        written = set(re.findall(r"^kind: (\w+)$", templates, re.MULTILINE))
        self.assertEqual(kinds, written)


class Program(unittest.TestCase):
    """The program takes the arguments of the containers, on a file and the sample histories."""

    def arguments(self, container: dict, folder: str) -> list[str]:
        store, histories = os.path.join(folder, "fleet.db"), HISTORIES[:1]
        changed = []
        for argument in container["args"]:
            if argument.startswith("/histories/") or re.match(r"(s3|gs|hdfs)://", argument):
                changed += histories
                histories = []
            elif argument.startswith(("postgres://", "/var/lib/")):
                changed.append(store)
            elif argument == "/etc/elephant-rs/rows.yaml":
                changed.append(os.path.join(folder, "rows.yaml"))
            elif argument == "/tmp":
                changed.append(os.path.join(folder, "empty"))
            else:
                changed.append(re.sub(r"^(0\.0\.0\.0|127\.0\.0\.1):8750$", "127.0.0.1:0", argument))
        return changed

    def test_containers_run(self):
        for values in EXAMPLES:
            for pod in pods(rendered(values)):
                with self.subTest(values=values.name), tempfile.TemporaryDirectory() as folder:
                    os.mkdir(os.path.join(folder, "empty"))
                    pathlib.Path(folder, "rows.yaml").write_text("- viewers: [platform-*]\n  all: true\n")
                    for container in containers(pod):
                        if "args" not in container or container["name"] == "proxy":
                            continue
                        arguments = self.arguments(container, folder)
                        if container["name"] == "serve":
                            self.serve(container, arguments)
                        else:
                            done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60)
                            self.assertEqual(done.returncode, 0, done.stderr)

    def serve(self, container: dict, arguments: list[str]):
        with server(arguments[1:]) as address:
            for probe in ("livenessProbe", "readinessProbe"):
                self.assertEqual(status(address + container[probe]["httpGet"]["path"]), 200)


if __name__ == "__main__":
    unittest.main()
