// Files that are cut and files with wrong bytes: read to the end, accounted for, nothing made up.
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/etl_reading.h"
#include "support/sanitizer.h"

namespace stackpack::test {
namespace {

// A small trace with everything in it that is read in detail.
std::vector<std::byte> rich_file(etl::CompressionFormat compression, unsigned pointer_size) {
  constexpr etl::Guid kRuntime = etl::make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4);
  EtlOptions options;
  options.buffer_size = 1024;
  options.compression = compression;
  options.pointer_size = pointer_size;
  const std::uint64_t kernel = pointer_size == 4 ? 0x80000000 : kK;
  const std::uint64_t user = pointer_size == 4 ? 0x400000 : kU;
  return make_etl(options, [&](EtlWriter& out) {
    out.process(0, 1'000'001, 3, 5, 4, "a.exe", "a -b");
    out.thread(0, 1'000'002, 3, 5, 10);
    out.image(0, 1'000'003, 3, 5, user, 0x10000, "\\Device\\HarddiskVolume1\\a.exe");
    out.rsds(0, 1'000'003, 5, user, kRuntime, 1, "a.pdb");
    out.volume(0, 1'000'004, "\\Device\\HarddiskVolume1\\", "C:\\");
    for (std::uint32_t i = 0; i < 60; ++i) {
      const auto cpu = static_cast<std::uint16_t>(i % 2);
      const std::uint64_t clock = 2'000'000 + 100 * std::uint64_t{i};
      const std::uint32_t tid = 10 + cpu;
      out.sample(cpu, clock, tid, kernel + 1);
      if (i % 3 == 0) {
        out.key_reference(cpu, clock + 1, clock, 5, tid, 0x100 + i % 5, true);
        out.key_reference(cpu, clock + 2, clock, 5, tid, 0x100 + i % 5, false);
      } else {
        out.stack(cpu, clock + 1, clock, 5, tid, {kernel + 1, kernel + 2});
        out.stack(cpu, clock + 2, clock, 5, tid, {user + 1, user + 2, user + 3});
      }
      if (i % 4 == 0) {
        out.provider(cpu, clock + 3, kRuntime, 10, 1, 0, tid, 5, TestBytes().u64(7),
                     {out.stack_item(0, {kernel + 3, user + 4})});
        out.clr_stack(cpu, clock + 4, kRuntime, tid, 5, {user + 5, user + 6});
      }
    }
    for (std::uint32_t i = 0; i < 5; ++i) {
      out.key_definition(0, 3'000'000 + i, 0x100 + i, {kernel + 7, kernel + 8});
      out.key_definition(0, 3'000'100 + i, 0x100 + i, {user + 7, user + 8});
    }
  });
}

std::set<std::string> frames_of(const std::map<std::string, std::uint64_t>& listing) {
  std::set<std::string> frames;
  for (const auto& [line, count] : listing) {
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      frames.insert(line.substr(at, end - at));
      at = end + 1;
    }
  }
  return frames;
}

TEST_SUITE_BEGIN("etl damage");

TEST_CASE("a file cut anywhere gives no frame that it does not have") {
  for (const auto compression : {etl::CompressionFormat::kNone, etl::CompressionFormat::kXpress,
                                 etl::CompressionFormat::kXpressHuffman}) {
    const auto file = rich_file(compression, 8);
    const auto whole = read_etl(file);
    REQUIRE_FALSE(whole->failed);
    CHECK_FALSE(whole->sink.counters.any_loss());
    const auto frames = frames_of(whole->listing());
    // Every place in the headers and first events, then here and there.
    for (std::size_t cut = 0; cut < file.size(); cut += cut < 1500 ? 1 : 97) {
      CAPTURE(static_cast<int>(compression));
      CAPTURE(cut);
      const auto reading = read_etl(std::span(file).first(cut));
      if (reading->failed) {
        CHECK(cut < 0x200);
        continue;
      }
      CHECK(reading->accounted());
      if (!reading->sink.counters.any_loss()) {  // after the last event
        CHECK(reading->loss("cut_unused_space") == 1);
        CHECK(reading->listing() == whole->listing());
      }
      for (const std::string& frame : frames_of(reading->listing())) {
        CHECK(frames.count(frame) == 1);
      }
    }
  }
}

TEST_CASE("a file with a wrong byte anywhere is read to its end") {
  constexpr unsigned kSeed = 4242;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  const std::size_t kRounds = 500 / byte_step();
  struct Form {
    etl::CompressionFormat compression;
    unsigned pointer_size;
  };
  for (const Form form : {Form{etl::CompressionFormat::kNone, 8},
                          {etl::CompressionFormat::kNone, 4},
                          {etl::CompressionFormat::kXpress, 8},
                          {etl::CompressionFormat::kLznt1, 8}}) {
    const auto intact = rich_file(form.compression, form.pointer_size);
    const std::size_t samples = read_etl(intact)->sink.rows.size();
    std::size_t survived = 0;
    std::size_t kept = 0;
    for (std::size_t round = 0; round < kRounds; ++round) {
      CAPTURE(round);
      auto file = intact;
      const std::size_t at = random() % file.size();
      file[at] ^= static_cast<std::byte>(1 + random() % 255);
      CAPTURE(at);
      const auto reading = read_etl(file);
      CHECK((reading->failed || reading->accounted()));
      CHECK(reading->listing().size() <= 60);
      survived += reading->failed ? 0U : 1U;
      kept += reading->failed ? 0U : reading->sink.rows.size();
    }
    // Only the log file header cannot be done without.
    CHECK(survived > kRounds * 9 / 10);
    CHECK(kept > samples * kRounds * 8 / 10);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
