#!/usr/bin/env python3
"""The recipes for package managers parse, name the project's version, and build with what the sources look for:
recipes_test.py SOURCE_DIR. 77: no PyYAML, or no tomllib.

Their managers cannot be asked here: each is read in its own language, and held against CMakeLists.txt. What documents, examples and
recipes install from elsewhere is somebody else's package that install_commands.py names.
"""
import ast
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import install_commands

try:
    import tomllib

    import yaml
except ImportError:
    # Debian's own Python has it, where another one comes first.
    if os.path.realpath(sys.executable) != os.path.realpath("/usr/bin/python3") and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])
    print("skipped: no PyYAML (python3-yaml), or a Python before 3.11")
    sys.exit(77)

# What a manager calls the libraries that CMakeLists.txt and cmake/Demanglers.cmake ask for.
LIBRARIES = {"elfutils", "zstd", "xxhash", "zlib", "lzma", "fmt", "protozero", "rapidjson", "cli11", "tomlplusplus", "re2"}
OTHER_NAMES = {"liblzma": "lzma", "liblzma-devel": "lzma", "xz_utils": "lzma", "libprotozero-dev": "protozero"}
OF_DEBIAN = {"libdw-dev": "elfutils", "libzstd-dev": "zstd", "libxxhash-dev": "xxhash", "zlib1g-dev": "zlib", "liblzma-dev": "lzma",
             "libfmt-dev": "fmt", "rapidjson-dev": "rapidjson", "libcli11-dev": "cli11", "libelf-dev": "elfutils", "libtomlplusplus-dev": "tomlplusplus",
             "libre2-dev": "re2", "libiberty-dev": "libiberty", "llvm-dev": "libiberty", "debhelper-compat": "cmake", "ninja-build": "ninja"}
TOOLS = {"cmake", "ninja", "pkg-config", "gzip", "vcpkg-cmake", "vcpkg-cmake-config", "libiberty"}


def fail_unless(condition, what):
    if not condition:
        raise SystemExit(f"WRONG {what}")


def same_libraries(what, names):
    found = {OTHER_NAMES.get(name, name) for name in names} - TOOLS
    fail_unless(found == LIBRARIES, f"{what}: asks for {sorted(found)}, and the sources for {sorted(LIBRARIES)}")


def options_of(text):
    return set(re.findall(r"(?:-D|\[\")(STACKPACK_[A-Z_]+)", text))


