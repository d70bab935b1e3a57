"""`conan create packaging/conan` in a checkout: the program, the library and their headers."""
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps
from conan.tools.system.package_manager import Apt


class Stackpack(ConanFile):
    name = "stackpack"
    version = "0.1.0"
    description = "Turns profiler captures into a compact, checksummed callstack database"
    license = "Apache-2.0"
    homepage = "https://stackpack.example/"
    topics = ("profiling", "perf", "etw", "flamegraph")
    settings = "os", "arch", "compiler", "build_type"
    package_type = "library"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "cmake/*", "docs/*", "include/*", "packaging/*", "src/*"):
            copy(self, pattern, src=root, dst=self.export_sources_folder)

    def requirements(self):
        for package in ("zstd/[>=1.5]", "xxhash/[>=0.8]", "zlib/[>=1.2.11 <2]", "xz_utils/[>=5.2 <6]", "elfutils/[>=0.180]",
                        "libiberty/9.1.0", "fmt/[>=9 <12]", "cli11/[>=2.1 <3]", "rapidjson/[>=1.1]", "re2/[>=20220601]",
                        "tomlplusplus/[>=3.3 <4]"):
            self.requires(package)

    def system_requirements(self):
        # ConanCenter has no protozero, which is headers alone.
        Apt(self).install(["libprotozero-dev"], check=True)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("the package is for Linux; scripts/windows makes the program for Windows")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["STACKPACK_TESTS"] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["stackpack"]
        self.cpp_info.set_property("cmake_target_name", "stackpack::stackpack")
        self.cpp_info.set_property("pkg_config_name", "stackpack")
