// The formats that pprof reads besides profile.proto. Expected values are those of google/pprof's
// own tests of the same lines, or by its rules.
#include "formats/pprof/legacy_profile.h"

#include <bit>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace stackpack;
using pprof::LegacyProfile;

namespace {

LegacyProfile read(const std::string& content) {
  CHECK(pprof::looks_like_legacy(content));
  auto profile = pprof::read_legacy(content);
  REQUIRE(profile.has_value());
  return std::move(*profile);
}

// `values @ address/mapping ...`, a sample a line.
std::string samples_of(LegacyProfile& profile) {
  std::string text;
  for (const LegacyProfile::Sample& sample : profile.samples) {
    for (const std::int64_t value : sample.values) {
      text += std::to_string(value) + " ";
    }
    text += "@";
    for (const std::uint32_t number : sample.locations) {
      const LegacyProfile::Location& location = profile.locations()[number];
      char address[48];
      std::snprintf(address, sizeof address, " %llx/%zu",
                    static_cast<unsigned long long>(location.address), location.mapping);
      text += location.function.empty() ? address : " " + location.function;
    }
    text += "\n";
  }
  return text;
}

template <typename Word>
std::string words(const std::vector<std::uint64_t>& values, bool is_big) {
  std::string text;
  for (const std::uint64_t value : values) {
    for (std::size_t i = 0; i < sizeof(Word); ++i) {
      const std::size_t byte = is_big ? sizeof(Word) - 1 - i : i;
      text += static_cast<char>(value >> (8 * byte) & 0xFF);
    }
  }
  return text;
}

constexpr const char* kMap =
    "00400000-00401000 r-xp 00000000 fc:01 12  /bin/prog\n"
    "00401000-00402000 r--p 00001000 fc:01 12  /bin/prog\n"
    "7f00000000-7f00001000 r-xp 00000000 fc:01 13  /lib/libc-2.15.so\n";

}  // namespace

TEST_CASE("legacy profiles: CPU, words of 32 and 64 bits in both orders") {
  const std::vector<std::uint64_t> content = {0, 3, 0,        10'000,   0,     // header
                                              2, 2, 0x400010, 0x400021,        // a sample
                                              1, 3, 0x400030, 0x400030, 0x51,  // its leaf twice
                                              0, 1, 0};
  for (const bool is_wide : {false, true}) {
    for (const bool is_big : {false, true}) {
      CAPTURE(is_wide);
      CAPTURE(is_big);
      LegacyProfile profile = read((is_wide ? words<std::uint64_t>(content, is_big)
                                            : words<std::uint32_t>(content, is_big)) +
                                   kMap);
      CHECK(samples_of(profile) ==
            "2 20000000 @ 400010/1 400020/1\n"
            "1 10000000 @ 400030/1 50/0\n");
      CHECK(profile.period == 10'000'000);
      CHECK(profile.types.back() == std::pair<std::string, std::string>("cpu", "nanoseconds"));
    }
  }
}

TEST_CASE("legacy profiles: the frame of the signal handler is taken out of CPU profiles") {
  std::vector<std::uint64_t> content = {0, 3, 0, 1, 0};
  for (std::uint64_t i = 0; i < 40; ++i) {
    for (const std::uint64_t word :
         {std::uint64_t{1}, std::uint64_t{3}, 0x1000 + i,
          i == 7 ? std::uint64_t{0x55} : std::uint64_t{0x9001}, 0x3001 + i}) {
      content.push_back(word);
    }
  }
  LegacyProfile profile = read(words<std::uint64_t>(content, false));
  CHECK(profile.samples[0].locations.size() == 2);
  CHECK(profile.samples[7].locations.size() == 3);
}

TEST_CASE("legacy profiles: heaps, sampled and not, and their growth") {
  LegacyProfile profile = read(
      "heap profile:      2:     2048 [     3:     4096] @ heapprofile\n"
      "# a comment\n"
      "     1:     1024 [     2:     3072] @ 0x400011 0x7f00000021\n"
      "     1:     1024 [     1:     1024] @ 0x400011\n"
      "MAPPED_LIBRARIES:\n" +
      std::string(kMap));
  CHECK(samples_of(profile) ==
        "2 3072 1 1024 @ 400010/1 7f00000020/2\n"
        "1 1024 1 1024 @ 400010/1\n");
  CHECK(profile.samples[0].block_bytes == 1024);
  CHECK(profile.types.front().first == "alloc_objects");

  // google/pprof, TestScaleHeapSample: 1 block of 512 KiB at a rate of 512 KiB.
  profile = read(
      "heap profile: 1: 524288 [ 1: 524288] @ heap_v2/524288\n"
      "1: 524288 [1: 524288] @ 0x11\n"
      "not a sample\n");
  CHECK(samples_of(profile) == "1 829411 @ 10/0\n");
  CHECK(profile.damaged == 1);
  CHECK(profile.types ==
        std::vector<std::pair<std::string, std::string>>{{"objects", "count"}, {"space", "bytes"}});
  profile = read("heap profile: 1: 7 [ 1: 7] @ growthz\n1: 7 [1: 7] @ 0x11\n");
  CHECK(samples_of(profile) == "1 7 @ 10/0\n");
}

