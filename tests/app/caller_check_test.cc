#include "app/symbolize/caller_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/symbolize/symbolize.h"
#include "io/byte_source.h"
#include "stackpack/reader.h"
#include "support/own_code.h"
#include "support/spk_reading.h"
#include "support/temporary_folder.h"
#include "symbolize/traced_code.h"
#include "unwind/call_site.h"

namespace stackpack::test {

namespace {

constexpr std::uint16_t kX64 = 62;
constexpr std::uint16_t kAarch64 = 183;
constexpr std::uint64_t kPage = 4096;

// Code of x86-64 in which every tenth byte ends a direct call.
std::vector<std::byte> code_with_calls(std::size_t calls) {
  constexpr std::size_t kSpacing = 10;
  constexpr std::size_t kCallBytes = 5;
  std::vector<std::byte> code(calls * kSpacing, std::byte{0x90});
  for (std::size_t i = 0; i < calls; ++i) {
    code[i * kSpacing + kSpacing - kCallBytes] = std::byte{0xE8};
  }
  return code;
}

// Offsets of the last bytes of the first `right` calls, and of `wrong` bytes that end none.
std::vector<std::uint64_t> callers(std::size_t right, std::size_t wrong) {
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = 0; i < right; ++i) {
    offsets.push_back(i * 10 + 9);
  }
  for (std::size_t i = 0; i < wrong; ++i) {
    offsets.push_back((right + i) * 10 + 4);
  }
  return offsets;
}

app::CallerCheck check(std::size_t right, std::size_t wrong) {
  const std::vector<std::byte> code = code_with_calls(1000);
  const auto file = io::source_of_memory(code);
  return app::check_callers(*file, kX64, callers(right, wrong));
}

// Offsets in this program's file of bytes before return addresses: of calls, or of other places.
std::vector<std::uint64_t> own_places(bool after_calls, std::size_t count) {
  std::ifstream in(own_path(), std::ios::binary);
  std::vector<std::uint64_t> places;
  const symbolize::ElfIdentity own = own_identity();
  const auto code = std::find_if(own.segments.begin(), own.segments.end(),
                                 [](const symbolize::ElfSegment& part) { return part.executable; });
  REQUIRE(code != own.segments.end());
  std::string text(code->file_bytes, '\0');
  in.seekg(static_cast<std::streamoff>(code->offset));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto bytes = std::as_bytes(std::span(text));
  const auto machine = own.machine == kAarch64 ? unwind::Machine::kAarch64 : unwind::Machine::kX64;
  constexpr std::size_t kStep = 4;
  for (std::size_t i = 2 * kStep; i < bytes.size() && places.size() < count; i += kStep) {
    const std::size_t first = i > unwind::kMostCallBytes ? i - unwind::kMostCallBytes : 0;
    if (unwind::ends_with_call(machine, bytes.subspan(first, i - first)) == after_calls) {
      places.push_back(code->offset + i - 1);
    }
  }
  REQUIRE(places.size() == count);
  return places;
}

// A capture without build ids: this program's code is mapped, and the callers' frames return to the
// bytes after `before_returns`.
// `supported`: they are called from the image, not from an address in none.
std::string write_capture(const ScratchDirectory& folder,
                          const std::vector<std::uint64_t>& before_returns, bool supported) {
  constexpr std::uint64_t kBase = 0x5000'0000;
  const symbolize::ElfIdentity own = own_identity();
  const auto code = std::find_if(own.segments.begin(), own.segments.end(),
                                 [](const symbolize::ElfSegment& part) { return part.executable; });
  REQUIRE(code != own.segments.end());
  Module module;
  module.pid = 7;
  module.base = kBase;
  module.file_offset = code->offset / kPage * kPage;
  module.size =
      (code->offset - module.file_offset + code->memory_bytes + kPage - 1) / kPage * kPage;
  module.path = own_path();
  SpkContent content;
  content.tables.modules = {module};
  content.tables.processes = {{7, 1, kUnknownTime, kUnknownTime, false, "prog", ""}};
  for (const std::uint64_t before : before_returns) {
    const Frame caller{FrameMode::kUser, kBase + (before + 1 - module.file_offset)};
    const Frame leaf{FrameMode::kUser,
                     kBase + (own_offset_of(&traced_outer) + 2 - module.file_offset)};
    const Frame root{FrameMode::kUser, supported ? kBase + 64 : 64};
    content.stacks.insert({root, caller, leaf});
    StoredSample sample;
    sample.time_ns = 100;
    sample.pid = sample.tid = 7;
    sample.origin = StackOrigin::kRecorded;
    sample.stack = static_cast<StackId>(content.samples.size());
    content.samples.push_back(sample);
  }
  const std::string file = folder.file("in.spk");
  std::ofstream out(file, std::ios::binary);
  for (const std::byte byte : spk_bytes(content)) {
    out.put(static_cast<char>(byte));
  }
  return file;
}

app::ImageReport report_of(const std::vector<std::uint64_t>& before_returns,
                           bool supported = true) {
  const ScratchDirectory folder;
  app::SymbolizeOptions options;
  options.places.unchanged_since_ns = std::numeric_limits<std::int64_t>::max();
  const auto report = app::symbolize_file(write_capture(folder, before_returns, supported),
                                          folder.file("out.spk"), options, nullptr);
  REQUIRE(report.has_value());
  const auto image =
      std::find_if(report->images.begin(), report->images.end(),
                   [](const app::ImageReport& row) { return row.path == own_path(); });
  REQUIRE(image != report->images.end());
  return *image;
}

}  // namespace

