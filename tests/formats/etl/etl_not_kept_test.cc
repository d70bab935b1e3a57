// Law: each group of events that a trace has and of which nothing but a callstack is kept is a
// notice with a count and a first offset, and their payloads have a reason.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "formats/etl/event/etl_event_names.h"
#include "formats/etl/event/events_not_kept.h"
#include "support/etl_reading.h"
#include "support/skipped_map.h"

namespace stackpack::test {
namespace {

constexpr std::uint64_t kHeaderBuffer = 1024;  // of the files of these tests, on disk
constexpr std::uint64_t kBufferHeader = 0x48;
constexpr etl::Guid kSomebody = etl::make_guid(1, 2, 3, 4, 5);

std::unique_ptr<EtlReading> read_trace(
    const std::function<void(EtlWriter&)>& write,
    etl::CompressionFormat compression = etl::CompressionFormat::kNone) {
  EtlOptions options;
  options.buffer_size = kHeaderBuffer;
  options.compression = compression;
  auto reading = read_etl(make_etl(options, write));
  REQUIRE_FALSE(reading->failed);
  CHECK(reading->accounted());
  return reading;
}

std::vector<LossCounter> not_kept(const EtlReading& reading) {
  std::vector<LossCounter> found;
  for (const LossCounter& counter : reading.sink.counters.sorted()) {
    if (counter.count != 0 && counter.name.find("not_kept") != std::string::npos) {
      CHECK(counter.kind == LossKind::kNotice);
      found.push_back(counter);
    }
  }
  return found;
}

// Counters have names of small letters, with an underscore between words.
std::string bare(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

TEST_SUITE_BEGIN("etl not kept");

TEST_CASE("events of every group of the kernel are counted when nothing of them is kept") {
  for (unsigned group = 0; group <= 40; ++group) {
    CAPTURE(group);
    constexpr std::uint8_t kNobody = 250;  // a type that no group has
    const auto reading = read_trace([&](EtlWriter& out) {
      for (std::uint64_t i = 0; i < 3; ++i) {
        out.system(0, 2'000'000 + i, static_cast<std::uint8_t>(group), kNobody, 2, 7, 5,
                   TestBytes().zeros(40));
      }
    });
    const auto found = not_kept(*reading);
    REQUIRE(found.size() == 1);
    const std::string name =
        group < 31 ? etl::group_name(static_cast<std::uint8_t>(group)) : "OtherGroup";
    CHECK(bare(found[0].name) == bare("events_not_kept." + name));
    CHECK(found[0].count == 3);
    CHECK(found[0].first_offset == kHeaderBuffer + kBufferHeader);
    CHECK(skipped_map(reading->account) == SkippedMap{{"events_not_kept", 3 * 40}});
  }
}

TEST_CASE("events that are read are kept, and the others of their groups are counted") {
  struct Case {
    const char* name;
    std::function<void(EtlWriter&)> write;
    const char* counter;  // null: all is kept
  };
  const Case cases[] = {
      {"samples and stacks",
       [](EtlWriter& out) {
         out.sample(0, 2'000'000, 7, kK + 1);
         out.stack(0, 2'000'001, 2'000'000, 5, 7, {kK + 1});
         out.key_reference(0, 2'000'002, 2'000'000, 5, 7, 0x111, true);
         out.key_definition(0, 2'000'003, 0x111, {kK + 1});
       },
       nullptr},
      {"processes, threads and images",
       [](EtlWriter& out) {
         out.process(0, 2'000'000, 1, 5, 4, "a.exe", "a");
         out.thread(0, 2'000'001, 1, 5, 7);
         out.image(0, 2'000'002, 3, 5, 0x1000, 0x1000, "\\a.exe");
         out.rsds(0, 2'000'002, 5, 0x1000, kSomebody, 1, "a.pdb");
         out.volume(0, 2'000'003, "\\Device\\HarddiskVolume1", "C:");
       },
       nullptr},
      {"a context switch", [](EtlWriter& out) { out.context_switch(0, 2'000'000, 7, 8); },
       "events_not_kept.thread"},
      {"a provider's event",
       [](EtlWriter& out) {
         out.provider(0, 2'000'000, kSomebody, 9, 1, 0, 2, 3, TestBytes().zeros(8));
       },
       "events_not_kept.provider"},
      {"an event of a class",
       [](EtlWriter& out) {
         out.class_event(0, 2'000'000, kSomebody, 9, 1, 2, 3, TestBytes().zeros(8));
       },
       "events_not_kept.other_class"},
      {"a message", [](EtlWriter& out) { out.message(0, 40); }, "events_not_kept.wpp_message"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto reading = read_trace(c.write);
    const auto found = not_kept(*reading);
    CHECK(found.size() == (c.counter != nullptr ? 1 : 0));
    if (c.counter != nullptr && !found.empty()) {
      CHECK(found[0].name == c.counter);
      CHECK(found[0].count == 1);
      CHECK(found[0].first_offset ==
            kHeaderBuffer + kBufferHeader * (std::string(c.name) == "a message" ? 0 : 1));
      CHECK(reading->account.skipped.total() != 0);
    }
  }
}

TEST_CASE("payloads in compressed buffers have no bytes of their own") {
  const auto reading = read_trace(
      [](EtlWriter& out) {
        for (std::uint64_t i = 0; i < 20; ++i) {
          out.system(0, 2'000'000 + i, 2, 32, 2, 7, 5, TestBytes().zeros(40));
        }
      },
      etl::CompressionFormat::kXpress);
  CHECK(reading->loss("events_not_kept.memory") == 20);
  CHECK(reading->account.skipped.total() == 0);
}

TEST_CASE("extended items are callstacks, names, or counted") {
  const auto reading = read_trace([](EtlWriter& out) {
    out.provider(0, 2'000'000, kSomebody, 9, 1, 0, 2, 3, TestBytes(),
                 {out.stack_item(0, {kK + 1}),
                  {1, std::vector<std::byte>(16)},
                  {9, std::vector<std::byte>(8)}});
  });
  CHECK(reading->loss("event_fields_not_kept.extended_items") == 2);
  CHECK_FALSE(reading->sink.counters.any_loss());
}

TEST_SUITE_END();

}  // namespace
}  // namespace stackpack::test
