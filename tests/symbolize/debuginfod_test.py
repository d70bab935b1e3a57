#!/usr/bin/env python3
"""Debug files of a server that the user names: debuginfod_test.py PROGRAM COMPILER

A server on the loopback interface has what was stripped from a program. Nothing asks it but --debuginfod; afterwards the
file is in the client's cache. Needs debuginfod-find; without it, only that the program says so.
"""
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import addressed_capture  # noqa: E402
import debug_files_test as material  # noqa: E402

SOURCE = "static __attribute__((noinline)) int hidden_work(int x) { return x * 7 + 1; }\nint main(int n, char** v) { (void)v; return hidden_work(n); }\n"
NAME = "hidden_work"


class Server(http.server.ThreadingHTTPServer):
    """Answers /buildid/ID/KIND with files, and keeps what it was asked for."""

    def __init__(self, files):
        self.files, self.asked = files, []
        super().__init__(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        file = self.server.files.get(self.path)
        self.send_response(200 if file else 404)
        data = file.read_bytes() if file else b""
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words):
        pass


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        (folder / "code.c").write_text(SOURCE)
        image = folder / "code"
        subprocess.run([compiler, "-x", "c", "-g", "-O1", "-fno-inline", str(folder / "code.c"), "-Wl,--build-id=sha1", "-o", str(image)], check=True)
        elf = material.Image(image)
        material.PATH = str(image)
        start = next(start for start, _, name in elf.symbols if name == NAME)
        bias = 0 if elf.loads[0][3] else material.BIAS
        data = material.make_capture.comm(addressed_capture.PID, addressed_capture.PID, "demo", 0)
        data += material.mmap2(*elf.mapping(bias), elf.build_id)
        data += b"".join(addressed_capture.sample(bias + start + 1, i) for i in range(20))
        addressed_capture.write_records(folder / "a.data", data)
        subprocess.run(["objcopy", "--only-keep-debug", image, folder / "code.debug"], check=True)
        subprocess.run(["strip", "--strip-all", image], check=True)
        page = f"/buildid/{elf.build_id.hex()}/debuginfo"

        def run(*words, home="home", urls="", path=os.environ["PATH"]):
            (folder / home).mkdir(exist_ok=True)
            return subprocess.run([program, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False,
                                  env={"PATH": path, "HOME": str(folder / home), "DEBUGINFOD_URLS": urls})

        asking = run("top", "a.data", "--debuginfod")
        assert asking.returncode == 1 and "DEBUGINFOD_URLS" in asking.stderr, asking
        (folder / "empty").mkdir()
        asking = run("top", "a.data", "--debuginfod", urls="http://127.0.0.1:9", path=str(folder / "empty"))
        assert asking.returncode != 0 and "apt install debuginfod" in asking.stderr, asking
        if not shutil.which("debuginfod-find"):
            print("not tried: debuginfod-find is not installed")
            return
        with Server({page: folder / "code.debug"}) as server:
            urls = f"http://127.0.0.1:{server.server_port}"
            plain = run("top", "a.data", urls=urls)
            assert plain.returncode == 0 and NAME not in plain.stdout and server.asked == [], (plain, server.asked)
            named = run("top", "a.data", "--by", "line", "--debuginfod", urls=urls)
            assert named.returncode == 0 and NAME in named.stdout and "code.c:1" in named.stdout, named
            assert server.asked == [page], server.asked
            # From now on the cache has it, and nobody is asked.
            again = run("top", "a.data", urls=urls)
            assert NAME in again.stdout and server.asked == [page], (again, server.asked)
            again = run("top", "a.data", "--debuginfod", urls=urls)
            assert NAME in again.stdout and server.asked == [page], (again, server.asked)
            for words in (["convert", "-s", "a.data", "--quiet"], ["symbolize", "plain.spk", "--quiet"]):
                assert run("convert", "a.data", "-o", "plain.spk", "--force", "--quiet").returncode == 0
                done = run(*words, "--debuginfod", "-o", "named.spk", "--force", home=words[0], urls=urls)
                assert done.returncode == 0 and NAME in run("top", "named.spk").stdout, done
            assert server.asked == [page] * 3, server.asked
        # A server that does not have it costs nothing but its names.
        with Server({}) as server:
            done = run("top", "a.data", "--debuginfod", home="other", urls=f"http://127.0.0.1:{server.server_port}")
            assert done.returncode == 0 and NAME not in done.stdout and page in server.asked, (done, server.asked)


main()