TEST_CASE("legacy profiles: counts of Go, with and without comments") {
  LegacyProfile profile = read(
      "goroutine profile: total 4\n"
      "3 @ 0x11 0x21\n"
      "#\t0x10\tmain.main+0x1\t/x.go:1\n"
      "\n"
      "1 @ 0x11\n");
  CHECK(samples_of(profile) == "3 @ 10/0 20/0\n1 @ 10/0\n");
  CHECK(profile.types[0].first == "goroutine");
}

TEST_CASE("legacy profiles: threads, the leaf of which is no call") {
  LegacyProfile profile = read(
      "--- threadz 1 ---\n\n"
      "--- Thread 7ff6e1b5d700 (name: main/14748) stack: ---\n"
      "  PC: 0x400010\n"
      "  creator:\n"
      "  0x400010\n  0x400121\n"
      "--- Thread 7ff6e1b5d701 (name: thread1/14749) stack: ---\n"
      "  [same as previous thread]\n"
      "--- Memory map: ---\n"
      "  0x400000-0x401000 /bin/prog (@0) abcd\n");
  CHECK(samples_of(profile) == "2 @ 400010/1 400120/1\n");
}

TEST_CASE("legacy profiles: waiting for locks, of C++, Go and Java") {
  LegacyProfile profile = read(
      "--- contentionz 1 ---\n"
      "cycles/second = 2000000000\n"
      "sampling period = 100\n"
      "ms since reset = 16502830\n"
      "  10 2 @ 0x11 0x21\n");
  CHECK(samples_of(profile) == "200 500 @ 10/0 20/0\n");
  CHECK(profile.duration_ns == 16'502'830'000'000);
  profile = read("--- mutex:\ncycles/second=1000000000\nsampling period=1\n5 1 @ 0x11\n");
  CHECK(samples_of(profile) == "1 5 @ 10/0\n");
  profile = read(
      "--- contentionz 1 ---\n"
      "format = java\n"
      "resolution = microseconds\n"
      "sampling period = 100\n"
      "    14     1 @ 0x03 0x04\n"
      " 0x03 com.example.call (Some.java:12)\n"
      " 0x04 com.example.other (path/lib.so)\n");
  CHECK(samples_of(profile) == "100 1400 @ com.example.call com.example.other\n");
  CHECK(profile.types.back().second == "microseconds");
  CHECK(profile.locations()[0].line == 12);
  CHECK(profile.locations()[1].file == "lib.so");
}

TEST_CASE("legacy profiles: the heap of Java is unsampled, its stubs and states have names") {
  LegacyProfile profile = read(
      "--- heapz 1 ---\n"
      "format = java\n"
      "resolution = bytes\n"
      "    524288     1 @ 0x03 0x04 0x05\n"
      " 0x03 GC\n"
      " 0x04 generated stub/JIT\n");
  CHECK(samples_of(profile) == "1 829411 @ GC STUB 0/0\n");
}

TEST_CASE("legacy profiles: mappings of logs, joined, named by attributes, and corrected") {
  LegacyProfile profile = read(
      "heap profile: 1: 1 [ 1: 1] @ heapprofile\n"
      "1: 1 [1: 1] @ 0x400011 0x500011 0x700011\n"
      "--- Memory map: ---\n"
      "build=/bin/prog\n"
      "I0101 12:00:00.000000 123 x.cc:1] 401000-402000: $build (@1000)\n"
      "402000-600000: $build (@2000)\n"
      "700000-701000: /lib/libx.so.6\n");
  CHECK(samples_of(profile) == "1 1 @ 400010/1 500010/1 700010/2\n");
}

TEST_CASE("legacy profiles: other texts are none of them") {
  for (const char* text : {"", "main;work 12\n", "heap profile: nothing\n", "--- something\n",
                           "goroutine profile: total\n", "# comment\n"}) {
    CAPTURE(text);
    CHECK_FALSE(pprof::looks_like_legacy(text));
  }
}

TEST_CASE("legacy profiles: every prefix ends well") {
  const std::string text =
      "--- contentionz 1 ---\nformat = java\nresolution = microseconds\nsampling period = 100\n"
      "    14     1 @ 0x03 0x04\n 0x03 com.example.call (Some.java:12)\n";
  const std::string cpu = words<std::uint32_t>({0, 3, 0, 9, 0, 1, 1, 0x99, 0, 1, 0}, false);
  for (const std::string& whole : {text, cpu}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const auto profile = pprof::read_legacy(whole.substr(0, size));
      CHECK((!profile || profile->types.size() <= 4));
    }
  }
}
