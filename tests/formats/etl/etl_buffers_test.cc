// The walk over buffers: order, losses and damage of whole buffers.
#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/file/buffer_header.h"
#include "formats/etl/file/buffer_index.h"
#include "formats/etl/file/log_file_header.h"
#include "support/etl_reading.h"
#include "support/source_folder.h"

namespace stackpack::test {
namespace {

constexpr std::uint32_t kBuffer = 1096;
constexpr std::size_t kSampleBytes = 32 + 48 + 40;  // with the two halves of its callstack

// Twenty buffers of eight samples with callstacks, on two processors in turn.
void write_buffers(EtlWriter& out) {
  for (std::uint32_t buffer = 0; buffer < 20; ++buffer) {
    const auto cpu = static_cast<std::uint16_t>(buffer % 2);
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint64_t clock = 2'000'000 + 1000 * buffer + 100 * i;
      const std::uint32_t tid = 10 + cpu;
      out.sample(cpu, clock, tid, kK + 1);
      out.stack(cpu, clock + 1, clock, 5, tid, {kK + 1, kK + 2 + i});
      out.stack(cpu, clock + 2, clock, 5, tid, {kU + buffer});
    }
    out.flush(cpu);
  }
}

EtlOptions small_buffers() {
  EtlOptions options;
  options.buffer_size = kBuffer;
  return options;
}

std::vector<std::byte> intact_file() {
  return make_etl(small_buffers(), write_buffers);
}

TEST_SUITE_BEGIN("etl buffers");

TEST_CASE("the log file header is read in both forms") {
  for (const unsigned pointer_size : {4U, 8U}) {
    CAPTURE(pointer_size);
    EtlOptions options;
    options.pointer_size = pointer_size;
    options.events_lost = 5;
    options.buffers_lost = 6;
    const auto file = make_etl(options, [](EtlWriter& out) { out.sample(1, 5, 6, 7); });
    CHECK(etl::looks_like_etl(std::span(file).first(etl::kDetectBytes)));
    const auto header = etl::parse_log_file_header(file);
    REQUIRE(header);
    CHECK(header->pointer_size == pointer_size);
    CHECK(header->buffer_size == 65536);
    CHECK(header->build == 19041);
    CHECK(header->buffers_written == 2);
    CHECK(header->events_lost == 5);
    CHECK(header->buffers_lost == 6);
    CHECK(header->frequency == 10'000'000);
    CHECK(header->start_filetime == kEtlStartFiletime);
    CHECK(header->clock_type == 1);
    CHECK(header->clock_origin == 1'000'000);
    CHECK(header->logger_name == "synthetic");
    CHECK(header->file_name == "synthetic.etl");
    CHECK(header->named_compression() == etl::CompressionFormat::kNone);
    const std::size_t fields_end = pointer_size == 8 ? 0x180 : 0x178;
    for (std::size_t cut = 0; cut < fields_end + 16; ++cut) {
      CAPTURE(cut);
      const auto part = etl::parse_log_file_header(std::span(file).first(cut));
      CHECK(part.has_value() == (cut >= fields_end));
      const auto reading = read_etl(std::span(file).first(cut));
      CHECK(reading->failed == !part);
    }
  }
}

TEST_CASE("other files are told apart") {
  const auto file = intact_file();
  for (const std::size_t at : {std::size_t{0x36}, std::size_t{0x4B}, std::size_t{0x4A},
                               std::size_t{0x4E}, std::size_t{0x4F}}) {
    auto other = file;
    other[at] ^= std::byte{0x55};
    CHECK_FALSE(etl::looks_like_etl(other));
    CHECK(read_etl(other)->error.code == ErrorCode::kUnsupported);
  }
  CHECK_FALSE(etl::looks_like_etl({}));
}

TEST_CASE("a whole file is whole") {
  const auto reading = read_etl(intact_file());
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->summary.kernel_and_user == 160);
  CHECK(reading->summary.buffers == 21);
  CHECK(reading->account.skipped.total() == 0);
  CHECK(reading->accounted());
  CHECK_FALSE(reading->sink.counters.any_loss());
  std::uint64_t last = 0;
  for (const auto& row : reading->sink.rows) {  // processors were merged
    CHECK(row.sample.time_ns >= last);
    last = row.sample.time_ns;
  }
}

