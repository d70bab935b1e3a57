#include "app/convert/fingerprint.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "app/symbolize/symbolize.h"
#include "stackpack/reader.h"
#include "support/perf_writer.h"
#include "support/temporary_folder.h"

namespace stackpack::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kStacks = "main;work;leaf 3\nmain;idle 4\n";

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

bool up_to_date(const std::string& input, const std::string& output,
                const ConvertOptions& options) {
  const Result<std::string> content = content_of(input);
  REQUIRE(content);
  return is_up_to_date(input, output, *content, options);
}

}  // namespace

TEST_CASE("fingerprint: content and every option that shapes the file make another one") {
  std::set<std::string> seen;
  const auto add = [&seen](const ConvertOptions& options, bool left_out = false) {
    CHECK(seen.insert(fingerprint_of("content", options, left_out)).second);
  };
  ConvertOptions options;
  add(options);
  options.redact = true;
  add(options);
  options.samples = false;
  add(options);
  options.level = 3;
  add(options);
  options.member = "a.etl";
  add(options);
  options.format = "perf";
  add(options);
  options.memory_limit = 1 << 24;
  CHECK(seen.contains(fingerprint_of("content", options, false)));  // nothing was left out
  add(options, true);
  options.memory_limit = 1 << 25;
  add(options, true);
  options.encoders = 0;
  options.force = true;
  CHECK(seen.contains(fingerprint_of("content", options, true)));
  CHECK(seen.insert(fingerprint_of("other content", options, true)).second);
  CHECK(fingerprint_of("", options, false).empty());
}

TEST_CASE("up to date: same content, same options, and not older than the input") {
  const test::ScratchDirectory folder;
  const std::string input = folder.file("in.folded");
  const std::string output = folder.file("out.spk");
  write_text(input, kStacks);
  const ConvertOptions options;
  CHECK_FALSE(up_to_date(input, output, options));  // not there
  REQUIRE(convert(input, output, options, nullptr));
  CHECK(up_to_date(input, output, options));
  ConvertOptions redacted = options;
  redacted.redact = true;
  CHECK_FALSE(up_to_date(input, output, redacted));
  ConvertOptions limited = options;
  limited.memory_limit = 1 << 24;
  CHECK(up_to_date(input, output, limited));  // complete in spite of the limit
  // The same bytes with a later time: something may have changed between the parts looked at.
  fs::last_write_time(input, fs::last_write_time(output) + std::chrono::seconds(1));
  CHECK_FALSE(up_to_date(input, output, options));
  fs::last_write_time(input, fs::last_write_time(output) - std::chrono::seconds(1));
  CHECK(up_to_date(input, output, options));
  write_text(input, std::string(kStacks) + "main;more 1\n");
  fs::last_write_time(input, fs::last_write_time(output) - std::chrono::seconds(1));
  CHECK_FALSE(up_to_date(input, output, options));
}

TEST_CASE("up to date: names that were added do no harm, and are there where they are wanted") {
  const test::ScratchDirectory folder;
  const std::string input = folder.file("in.folded");
  const std::string output = folder.file("out.spk");
  write_text(input, kStacks);
  const ConvertOptions options;
  REQUIRE(convert(input, output, options, nullptr));
  const std::string content = content_of(input).value();
  CHECK(is_up_to_date(input, output, content, options, false));
  CHECK_FALSE(is_up_to_date(input, output, content, options, true));
  const std::string named = folder.file("named.spk");
  REQUIRE(symbolize_file(output, named, SymbolizeOptions(), nullptr).has_value());
  CHECK(is_up_to_date(input, named, content, options, false));
  CHECK(is_up_to_date(input, named, content, options, true));
  ConvertOptions redacted = options;
  redacted.redact = true;
  CHECK_FALSE(is_up_to_date(input, named, content, redacted, true));
}

TEST_CASE("up to date: a file without all facts fits only the limit that left them out") {
  const test::ScratchDirectory folder;
  const std::string input = folder.file("in.perf.data");
  const std::string output = folder.file("out.spk");
  const test::PerfWriter writer;
  std::vector<test::TestBytes> records;
  constexpr std::uint32_t kProcesses = 200'000;
  for (std::uint32_t pid = 1; pid <= kProcesses; ++pid) {
    test::TestBytes payload = writer.bytes();
    payload.u32(pid).u32(pid).text("a-long-name-1").u8(0).pad_to(8).u32(pid).u32(pid).u64(pid);
    records.push_back(writer.record(perf::RecordType::kComm, 0, payload));
  }
  records.push_back(writer.sample(1, 1, kProcesses, {test::kContextUser, 0x1000}));
  const std::vector<std::byte> bytes = writer.file({test::TestAttr{}}, records);
  std::ofstream(input, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),  // NOLINT: the stream wants characters
             static_cast<std::streamsize>(bytes.size()));
  ConvertOptions limited;
  limited.memory_limit = 16 << 20;
  const Result<ConvertReport> report = convert(input, output, limited, nullptr);
  REQUIRE(report);
  REQUIRE(report->lossy);
  CHECK(up_to_date(input, output, limited));
  ConvertOptions other = limited;
  other.memory_limit = 17 << 20;
  CHECK_FALSE(up_to_date(input, output, other));
  CHECK_FALSE(up_to_date(input, output, ConvertOptions{}));
}

TEST_CASE("content watch: an input that is written to or replaced meanwhile has no content") {
  const test::ScratchDirectory folder;
  const std::string input = folder.file("in");
  write_text(input, "1234");
  const auto content_after = [&](const auto& change) {
    const Result<ContentWatch> watch = ContentWatch::begin({input});
    REQUIRE(watch);
    change();
    const Result<std::string> content = watch->content("");
    REQUIRE(content);
    return *content;
  };
  const Result<std::string> content = content_of(input);
  REQUIRE(content);
  CHECK(content_after([] {}) == *content);
  CHECK(content_after([&] { write_text(input, "12345"); }).empty());
  CHECK(content_after([&] {
          write_text(folder.file("new"), "12345");
          fs::last_write_time(folder.file("new"), fs::last_write_time(input));
          fs::rename(folder.file("new"), input);
        }).empty());
  CHECK(content_after([&] {
          fs::last_write_time(input, fs::last_write_time(input) + std::chrono::seconds(1));
        }).empty());
  CHECK(content_after([&] { fs::remove(input); }).empty());
}

TEST_CASE("convert: the output is never the input, nor what is no .spk file") {
  const test::ScratchDirectory folder;
  const std::string input = folder.file("in.folded");
  const std::string other = folder.file("other.folded");
  write_text(input, kStacks);
  write_text(other, kStacks);
  ConvertOptions options;
  for (const std::string& output : {input, other}) {
    const Result<ConvertReport> report = convert(input, output, options, nullptr);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == ErrorCode::kUsage);
    CHECK(fs::file_size(output) == std::string_view(kStacks).size());
  }
  options.force = true;
  CHECK_FALSE(convert(input, input, options, nullptr));
  CHECK(convert(input, other, options, nullptr));
  options.force = false;
  CHECK(convert(input, other, options, nullptr));  // a .spk file now
}

}  // namespace stackpack::app
