"""The manifests for Kubernetes: by its schema, and their commands, run here as the pods would run them."""
import copy
import hashlib
import os
import pathlib
import subprocess
import sys

import pytest

kubernetes_validate = pytest.importorskip("kubernetes_validate")
yaml = pytest.importorskip("yaml")

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = os.environ.get("STACKPACK_PROGRAM")
NAMES = ["convert", "merge_groups", "merge"]
COUNT = 45


def manifest(name):
    return yaml.safe_load((ROOT / "examples" / "fleet" / f"kubernetes_{name}.yaml").read_text(encoding="utf-8"))


def container(job):
    one, = job["spec"]["template"]["spec"]["containers"]
    return one


@pytest.mark.parametrize("name", NAMES)
def test_manifests_fit_the_schema(name):
    version = kubernetes_validate.latest_version()
    job = manifest(name)
    kubernetes_validate.validate(job, version, strict=True)
    wrong = copy.deepcopy(job)
    wrong["spec"]["completion"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, version, strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_manifests_agree_with_themselves(name):
    job = manifest(name)
    pod = job["spec"]["template"]["spec"]
    values = {item["name"]: item["value"] for item in container(job).get("env", [])}
    if "completionMode" in job["spec"]:
        assert values["TASKS"] == str(job["spec"]["completions"])
    else:
        assert not values
    assert {mount["name"] for mount in container(job)["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    for rule in job["spec"]["podFailurePolicy"]["rules"]:
        assert rule.get("onExitCodes", {}).get("containerName", container(job)["name"]) == container(job)["name"]


def run_pods(name, folder):
    """The statuses of the pods of a Job, with `folder` in place of /data."""
    job = manifest(name)
    (folder / "bin").mkdir(exist_ok=True)
    if not (folder / "bin" / "stackpack").exists():
        (folder / "bin" / "stackpack").symlink_to(PROGRAM)
    command = [word.replace("/data/", f"{folder}/") for word in container(job)["command"]]
    environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    environment.update((item["name"], item["value"]) for item in container(job).get("env", []))
    statuses = []
    for index in range(job["spec"].get("completions", 1)):
        environment["JOB_COMPLETION_INDEX"] = str(index)
        statuses.append(subprocess.run(command, env=environment, check=False).returncode)
    return statuses


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@pytest.mark.skipif(not PROGRAM, reason="STACKPACK_PROGRAM is not set")
def test_the_pods_do_their_work(tmp_path, captures):
    subprocess.run([sys.executable, ROOT / "bench" / "capture_variants.py", captures / "file.perf.data",
                    tmp_path / "captures", "--count", str(COUNT)], check=True)
    assert set(run_pods("convert", tmp_path)) == {0}
    packed = sorted((tmp_path / "packed").rglob("*.spk"))
    assert len(packed) == COUNT
    times = [path.stat().st_mtime_ns for path in packed]
    (tmp_path / "captures" / "zz.broken").write_bytes(b"PERFILE2 and no more")
    assert sorted(run_pods("convert", tmp_path)) == [0] * 19 + [2]
    assert [path.stat().st_mtime_ns for path in packed] == times
    assert any("zz.broken" in path.read_text() for path in (tmp_path / "packed").glob("report-*.json"))
    assert set(run_pods("merge_groups", tmp_path)) == {0}
    assert run_pods("merge", tmp_path) == [0]
    subprocess.run([PROGRAM, "merge", "--quiet", *packed, "-o", tmp_path / "one.spk"], check=True)
    assert digest(tmp_path / "all.spk") == digest(tmp_path / "one.spk")
