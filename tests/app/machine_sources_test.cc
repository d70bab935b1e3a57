#include "app/symbolize/machine_sources.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "app/symbolize/map_plans.h"
#include "io/this_machine.h"
#include "support/own_code.h"
#include "support/spk_reading.h"
#include "support/temporary_folder.h"
#include "symbolize/symbol_files.h"

namespace stackpack::test {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kNobody = 4'199'999;  // above what Linux gives

Module kernel_with(std::vector<std::uint8_t> id) {
  Module kernel;
  kernel.path = "[kernel.kallsyms]";
  kernel.build_id_kind = BuildIdKind::kGnu;
  kernel.build_id = std::move(id);
  return kernel;
}

// The build id of the kernel that runs: the last note but those after it are of no interest here.
std::vector<std::uint8_t> id_of_running_kernel() {
  const std::vector<std::byte> notes = io::running_kernel_notes();
  const std::string text(reinterpret_cast<const char*>(notes.data()), notes.size());
  const std::string head("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
  const std::size_t at = text.find(head);
  if (at == std::string::npos) {
    return {};
  }
  const std::string id = text.substr(at + head.size(), 20);
  return {id.begin(), id.end()};
}

std::string put_list(const ScratchDirectory& folder, const std::vector<std::uint8_t>& id,
                     const std::string& text) {
  const std::string hex = symbolize::build_id_text(id);
  const std::string place =
      folder.file("cache/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2));
  std::filesystem::create_directories(place);
  std::ofstream(place + "/kallsyms") << text;
  return place + "/kallsyms";
}

SpkContent recording(std::uint64_t last) {
  SpkContent content;
  content.stacks = {{Frame{FrameMode::kUser, 0x1000}}};
  StoredSample sample;
  sample.time_ns = last;
  sample.pid = sample.tid = 7;
  sample.origin = StackOrigin::kRecorded;
  sample.stack = 0;
  content.samples = {sample};
  return content;
}

app::RecordingTimes times_of(const SpkContent& content, const std::vector<MetadataEntry>& metadata,
                             const std::string& path) {
  const std::vector<std::byte> bytes = spk_bytes(content);
  const auto reader = Reader::open_memory(bytes);
  REQUIRE(reader.has_value());
  const auto times = app::times_of_recording(**reader, metadata, path);
  REQUIRE(times.has_value());
  return *times;
}

}  // namespace

TEST_CASE("machine sources: a list of the kernel counts by build id alone") {
  const ScratchDirectory folder;
  const std::vector<std::string> caches{folder.file("cache")};
  const std::vector<std::uint8_t> id(20, 0x5A);
  CHECK(app::kernel_list_of(kernel_with(id), {}, caches, "").path.empty());
  CHECK(app::kernel_list_of(kernel_with({}), {}, caches, "").path.empty());
  const std::string kept = put_list(folder, id, "ffffffff81000000 T _text\n");
  const app::KernelReference moved{"_text", 0xffff'ffff'8200'0000};
  const app::KernelList list = app::kernel_list_of(kernel_with(id), moved, caches, "");
  CHECK(list.path == kept);
  CHECK_FALSE(list.with_modules);
  CHECK(app::kernel_list_of(kernel_with(id), {"_text", 0xffff'ffff'8100'0000}, caches, "")
            .with_modules);
  std::vector<std::uint8_t> other = id;
  other.back() = 0;
  CHECK(app::kernel_list_of(kernel_with(other), moved, caches, "").path.empty());
  put_list(folder, id, "0000000000000000 T _text\n");
  const app::KernelList hidden = app::kernel_list_of(kernel_with(id), moved, caches, "");
  CHECK(hidden.path.empty());
  CHECK_FALSE(hidden.reason.empty());
}

TEST_CASE("machine sources: without a build id the running kernel fits by release and address") {
  const Result<std::optional<std::uint64_t>> text =
      app::kallsyms_address("/proc/kallsyms", "_text");
  const std::string release = io::kernel_release();
  const auto list = [&](const app::KernelReference& reference, std::string_view recorded) {
    return app::kernel_list_of(kernel_with({}), reference, {}, recorded);
  };
  if (!text || !*text) {
    CHECK(list({"_text", 1}, release).path.empty());
    return;  // a machine that does not show it
  }
  const app::KernelList fits = list({"_text", **text}, release);
  CHECK(fits.path == "/proc/kallsyms");
  CHECK(fits.with_modules);
  CHECK(fits.reason.starts_with("believed by its release"));
  CHECK(list({"_text", **text}, "").path.empty());  // of another machine
  CHECK(list({"_text", **text}, release + "-other").path.empty());
  CHECK(list({"_text", **text + 0x200000}, release).path.empty());
  CHECK(list({}, release).path.empty());
}

TEST_CASE("machine sources: the running kernel has its list, or says how to see it") {
  const std::vector<std::uint8_t> id = id_of_running_kernel();
  if (id.empty() || !std::ifstream("/proc/kallsyms")) {
    return;  // a machine that does not show it
  }
  const app::KernelList list = app::kernel_list_of(kernel_with(id), {}, {}, "");
  if (list.path.empty()) {
    CHECK(list.reason.find("kptr_restrict") != std::string::npos);
  } else {
    CHECK(list.path == "/proc/kallsyms");
  }
}

TEST_CASE("machine sources: a capture is of this machine by the name of its host") {
  CHECK_FALSE(app::is_of_this_machine({}));
  const std::vector<MetadataEntry> here{{"host.name", io::host_name()}};
  CHECK(app::is_of_this_machine(here));
  const std::vector<MetadataEntry> elsewhere{{"host.name", io::host_name() + "x"}};
  CHECK_FALSE(app::is_of_this_machine(elsewhere));
}

TEST_CASE("machine sources: when a recording ended") {
  const ScratchDirectory folder;
  const std::string file = folder.file("perf.data");
  std::ofstream(file) << "data";
  const std::vector<MetadataEntry> told{{"clock.wall_offset_ns", "5000"}};
  CHECK(times_of(recording(100), told, "").ended_ns == 5100);
  CHECK(times_of(recording(100), told, "").wall_offset_ns == 5000);
  // Another clock than that of the machine: the file alone says something.
  const std::vector<MetadataEntry> unknown{{"clock.id", "tai"}};
  CHECK_FALSE(times_of(recording(100), unknown, "").ended_ns);
  const app::RecordingTimes written = times_of(recording(100), unknown, file);
  CHECK(written.ended_ns);
  CHECK_FALSE(written.wall_offset_ns);
  // Counted from the start of the machine, which this file is younger than.
  const std::uint64_t now = io::monotonic_now();
  const app::RecordingTimes counted = times_of(recording(now - kSecond), {}, file);
  REQUIRE(counted.wall_offset_ns);
  CHECK(*counted.ended_ns < *written.ended_ns);
  CHECK(*counted.ended_ns > *written.ended_ns - 60 * kSecond);
  // A clock that is ahead of this machine's is that of another start.
  CHECK_FALSE(times_of(recording(now + 3600ULL * kSecond), {}, "").wall_offset_ns);
}

TEST_CASE("machine sources: a map of a process is as old as the process and no younger than it") {
  const std::string path = "/tmp/perf-" + std::to_string(kNobody) + ".map";
  std::filesystem::remove(path);
  CHECK(app::plan_map_of_process(kNobody, {}).files.empty());
  std::ofstream(path) << "1000 10 jitted\n";
  CHECK(app::plan_map_of_process(kNobody, {}).found == path);
  const std::int64_t now =
      *io::wall_offset_of_monotonic() + static_cast<std::int64_t>(io::monotonic_now());
  CHECK(app::plan_map_of_process(kNobody, {now - kSecond, now + kSecond}).found == path);
  const app::ReadPlan older = app::plan_map_of_process(kNobody, {now + 60 * kSecond, {}});
  CHECK(older.files.empty());
  CHECK(older.reason.find("older than the process") != std::string::npos);
  const app::ReadPlan younger = app::plan_map_of_process(kNobody, {{}, now - 60 * kSecond});
  CHECK(younger.files.empty());
  CHECK(younger.reason.find("after the recording") != std::string::npos);
  std::filesystem::remove(path);
}

TEST_CASE("machine sources: a jitdump file is believed by the same rules as a map") {
  const ScratchDirectory folder;
  const std::string path = folder.file("jit-7.dump");
  CHECK(app::plan_jitdump_of_process(path, true, {}).files.empty());
  std::ofstream(path) << "JiTD";
  const std::int64_t now =
      *io::wall_offset_of_monotonic() + static_cast<std::int64_t>(io::monotonic_now());
  const app::ReadPlan plan =
      app::plan_jitdump_of_process(path, true, {now - kSecond, now + kSecond});
  CHECK(plan.found == path);
  CHECK(plan.read != nullptr);
  const app::ReadPlan older = app::plan_jitdump_of_process(path, true, {now + 60 * kSecond, {}});
  CHECK(older.read == nullptr);
  CHECK(older.reason.find("older than the process") != std::string::npos);
  const app::ReadPlan younger = app::plan_jitdump_of_process(path, true, {{}, now - 60 * kSecond});
  CHECK(younger.reason.find("after the recording") != std::string::npos);
  constexpr ::uid_t kAnother = 65'534;
  if (::chown(path.c_str(), kAnother, kAnother) == 0) {  // as root alone
    const app::ReadPlan foreign = app::plan_jitdump_of_process(path, true, {});
    CHECK(foreign.files.empty());
    CHECK(foreign.reason.find("another user") != std::string::npos);
  }
}

TEST_CASE(
    "machine sources: a file without a build id is believed where nothing speaks against it") {
  const symbolize::ElfIdentity own = own_identity();
  const auto code = std::find_if(own.segments.begin(), own.segments.end(),
                                 [](const symbolize::ElfSegment& part) { return part.executable; });
  REQUIRE(code != own.segments.end());
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t begin = code->offset / kPage * kPage;
  const std::uint64_t size =
      (code->offset - begin + code->memory_bytes + kPage - 1) / kPage * kPage;
  std::vector<symbolize::ImageMapping> mappings{{7, 0x5000'0000, size, begin}};
  const auto find = [&mappings](const symbolize::SymbolPlaces& places) {
    return symbolize::find_elf_files({own_path(), {}, mappings}, places);
  };
  symbolize::SymbolPlaces places;
  CHECK(find(places).end == symbolize::SearchEnd::kNoBuildId);
  places.unchanged_since_ns = std::numeric_limits<std::int64_t>::max();
  const symbolize::FoundFiles found = find(places);
  CHECK(found.end == symbolize::SearchEnd::kFound);
  CHECK(found.by_path);
  mappings.push_back({8, 0x6000'0000, kPage, begin});  // a part of it
  CHECK(find(places).end == symbolize::SearchEnd::kFound);
  mappings.push_back({8, 0x7000'0000, size + kPage, begin});
  CHECK(find(places).end == symbolize::SearchEnd::kChanged);
  mappings.back() = {8, 0x7000'0000, kPage, begin + size};
  CHECK(find(places).end == symbolize::SearchEnd::kChanged);
  mappings.pop_back();
  CHECK_FALSE(found.same_inode);
  // With an inode, its file and no other one. Devices may differ, and generations not be known.
  struct stat there {};
  REQUIRE(::stat(own_path().c_str(), &there) == 0);
  mappings.resize(1);
  MappedFile& file = mappings.front().file;
  file = {static_cast<std::uint32_t>(major(there.st_dev)),
          static_cast<std::uint32_t>(minor(there.st_dev)), there.st_ino, 0};
  CHECK(find(places).same_inode);
  CHECK_FALSE(find(places).other_device);
  ++file.device_minor;
  CHECK(find(places).end == symbolize::SearchEnd::kFound);
  CHECK(find(places).other_device);
  ++file.inode;
  CHECK(find(places).end == symbolize::SearchEnd::kOtherFile);
  file = {};
  places.unchanged_since_ns = kSecond;  // the program was linked since
  CHECK(find(places).end == symbolize::SearchEnd::kChanged);
}

}  // namespace stackpack::test
