#!/usr/bin/env python3
"""Manifests for winget and scoop keep to the rules of both: windows_manifests_test.py SOURCE_FOLDER [ZIP]

The rules are those of winget's schemas 1.6.0 and of scoop's schema, as far as they concern what is written: fields that
must be there, fields that exist, patterns and lengths. Without a ZIP a small one is made.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

URL = "https://downloads.example/v0.1.0/stackpack-0.1.0-windows-x86_64.zip"
HOMEPAGE = "https://stackpack.example/"
ADDRESS = r"[Hh][Tt][Tt][Pp][Ss]?://\S{1,2000}"
PART = r'[^.\s\\/:*?"<>|]{1,32}'
VERSION = r'[^\\/:*?"<>|]{1,128}'
NUMBER = r"[0-9]{1,5}"
# Field: a pattern for the whole value, or rules for what is below it. Fields that begin with ! must be there.
EVERY = {"!PackageIdentifier": rf"{PART}(\.{PART}){{1,7}}", "!PackageVersion": VERSION, "!ManifestVersion": r"1\.6\.0"}
WINGET = {
    "Stackpack.Stackpack.yaml": EVERY | {"!DefaultLocale": r"en-US", "!ManifestType": "version"},
    "Stackpack.Stackpack.installer.yaml": EVERY | {
        "!ManifestType": "installer", "Platform": ["Windows.Desktop"],
        "MinimumOSVersion": rf"{NUMBER}(\.{NUMBER}){{0,3}}", "!InstallerType": "zip", "!NestedInstallerType": "portable",
        "!NestedInstallerFiles": [{"!RelativeFilePath": r".{1,512}", "PortableCommandAlias": r".{1,40}"}],
        "Commands": [r"\S{1,40}"],
        "!Installers": [{"!Architecture": "x64", "!InstallerUrl": ADDRESS, "!InstallerSha256": "[A-F0-9]{64}"}]},
    "Stackpack.Stackpack.locale.en-US.yaml": EVERY | {
        "!ManifestType": "defaultLocale", "!PackageLocale": "en-US", "!Publisher": r".{2,256}", "!PackageName": r".{2,256}",
        "PackageUrl": ADDRESS, "!License": r".{3,512}", "!ShortDescription": r".{3,256}", "Description": r".{3,10000}",
        "Moniker": r"\S{1,40}", "Tags": [r"\S{1,40}"]},
}
SCOOP = {"!version": r"[\w.\-+]+", "!homepage": ADDRESS, "!license": r"Apache-2\.0", "description": r".+", "!bin": r"\S+\.exe",
         "!architecture": {"!64bit": {"!url": ADDRESS, "!hash": "[a-f0-9]{64}", "!extract_dir": r"\S+"}}}


def blocks(lines):
    """The YAML that is written here: `key: value`, lists of values, lists of such maps."""
    value, open_list = {}, None
    for line in lines:
        item = re.fullmatch(r"(- |  )?([A-Za-z0-9]+):(?: (.+))?", line)
        if line.startswith("- ") and not item:
            open_list.append(line[2:])
        elif line.startswith("- "):
            open_list.append({item[2]: item[3]})
        elif line.startswith("  "):
            open_list[-1][item[2]] = item[3]
        elif item[3] is None:
            open_list = value[item[2]] = []
        else:
            value[item[2]] = item[3]
    return value


def breaches(value, rules, where):
    """What a value has that the rules do not know, lacks, or has otherwise."""
    if isinstance(rules, str):
        return [] if isinstance(value, str) and re.fullmatch(rules, value) else [f"{where}: {value!r}"]
    if isinstance(rules, list):
        found = [] if isinstance(value, list) and 0 < len(value) <= 16 else [f"{where}: {value!r}"]
        return found + [breach for item in value for breach in breaches(item, rules[0], where)]
    known = {name.lstrip("!"): rule for name, rule in rules.items()}
    found = [f"{where}: unknown {name}" for name in value.keys() - known.keys()]
    found += [f"{where}: no {name[1:]}" for name in rules if name.startswith("!") and name[1:] not in value]
    for name in value.keys() & known.keys():
        found += breaches(value[name], known[name], f"{where}.{name}")
    return found


def make_zip(path, program="stackpack.exe"):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{path.stem}/{program}", b"MZ")
        archive.writestr(f"{path.stem}/licences/zlib.txt", b"")


def run(source, *arguments):
    return subprocess.run([sys.executable, "-B", str(source / "scripts" / "windows-manifests"), *map(str, arguments)],
                          capture_output=True, text=True, check=False)


def check_content(out, archive):
    problems = []
    if sorted(path.name for path in (out / "winget").iterdir()) != sorted(WINGET):
        problems.append("other files for winget")
    values = {}
    for name, rules in WINGET.items():
        content = (out / "winget" / name).read_bytes().decode()
        if content.count("\n") != content.count("\r\n"):
            problems.append(f"{name}: ends of lines")
        values |= blocks(content.split("\r\n")[:-1])
        problems += breaches(blocks(content.split("\r\n")[:-1]), rules, name)
    scoop = json.loads((out / "stackpack.json").read_text())
    problems += breaches(scoop, SCOOP, "scoop")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    here = scoop["architecture"]["64bit"]
    said = {values["Installers"][0]["InstallerSha256"].lower(), here["hash"]}
    if said != {digest} or values["Installers"][0]["InstallerUrl"] != URL or here["url"] != URL:
        problems.append(f"checksum {said}, or another address")
    with zipfile.ZipFile(archive) as members:
        for program in (values["NestedInstallerFiles"][0]["RelativeFilePath"].replace("\\", "/"),
                        here["extract_dir"] + "/" + scoop["bin"]):
            if program not in members.namelist():
                problems.append(f"no {program} in the archive")
    if values["PackageVersion"] != scoop["version"] or scoop["version"] not in archive.name:
        problems.append("another version")
    return problems


def check_refusals(source, folder, good):
    bare = folder / "stackpack-0.2.0-windows-x86_64.zip"
    make_zip(bare, "other.exe")
    renamed = folder / "program.zip"
    make_zip(renamed)
    broken = folder / "stackpack-0.3.0-windows-x86_64.zip"
    broken.write_bytes(b"PK")
    out = folder / "refused"
    cases = [(bare, URL, HOMEPAGE), (renamed, URL, HOMEPAGE), (broken, URL, HOMEPAGE), (good, "ftp://a.example/x", HOMEPAGE),
             (good, "stackpack.zip", HOMEPAGE), (good, URL, "https://a b"), (good, URL, 'https://a.example/"')]
    problems = []
    for case, url, homepage in cases:
        end = run(source, case, "--url", url, "--homepage", homepage, "--out", out)
        if end.returncode != 1 or end.stderr.count("\n") != 1 or out.exists():
            problems.append(f"{case.name} {url} {homepage}: {end.returncode} {end.stderr}")
    return problems


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if len(sys.argv) > 2:
            archive = pathlib.Path(sys.argv[2])
        else:
            archive = folder / "stackpack-0.1.0-windows-x86_64.zip"
            make_zip(archive)
        end = run(source, archive, "--url", URL, "--homepage", HOMEPAGE, "--out", folder / "out")
        problems = [end.stderr] if end.returncode != 0 else check_content(folder / "out", archive)
        problems += check_refusals(source, folder, archive)
    print("\n".join(problems) or "manifests as winget and scoop want them")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