TEST_CASE("damage of buffers costs what it must and no more") {
  struct Case {
    std::string_view name;
    std::function<void(std::vector<std::byte>&)> damage;
    std::uint64_t callstacks;  // of 160, eight in each buffer
    std::string_view counter;
    std::uint64_t count;
  };
  const std::size_t fifth = 5 * std::size_t{kBuffer};
  const auto zero = [](std::vector<std::byte>& file, std::size_t from, std::size_t size) {
    std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(from), size, std::byte{0});
  };
  const Case cases[] = {
      {"cut in a header", [&](auto& file) { file.resize(fifth + 0x20); }, 32, "cut_buffers", 1},
      {"cut between buffers", [&](auto& file) { file.resize(fifth); }, 32,
       "declared_buffers_not_found", 16},
      {"cut in the events", [&](auto& file) { file.resize(fifth + 0x48 + kSampleBytes * 3 + 40); },
       35, "cut_buffers", 1},
      {"a size of zero", [&](auto& file) { put_u32(file, fifth, 0); }, 160, "bad_buffer_sizes", 1},
      {"a size below the header", [&](auto& file) { put_u32(file, fifth, 0x47); }, 160,
       "bad_buffer_sizes", 1},
      {"a huge size", [&](auto& file) { put_u32(file, fifth, 0x7FFFFFFF); }, 160,
       "bad_buffer_sizes", 1},
      {"a size that leads astray", [&](auto& file) { put_u32(file, fifth, kBuffer + 0x60); }, 160,
       "bad_buffer_sizes", 1},
      {"saved offset beyond the buffer", [&](auto& file) { put_u32(file, fifth + 4, 0x5000); }, 160,
       "buffers_beyond_their_space", 1},
      {"no saved offset and no offset",
       [&](auto& file) {
         put_u32(file, fifth + 4, 0);
         put_u32(file, fifth + 0x30, 0);
       },
       152, "buffers_without_size", 1},
      {"an event of size zero", [&](auto& file) { zero(file, fifth + 0x48 + kSampleBytes + 4, 2); },
       153, "bad_event_sizes", 1},
      {"a marker of nonsense",
       [&](auto& file) { put_u32(file, fifth + 0x48 + kSampleBytes, 0x12345678); }, 153,
       "bad_event_markers", 1},
      {"events end in zeros",
       [&](auto& file) { zero(file, fifth + 0x48 + kSampleBytes * 2, kSampleBytes * 6); }, 154,
       "buffers_ended_early", 1},
      {"a buffer of packed context switches",
       [&](auto& file) {
         file[fifth + 0x36] = std::byte{2};
         put_u32(file, fifth + 0x48, 0x12345678);
       },
       152, "buffers_without_events", 1},
      {"a type that holds no events, and events",
       [&](auto& file) { file[fifth + 0x36] = std::byte{2}; }, 160, "buffers_of_wrong_type", 1},
      {"two fields for the end of the events, and two answers",
       [&](auto& file) { put_u32(file, fifth + 4, 0x48 + kSampleBytes); }, 153,
       "buffer_sizes_disagree", 1},
      {"a blank header and more buffers", [&](auto& file) { zero(file, fifth, 0x48); }, 152,
       "skipped_buffer_bytes", kBuffer},
      {"a lost buffer was flagged", [&](auto& file) { file[fifth + 0x34] |= std::byte{4}; }, 160,
       "buffers_flagged_buffer_lost", 1},
      {"lost events were flagged", [&](auto& file) { file[fifth + 0x34] |= std::byte{2}; }, 160,
       "buffers_flagged_events_lost", 1},
      {"a sequence number of nonsense", [&](auto& file) { put_u32(file, fifth + 0x1C, 77); }, 160,
       "absurd_sequence_numbers", 1},
      {"an unused tail of zeros", [&](auto& file) { file.resize(file.size() + 5000); }, 160,
       "unused_tail_bytes", 5000},
      {"a tail of nonsense", [&](auto& file) { file.resize(file.size() + 500, std::byte{0xEE}); },
       160, "skipped_tail_bytes", 500},
      {"a buffer is missing",
       [&](auto& file) {
         file.erase(file.begin() + static_cast<std::ptrdiff_t>(fifth),
                    file.begin() + static_cast<std::ptrdiff_t>(fifth + kBuffer));
       },
       152, "missing_buffers", 1},
      {"buffers in another order",
       [&](auto& file) {
         for (std::size_t i = 1; i < 10; ++i) {
           std::swap_ranges(file.begin() + static_cast<std::ptrdiff_t>(i * kBuffer),
                            file.begin() + static_cast<std::ptrdiff_t>((i + 1) * kBuffer),
                            file.begin() + static_cast<std::ptrdiff_t>((21 - i - 1) * kBuffer));
         }
       },
       160, "processors_out_of_sequence", 2},
  };
  const auto intact = intact_file();
  const auto expected = read_etl(intact)->listing();
  for (const Case& example : cases) {
    CAPTURE(example.name);
    auto file = intact;
    example.damage(file);
    const auto reading = read_etl(file);
    REQUIRE_FALSE(reading->failed);
    CHECK(reading->accounted());
    CHECK(reading->summary.kernel_and_user == example.callstacks);
    CHECK(reading->loss(example.counter) == example.count);
    for (const auto& [line, count] : reading->listing()) {
      const auto found = expected.find(line);
      if (found == expected.end()) {  // a kernel half whose user half is cut off
        CHECK(line.find('u') == std::string::npos);
      }
    }
  }
}