def check_vcpkg(folder, version):
    manifest = json.loads((folder / "vcpkg.json").read_text(encoding="utf-8"))
    fail_unless(manifest["version"] == version, "vcpkg: version")
    fail_unless(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"]), "vcpkg: name")
    names = [entry if isinstance(entry, str) else entry["name"] for entry in manifest["dependencies"]]
    plain = [entry for entry in manifest["dependencies"] if isinstance(entry, str)]
    fail_unless(plain == sorted(plain), "vcpkg: dependencies are in order")
    same_libraries("vcpkg", names)
    # CMake reads the port; what vcpkg defines is played, and must be called with the sources.
    script = """foreach(name vcpkg_cmake_configure vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_copy_tools
      vcpkg_fixup_pkgconfig vcpkg_install_copyright)
  cmake_language(EVAL CODE "function(${name})\\n message(\\"called ${name} \\${ARGN}\\")\\nendfunction()")
endforeach()
set(CURRENT_PACKAGES_DIR "${work}/none")
include("${port}")
"""
    with tempfile.TemporaryDirectory() as work:
        path = pathlib.Path(work) / "play.cmake"
        path.write_text(script, encoding="utf-8")
        said = subprocess.run(["cmake", f"-Dport={folder / 'portfile.cmake'}", f"-Dwork={work}", "-P", path], check=True,
                              capture_output=True, text=True).stderr
    called = re.search(r"called vcpkg_cmake_configure SOURCE_PATH;([^;]+);", said)
    fail_unless(called and (pathlib.Path(called[1]) / "CMakeLists.txt").exists(), "vcpkg: configures the checkout")


def check_conan(path, version):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    recipe = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    fields = {node.targets[0].id: ast.literal_eval(node.value) for node in recipe.body if isinstance(node, ast.Assign)}
    fail_unless(fields["version"] == version and fields["name"] == "stackpack", "conan: name and version")
    methods = {node.name: node for node in recipe.body if isinstance(node, ast.FunctionDef)}
    for name in ("requirements", "layout", "generate", "build", "package", "package_info"):
        fail_unless(name in methods, f"conan: has {name}()")
    asked = [node.value for name in ("requirements", "system_requirements") for node in ast.walk(methods[name])
             if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    same_libraries("conan", [one.split("/")[0] for one in asked])
    root = path.parents[2]
    for node in ast.walk(methods["export_sources"]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != "..":
            fail_unless(any(root.glob(node.value)), f"conan: {node.value} is in the checkout")


def check_conda(path, version):
    recipe = yaml.safe_load(path.read_text(encoding="utf-8"))
    fail_unless(recipe["schema_version"] == 1 and recipe["context"]["version"] == version, "conda: version")
    for key in ("package", "source", "build", "requirements", "tests", "about"):
        fail_unless(key in recipe, f"conda: has {key}")
    same_libraries("conda", [name.split()[0] for name in recipe["requirements"]["host"]])
    root = (path.parent / recipe["source"]["path"]).resolve()
    for name in recipe["tests"][0]["files"]["source"] + [recipe["about"]["license_file"]]:
        fail_unless((root / name).is_file(), f"conda: {name} is in the checkout")


def check_debian(folder, version):
    """The version, the libraries, and the symbols: all of the C API, each since a version that was."""
    root = folder.parent
    fail_unless((folder / "changelog").read_text(encoding="utf-8").startswith(f"stackpack ({version}-"), "debian: version")
    control = (folder / "control").read_text(encoding="utf-8")
    asked = re.search(r"^Build-Depends: (.*(?:\n .*)*)", control, re.M)[1]
    names = [name.split()[0] for name in asked.replace("\n", "").split(",")]
    llvm = re.search(r"^llvm_version=(\d+)$", (root / "scripts/lib/packages.sh").read_text(encoding="utf-8"), re.M)
    fail_unless(llvm and set(re.findall(r"llvm-(\d+)-dev", control)) == {llvm[1]}, "debian: another LLVM than scripts/lib/packages.sh")
    same_libraries("debian", [OF_DEBIAN.get(name, name) for name in (re.sub(r"^llvm-\d+-", "llvm-", name) for name in names)])
    package = f"libstackpack{version.rpartition('.')[0]}"
    fail_unless(f"\nPackage: {package}\n" in control, f"debian: {package}")
    symbols = (folder / f"{package}.symbols").read_text(encoding="utf-8")
    since = dict(re.findall(r"^ (\w+)@\w+\.\d+ ([0-9.]+)$", symbols, re.M))
    headers = "".join(path.read_text(encoding="utf-8") for path in (root / "include/stackpack").glob("c_*.h"))
    declared = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
    functions = set(re.findall(r"\b(stackpack_\w+)\(", declared)) - set(re.findall(r"\(\*(stackpack_\w+)\)", declared))
    fail_unless(set(since) == functions, f"debian: symbols and headers differ in {sorted(set(since) ^ functions)}")
    fail_unless(set(since.values()) <= {version}, "debian: symbols of a later version")
    for path in folder.glob("*.docs"):
        for name in path.read_text(encoding="utf-8").split():
            fail_unless((root / name).is_file(), f"debian: {name} is in the checkout")


def check_python(source, version):
    """The distribution has a name of its own, and nothing installs it, or anything of that name, from a registry."""
    with open(source / "pyproject.toml", "rb") as file:
        told = tomllib.load(file)
    project = told["project"]
    fail_unless(project["version"] == version, "pyproject.toml: version")
    # On PyPI that is another project's.
    fail_unless(project["name"] != "stackpack", "pyproject.toml: name")
    extras = [name for names in project["optional-dependencies"].values() for name in names]
    found = install_commands.check(source, project["name"], told["build-system"]["requires"] + project["dependencies"] + extras)
    fail_unless(not found, "\n      ".join(["what is installed:", *found]))


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    project = (source / "CMakeLists.txt").read_text(encoding="utf-8")
    version = re.search(r"project\(stackpack VERSION ([0-9.]+)", project)[1]
    packaging = source / "packaging"
    check_vcpkg(packaging / "vcpkg", version)
    check_conan(packaging / "conan" / "conanfile.py", version)
    check_conda(packaging / "conda" / "recipe.yaml", version)
    check_debian(source / "debian", version)
    check_python(source, version)
    known = set(re.findall(r"option\((STACKPACK_[A-Z_]+)", project + (source / "cmake/Demanglers.cmake").read_text(encoding="utf-8")))
    for path in (packaging / "vcpkg/portfile.cmake", packaging / "conan/conanfile.py", packaging / "conda/recipe.yaml"):
        unknown = options_of(path.read_text(encoding="utf-8")) - known
        fail_unless(not unknown, f"{path}: CMakeLists.txt has no {sorted(unknown)}")
    print("recipes of vcpkg, Conan, conda and Debian fit the sources")
    return 0


if __name__ == "__main__":
    sys.exit(main())