TEST_CASE("caller check: callers speak against a file when fewer than a quarter follow a call") {
  CHECK_FALSE(check(0, 7).speaks_against());  // too few
  CHECK(check(0, 8).speaks_against());
  CHECK(check(1, 7).speaks_against());
  CHECK_FALSE(check(2, 6).speaks_against());
  CHECK(check(24, 76).speaks_against());
  CHECK_FALSE(check(25, 75).speaks_against());
  CHECK(check(24, 76).looked_at == 100);
  CHECK(check(24, 76).after_calls == 24);
}

TEST_CASE("caller check: of many callers 256 are looked at, from the first to the last quarter") {
  const app::CallerCheck some = check(500, 500);
  CHECK(some.looked_at == 256);
  CHECK(some.after_calls == 128);
}

TEST_CASE(
    "caller check: a file that ends before an address, and one of a machine that is not known") {
  const std::vector<std::byte> code = code_with_calls(1);
  const auto file = io::source_of_memory(code);
  const std::array<std::uint64_t, 3> offsets{1, 9, 10};
  const app::CallerCheck check = app::check_callers(*file, kX64, offsets);
  CHECK(check.looked_at == 3);
  CHECK(check.after_calls == 1);
  constexpr std::uint16_t kRiscV = 243;
  CHECK(app::check_callers(*file, kRiscV, offsets).looked_at == 0);
  const std::array<std::byte, 4> branch{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x94}};
  const auto arm = io::source_of_memory(branch);
  CHECK(app::check_callers(*arm, kAarch64, std::array<std::uint64_t, 1>{3}).after_calls == 1);
}

TEST_CASE("caller check: a file that its path alone says to be the image is refused for its code") {
  if (!own_identity().has_image_offsets) {
    return;
  }
  const app::ImageReport right = report_of(own_places(true, 20));
  CHECK(right.found == own_path());
  CHECK(right.named > 0);
  const app::ImageReport wrong = report_of(own_places(false, 20));
  CHECK(wrong.found.empty());
  CHECK(wrong.named == 0);
  CHECK(wrong.reason ==
        "0 of 20 return addresses follow a call in the file with its path: it has changed");
  // A walk by frame pointers made them up: they say nothing.
  CHECK(report_of(own_places(false, 20), false).found == own_path());
}

}  // namespace stackpack::test