TEST_CASE("a damaged compressed buffer costs itself only") {
  EtlOptions options = small_buffers();
  options.compression = etl::CompressionFormat::kXpress;
  const auto file = make_etl(options, write_buffers);
  const auto header = etl::parse_buffer_header(std::span(file).subspan(512));
  REQUIRE(header.compressed());
  auto damaged = file;
  // The first flags call everything a match.
  put_u32(damaged, 512 + 0x48, 0xFFFFFFFF);
  const auto reading = read_etl(damaged);
  CHECK(reading->summary.kernel_and_user == 152);
  CHECK(reading->loss("undecodable_buffers") == 1);
  CHECK(reading->loss("compression_format_corrected") == 0);
  CHECK(reading->accounted());
}

TEST_CASE("a few bytes cannot become many megabytes") {
  EtlOptions options = small_buffers();
  options.compression = etl::CompressionFormat::kXpress;
  auto file = make_etl(options, write_buffers);
  put_u32(file, 512 + 4, 0x00FFFFFF);
  put_u32(file, 512 + 0x30, 0x00FFFFFF);
  const auto reading = read_etl(file);
  CHECK(reading->loss("oversized_buffers") == 1);
  CHECK(reading->summary.kernel_and_user == 152);
}

TEST_CASE("a buffer that begins inside a damaged header makes no buffer smaller than a header") {
  const auto file =
      read_test_file(test::source_folder() + "/fuzz/corpus/etl_file/next-buffer-inside-a-header");
  REQUIRE_FALSE(file.empty());
  const auto source = io::source_of_memory(file);
  const auto header = etl::parse_log_file_header(file);
  REQUIRE(header.has_value());
  capture::LossCounters losses;
  capture::ByteAccount account;
  scratch::SpillSpace space("/tmp", 0);
  const auto index =
      etl::index_buffers(*source, *header, {std::uint64_t{1} << 18, {}}, space, losses, account);
  REQUIRE(index.has_value());
  REQUIRE(index->count > 1);
  for (std::uint64_t i = 0; i < index->count; ++i) {
    CHECK(index->buffers.get(i).size >= etl::kBufferHeaderBytes);
  }
}

TEST_CASE("a circular file that wrapped is read from its oldest buffer on") {
  EtlOptions options = small_buffers();
  options.mode = 2;
  const auto file = make_etl(options, write_buffers);
  const auto expected = read_etl(file)->listing();
  auto wrapped = file;
  std::rotate(wrapped.begin() + kBuffer, wrapped.begin() + std::ptrdiff_t{8} * kBuffer,
              wrapped.end());
  const auto reading = read_etl(wrapped);
  CHECK(reading->listing() == expected);
  CHECK(reading->loss("clock_went_back") == 0);
}

TEST_CASE("an appended session follows the first one") {
  const auto first = intact_file();
  const auto second = make_etl(small_buffers(), [](EtlWriter& out) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      out.sample(0, 9'000'000 + 10 * i, 5, kU);
      out.stack(0, 9'000'001 + 10 * i, 9'000'000 + 10 * i, 5, 5, {kU + 99});
    }
  });
  auto both = first;
  both.insert(both.end(), second.begin(), second.end());
  const auto reading = read_etl(both);
  CHECK(reading->loss("appended_sessions") == 1);
  CHECK(reading->loss("clock_went_back") == 0);
  CHECK(reading->summary.kernel_and_user == 160);
  CHECK(reading->summary.user_only == 40);
  CHECK(reading->accounted());
}

