// Files of every released format version stay readable: testdata/spk/vN/ keeps some for ever.
//
// expected.txt has a digest per file, of everything that the reader gives back. A new version adds
// a folder; a folder that is there does not change.

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "bytes/hash.h"
#include "support/source_folder.h"
#include "support/spk_reading.h"

namespace stackpack::test {
namespace {

namespace fs = std::filesystem;

class Digest {
 public:
  void add(std::uint64_t value) { text_ += std::to_string(value) + ' '; }
  void add(const std::string& value) {
    add(value.size());
    text_ += value;
  }
  [[nodiscard]] std::string hex() const {
    char digits[20];
    std::snprintf(digits, sizeof digits, "%016" PRIx64,
                  bytes::xxh3_64(std::as_bytes(std::span(text_))));
    return digits;
  }

 private:
  std::string text_;
};

template <typename Row>
std::vector<Row> rows_of(Result<std::vector<Row>> rows) {
  REQUIRE(rows.has_value());
  return std::move(rows).value();
}

void add_samples(const Reader& reader, Digest& digest) {
  if (!reader.has_samples()) {
    for (const StackCount& row : rows_of(reader.stack_counts())) {
      for (const std::uint64_t field :
           {std::uint64_t{row.stack}, std::uint64_t{row.event}, std::uint64_t{row.pid},
            static_cast<std::uint64_t>(row.origin), row.samples, row.weight}) {
        digest.add(field);
      }
    }
    return;
  }
  const auto samples = samples_in(reader);
  REQUIRE(samples.has_value());
  for (const StoredSample& s : *samples) {
    for (const std::uint64_t field :
         {s.time_ns, std::uint64_t{s.pid}, std::uint64_t{s.tid}, std::uint64_t{s.cpu},
          std::uint64_t{s.event}, s.weight, static_cast<std::uint64_t>(s.origin),
          std::uint64_t{s.flags}, std::uint64_t{s.stack}}) {
      digest.add(field);
    }
  }
}

void add_tables(const Reader& reader, Digest& digest) {
  for (const Event& row : rows_of(reader.events())) {
    digest.add(row.name);
    digest.add(row.has_weight ? 1 : 0);
  }
  for (const Process& row : rows_of(reader.processes())) {
    digest.add(row.pid);
    digest.add(row.parent_pid);
    digest.add(row.start_ns);
    digest.add(row.end_ns);
    digest.add(row.inherits_mappings ? 1 : 0);
    digest.add(row.name);
    digest.add(row.command_line);
  }
  for (const Thread& row : rows_of(reader.threads())) {
    digest.add(row.pid);
    digest.add(row.tid);
    digest.add(row.start_ns);
    digest.add(row.end_ns);
    digest.add(row.name);
  }
  for (const Module& row : rows_of(reader.modules())) {
    for (const std::uint64_t field :
         {std::uint64_t{row.pid}, row.base, row.size, row.file_offset, row.start_ns, row.end_ns}) {
      digest.add(field);
    }
    digest.add(row.path);
    digest.add(static_cast<std::uint64_t>(row.build_id_kind));
    digest.add(std::string(row.build_id.begin(), row.build_id.end()));
    digest.add(row.debug_name);
  }
  for (const MetadataEntry& row : rows_of(reader.metadata())) {
    digest.add(row.key);
    digest.add(row.value);
  }
  for (const LossCounter& row : reader.statistics().losses) {
    digest.add(row.name);
    digest.add(row.count);
    digest.add(row.first_offset);
  }
}

std::string digest_of(const Reader& reader) {
  const auto stacks = stacks_in(reader);
  REQUIRE(stacks.has_value());
  Digest digest;
  for (const RootFirstStack& stack : *stacks) {
    digest.add(stack.size());
    for (const Frame& frame : stack) {
      digest.add(static_cast<std::uint64_t>(frame.mode));
      digest.add(frame.address);
    }
  }
  add_samples(reader, digest);
  add_tables(reader, digest);
  return digest.hex();
}

TEST_SUITE("spk compatibility") {
  TEST_CASE("spk compatibility: files of every version say what they always said") {
    const fs::path root = fs::path(test::source_folder()) / "testdata" / "spk";
    std::size_t files = 0;
    for (const fs::directory_entry& version : fs::directory_iterator(root)) {
      std::ifstream list(version.path() / "expected.txt");
      const std::string expected((std::istreambuf_iterator<char>(list)),
                                 std::istreambuf_iterator<char>());
      std::map<std::string, std::string> found;
      for (const fs::directory_entry& entry : fs::directory_iterator(version)) {
        if (entry.path().extension() != ".spk") {
          continue;
        }
        CAPTURE(entry.path().string());
        const auto reader = Reader::open(entry.path().string());
        REQUIRE_MESSAGE(reader.has_value(), failure(reader));
        CHECK(failure(reader.value()->verify()).empty());
        found[entry.path().filename().string()] = digest_of(*reader.value());
        ++files;
      }
      std::string text;
      for (const auto& [name, digest] : found) {
        text += digest + ' ' + name + '\n';
      }
      CHECK(text == expected);
    }
    CHECK(files >= 7);
  }
}

}  // namespace
}  // namespace stackpack::test
