// Fewer samples than the whole capture has are never without a counter: every byte of .etl files in
// each compression with a flipped bit, and pages blanked.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/etl_reading.h"
#include "support/silent_loss.h"
#include "support/source_folder.h"
#include "support/test_bytes.h"

namespace stackpack::test {
namespace {

LossReading read_losses(const CaptureFiles& files) {
  etl::ReadOptions options;
  options.read_ahead = false;
  const auto reading = read_etl(files[0], options);
  CHECK((reading->failed || reading->accounted()));
  return loss_reading(reading->sink, reading->failed);
}

// Profile samples with and without callstacks, and context switches with them; two processors.
std::vector<std::byte> sampled_file(etl::CompressionFormat compression, unsigned pointer_size) {
  EtlOptions options;
  options.buffer_size = 1024;
  options.compression = compression;
  options.pointer_size = pointer_size;
  const std::uint64_t kernel = pointer_size == 4 ? 0x80000000 : kK;
  const std::uint64_t user = pointer_size == 4 ? 0x400000 : kU;
  return make_etl(options, [&](EtlWriter& out) {
    out.thread(0, 1'000'002, 3, 5, 10);
    for (std::uint32_t i = 0; i < 60; ++i) {
      const auto cpu = static_cast<std::uint16_t>(i % 2);
      const std::uint64_t clock = 2'000'000 + 100 * std::uint64_t{i};
      const std::uint32_t tid = i % 7 == 0 ? 0 : 10;
      if (i % 5 == 0) {
        out.context_switch(cpu, clock, 10, 0);
      } else {
        out.sample(cpu, clock, tid, kernel + 16 * i);
      }
      if (tid != 0) {
        out.stack(cpu, clock + 1, clock, 5, tid, {kernel + 16 * i, kernel + 0x777 * i});
        out.stack(cpu, clock + 2, clock, 5, tid, {user + 0x123 * i, user + 2, user + 3});
      }
    }
  });
}

struct TraceForm {
  const char* name;
  etl::CompressionFormat compression;
  unsigned pointer_size;
};

constexpr TraceForm kPlainForms[] = {{"64-bit", etl::CompressionFormat::kNone, 8},
                                     {"32-bit", etl::CompressionFormat::kNone, 4}};
constexpr TraceForm kPackedForms[] = {{"xpress", etl::CompressionFormat::kXpress, 8},
                                      {"xpress huffman", etl::CompressionFormat::kXpressHuffman, 8},
                                      {"lznt1", etl::CompressionFormat::kLznt1, 8}};

TEST_SUITE_BEGIN("etl silent loss");

TEST_CASE("a flipped bit loses no sample without a counter" * doctest::test_suite("slow")) {
  for (const TraceForm& form : kPlainForms) {
    CAPTURE(form.name);
    SilentLossCheck check({sampled_file(form.compression, form.pointer_size)}, read_losses);
    for (const unsigned first_bit : {0U, 3U, 5U}) {
      const LossTally tally = check.flip_bits(first_bit);
      CHECK(tally.refused < tally.readings / 20);
      CHECK(tally.whole > tally.readings / 2);
    }
  }
}

TEST_CASE("a flipped bit in a compressed file loses no sample without a counter" *
          doctest::test_suite("slow")) {
  for (const TraceForm& form : kPackedForms) {
    CAPTURE(form.name);
    SilentLossCheck check({sampled_file(form.compression, form.pointer_size)}, read_losses);
    CHECK(check.flip_bits(3).silent == 0);
  }
}

TEST_CASE("a blanked page loses no sample without a counter") {
  for (const TraceForm& form : kPlainForms) {
    CAPTURE(form.name);
    SilentLossCheck check({sampled_file(form.compression, form.pointer_size)}, read_losses);
    for (const std::size_t bytes : {std::size_t{4096}, std::size_t{512}, std::size_t{64}}) {
      CHECK(check.fill_pages(bytes, std::byte{0}).silent == 0);
      CHECK(check.fill_pages(bytes, std::byte{0xff}).silent == 0);
    }
  }
  for (const TraceForm& form : kPackedForms) {
    CAPTURE(form.name);
    SilentLossCheck check({sampled_file(form.compression, form.pointer_size)}, read_losses);
    CHECK(check.fill_pages(4096, std::byte{0}).silent == 0);
    CHECK(check.fill_pages(512, std::byte{0}).silent == 0);
    CHECK(check.fill_pages(64, std::byte{0}).silent == 0);
  }
}

TEST_CASE("the stored files keep the law, too" * doctest::test_suite("slow")) {
  struct StoredFile {
    std::string name;
    std::vector<std::size_t> unseen;
  };
  // Xpress has no checksum: the flip makes another valid match, and the stack event that comes of
  // it belongs to no event, as some do in sound traces.
  for (const StoredFile& file :
       {StoredFile{"sampled.x64.etl", {}}, StoredFile{"sampled.x64.huffman.etl", {}},
        StoredFile{"sampled.x64.keys.xpress.etl", {4227}}, StoredFile{"sampled.x86.etl", {}}}) {
    CAPTURE(file.name);
    SilentLossCheck check({read_test_file(source_folder() + "/testdata/" + file.name)},
                          read_losses);
    CHECK(check.flip_bits(3, file.unseen).silent == 0);
    CHECK(check.fill_pages(4096, std::byte{0}).silent == 0);
    CHECK(check.fill_pages(1024, std::byte{0}).silent == 0);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
