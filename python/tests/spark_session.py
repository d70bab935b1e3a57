"""The examples for Spark in one driver, so that its virtual machine starts once: spark_session.py FOLDER FAN_IN

FOLDER/captures is converted while one of the workers is killed, converted again, and merged.
"""
import os
import pathlib
import signal
import sys
import threading
import time

FLEET = pathlib.Path(__file__).parents[2] / "examples" / "fleet"
sys.path.insert(0, str(FLEET))
from pyspark.sql import SparkSession  # noqa: E402  pylint: disable=wrong-import-position
import spark_convert  # noqa: E402  pylint: disable=wrong-import-position
import spark_merge  # noqa: E402  pylint: disable=wrong-import-position


def descendants(pid):
    """Process ids of children, and theirs."""
    found = []
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            for child in task.read_text().split():
                found += [int(child), *descendants(int(child))]
    except OSError:
        pass  # it is gone
    return found


def workers():
    """Python processes that run tasks: those that a daemon has forked."""
    # The virtual machine of spark-submit has started this process, and those that work.
    daemons = [pid for pid in descendants(os.getppid())
               if b"pyspark.daemon" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
    return [pid for pid in daemons if any(pid in descendants(other) for other in daemons)]


def kill_a_worker(packed):
    """Ends a worker once the first files are there."""
    while not list(packed.rglob("*.spk")):
        time.sleep(0.01)
    pid = workers()[0]
    os.kill(pid, signal.SIGKILL)
    print("killed after", len(list(packed.rglob("*.spk"))), flush=True)


def ask(lake):
    """Prints what the query of docs/fleet.md finds, a row a line."""
    document = (FLEET.parents[1] / "docs" / "fleet.md").read_text(encoding="utf-8")
    query = document.split("Spark SQL:\n", 1)[1].strip("\n").split("\n\n", 1)[0]
    query = query.replace("`lake/", f"`{lake}/").replace("'samples'", "'cpu-clock'")
    spark = SparkSession.builder.getOrCreate()
    for row in spark.sql(query).collect():
        print("row", row["name"], row["image"], row["self"], row["total"], row["self_share"], sep="\t", flush=True)
    spark.stop()


def main():
    """Prints what the examples print, their statuses, and what a query finds."""
    folder, fan_in = pathlib.Path(sys.argv[1]), sys.argv[2]
    packed, lake = folder / "packed", folder / "lake"
    threading.Thread(target=kill_a_worker, args=(packed,), daemon=True).start()
    for tasks in ("6", "2"):
        sys.argv = ["spark_convert.py", str(folder / "captures"), str(packed), str(lake), "--tasks", tasks]
        print("status", spark_convert.main(), flush=True)
    sys.argv = ["spark_merge.py", str(packed), str(folder / "scratch"), str(folder / "spark.spk"), "--fan-in", fan_in]
    print("status", spark_merge.main(), flush=True)
    ask(lake)


if __name__ == "__main__":
    main()
