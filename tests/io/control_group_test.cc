#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "io/this_machine.h"
#include "support/temporary_folder.h"

namespace stackpack::io {

namespace {

// Control groups as they look below a folder.
class FakeSystem {
 public:
  FakeSystem(const std::string& mountinfo, const std::string& cgroup) {
    write("proc/self/mountinfo", mountinfo);
    write("proc/self/cgroup", cgroup);
  }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] std::uint64_t limit() const { return control_group_limit(folder_.file("")); }

 private:
  test::ScratchDirectory folder_;
};

constexpr const char* kUnified =
    "24 1 0:22 / /proc rw - proc proc rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kSplit =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 master:2 - cgroup cgroup rw,memory\n";

}  // namespace

TEST_CASE("machine memory: the tightest of a group and those above it, version 2") {
  const FakeSystem system(kUnified, "0::/user.slice/a.scope\n");
  CHECK(system.limit() == kNoMemoryLimit);
  system.write("sys/fs/cgroup/user.slice/a.scope/memory.max", "max\n");
  CHECK(system.limit() == kNoMemoryLimit);
  system.write("sys/fs/cgroup/user.slice/memory.max", "3000000\n");
  CHECK(system.limit() == 3'000'000);
  system.write("sys/fs/cgroup/user.slice/a.scope/memory.max", "4000000\n");
  CHECK(system.limit() == 3'000'000);
  system.write("sys/fs/cgroup/user.slice/a.scope/memory.max", "2000000\n");
  CHECK(system.limit() == 2'000'000);
  system.write("sys/fs/cgroup/user.slice/other/memory.max", "1000\n");
  CHECK(system.limit() == 2'000'000);
  system.write("sys/fs/cgroup/memory.max", "1000000\n");
  CHECK(system.limit() == 1'000'000);
}

TEST_CASE("machine memory: version 1, and what it says of groups that cannot be seen") {
  const FakeSystem system(kSplit,
                          "9:name=systemd:/\n4:memory:/jobs/7\n2:cpu,cpuacct:/jobs\n0::/\n");
  CHECK(system.limit() == kNoMemoryLimit);
  system.write("sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(system.limit() == 9'223'372'036'854'771'712U);
  system.write("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "5000000\n");
  CHECK(system.limit() == 5'000'000);
  system.write("sys/fs/cgroup/memory/jobs/7/memory.stat",
               "cache 1\nhierarchical_memory_limit 4000000\nhierarchical_memsw_limit 1\n");
  CHECK(system.limit() == 4'000'000);
  // A limit of other things, and of a folder that is no group of ours.
  system.write("sys/fs/cgroup/cpu,cpuacct/jobs/memory.limit_in_bytes", "1\n");
  CHECK(system.limit() == 4'000'000);
}

TEST_CASE("machine memory: in a container the mount is of a part of the hierarchy") {
  const FakeSystem split(
      "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
      "4:memory:/docker/abc\n");
  split.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "6000000\n");
  CHECK(split.limit() == 6'000'000);
  // The group is named by the host, and is not below the mount: its root is all there is.
  const FakeSystem other("35 31 0:32 /../../docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
                         "0::/\n");
  other.write("sys/fs/cgroup/memory.max", "7000000\n");
  CHECK(other.limit() == 7'000'000);
}

TEST_CASE("machine memory: files that are something else give no limit") {
  const char* const mounts[] = {"",
                                "\n\n",
                                "a - b",
                                "1 2 3 / /x rw - cgroup2",
                                "1 2 3 / /x rw -",
                                "- - - - - - - cgroup2 x y"};
  for (const char* const text : mounts) {
    CAPTURE(text);
    const FakeSystem system(text, "0::/a\n:::\nmemory\n4:memory\n");
    CHECK(system.limit() == kNoMemoryLimit);
  }
  const FakeSystem odd(kUnified, "0::a/b//\n");
  for (const char* const text : {"", "0", "-5", "many", "99999999999999999999999"}) {
    CAPTURE(text);
    odd.write("sys/fs/cgroup/memory.max", text);
    CHECK(odd.limit() == kNoMemoryLimit);
  }
}

TEST_CASE("machine memory: this machine's groups allow no more") {
  CHECK(usable_memory() <= control_group_limit(""));
}

}  // namespace stackpack::io