TEST_CASE("traces glued together are merged part by part") {
  const auto file = intact_file();
  auto glued = file;
  std::uint32_t sequence = 20;
  for (int lap = 1; lap < 4; ++lap) {
    for (std::size_t at = kBuffer; at < file.size(); at += kBuffer) {
      glued.insert(glued.end(), file.begin() + static_cast<std::ptrdiff_t>(at),
                   file.begin() + static_cast<std::ptrdiff_t>(at + kBuffer));
      put_u32(glued, glued.size() - kBuffer + 0x18, ++sequence);
    }
  }
  const auto once = read_etl(file);
  const auto reading = read_etl(glued);
  CHECK(reading->loss("clock_laps") == 6);  // three more laps of two processors
  CHECK(reading->loss("clock_went_back") == 0);
  CHECK(reading->loss("orphan_stacks") == 0);
  auto expected = once->listing();
  for (auto& [line, count] : expected) {
    count *= 4;
  }
  CHECK(reading->listing() == expected);
  CHECK(reading->sink.rows[160].sample.time_ns == once->sink.rows[0].sample.time_ns);
}

TEST_CASE("one wrong clock at the start of a buffer makes no lap") {
  const auto intact = intact_file();
  for (const std::uint32_t wrong : {0U, 0xFFFFFFF0U}) {
    CAPTURE(wrong);
    auto file = intact;
    put_u32(file, 9 * std::size_t{kBuffer} + 0x48 + 8, wrong);  // the first event's clock, low half
    const auto reading = read_etl(file);
    CHECK(reading->loss("clock_laps") == 0);
    CHECK(reading->summary.kernel_and_user == 160);
  }
}

TEST_CASE(
    "buffers out of their order are read in the one in which the clock goes back less often") {
  auto ordered = intact_file();
  // A wrong clock at the start of one buffer: no order is without a step back.
  put_u32(ordered, 9 * std::size_t{kBuffer} + 0x48 + 8, 0xFFFFFFF0U);
  auto reversed = ordered;
  for (std::size_t i = 1; i < 20 - i + 1; ++i) {
    std::swap_ranges(reversed.begin() + static_cast<std::ptrdiff_t>(i * kBuffer),
                     reversed.begin() + static_cast<std::ptrdiff_t>((i + 1) * kBuffer),
                     reversed.begin() + static_cast<std::ptrdiff_t>((21 - i) * kBuffer));
  }
  const auto expected = read_etl(ordered);
  const auto reading = read_etl(reversed);
  CHECK(expected->loss("processors_out_of_sequence") == 0);
  CHECK(reading->loss("processors_out_of_sequence") == 2);
  CHECK(reading->loss("clock_went_back") == expected->loss("clock_went_back"));
  CHECK(reading->listing() == expected->listing());
  REQUIRE(reading->sink.rows.size() == expected->sink.rows.size());
  for (std::size_t i = 0; i < reading->sink.rows.size(); ++i) {
    CHECK(reading->sink.rows[i].sample == expected->sink.rows[i].sample);
  }
}

TEST_CASE("a session that was cut off has no totals to compare with") {
  EtlOptions options = small_buffers();
  options.end_filetime = 0;
  auto file = make_etl(options, write_buffers);
  file.resize(std::size_t{7} * kBuffer);
  const auto reading = read_etl(file);
  CHECK(reading->loss("session_not_ended") == 1);
  CHECK(reading->loss("declared_buffers_not_found") == 0);
}

TEST_CASE("more processors than memory for them: merged late, and counted") {
  const auto file = make_etl(small_buffers(), [](EtlWriter& out) {
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const auto cpu = static_cast<std::uint16_t>(i % 50);
      out.sample(cpu, 1000 + i, 10 + cpu, kU);
      out.stack(cpu, 1000 + i, 1000 + i, 5, 10 + cpu, {kU + cpu});
    }
  });
  const auto expected = read_etl(file)->listing();
  etl::ReadOptions options;
  options.max_open_bytes = 8 * kBuffer;
  const auto reading = read_etl(file, options);
  CHECK(reading->loss("processors_merged_late") > 0);
  CHECK(reading->listing() == expected);
  CHECK(reading->accounted());
}

TEST_CASE("a conversion can be stopped, and says how far it is") {
  const auto file = intact_file();
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> cancelled{false};
  etl::ReadOptions options;
  options.control = {&done, &cancelled};
  CHECK_FALSE(read_etl(file, options)->failed);
  CHECK(done == file.size());
  cancelled = true;
  const auto reading = read_etl(file, options);
  CHECK(reading->failed);
  CHECK(reading->error.code == ErrorCode::kCancelled);
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
