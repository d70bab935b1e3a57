#include "formats/perf/callchain.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/collecting_sink.h"
#include "support/test_bytes.h"

using namespace stackpack;

namespace {

constexpr std::uint64_t minus(std::uint64_t distance) {
  return ~distance + 1;
}

std::string decode(perf::ChainDecoder& decoder, const std::vector<std::uint64_t>& entries,
                   FrameMode mode) {
  test::TestBytes bytes;
  for (const std::uint64_t entry : entries) {
    bytes.u64(entry);
  }
  decoder.decode(bytes::ByteCursor(bytes.bytes, 0), entries.size(), mode);
  std::size_t frames = 0;
  for (const capture::ModeRun& run : decoder.stack().runs) {
    CHECK(run.count > 0);
    frames += run.count;
  }
  CHECK(frames == decoder.stack().depth());
  return test::text_of(decoder.stack());
}

}  // namespace

TEST_CASE("perf chain: markers give modes, other words of their range are counted") {
  struct Case {
    std::string name;
    std::vector<std::uint64_t> entries;
    FrameMode mode;
    std::string stack;
    std::uint64_t unknown;
  };
  const Case cases[] = {
      {"empty", {}, FrameMode::kUser, "", 0},
      {"only markers", {minus(128), minus(512)}, FrameMode::kKernel, "", 0},
      {"kernel and user",
       {minus(128), 0xf1, 0xf2, minus(512), 0x1},
       FrameMode::kUnknown,
       "kf1 kf2 u1",
       0},
      {"every marker",
       {minus(32), 1, minus(128), 2, minus(512), 3, minus(2048), 4, minus(2176), 5, minus(2560), 6},
       FrameMode::kUnknown,
       "h1 k2 u3 g4 G5 U6",
       0},
      {"before any marker: the mode of the sample",
       {7, 8, minus(512), 9},
       FrameMode::kKernel,
       "k7 k8 u9",
       0},
      {"garbage changes no mode",
       {minus(128), 1, minus(1), 2, minus(4095), 3},
       FrameMode::kUser,
       "k1 k2 k3",
       2},
      {"just below the markers is an address",
       {minus(4096)},
       FrameMode::kUser,
       "ufffffffffffff000",
       0},
      {"the same marker again", {minus(512), 1, minus(512), 2}, FrameMode::kUser, "u1 u2", 0},
      {"a high address in the user part",
       {minus(512), 0xa59232dd36d21e00},
       FrameMode::kUser,
       "ua59232dd36d21e00",
       0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    perf::ChainDecoder decoder;
    CHECK(decode(decoder, c.entries, c.mode) == c.stack);
    CHECK(decoder.unknown_contexts() == c.unknown);
  }
}

TEST_CASE("perf chain: a cookie is no frame, and waits only at the end") {
  struct Case {
    std::string name;
    std::vector<std::uint64_t> entries;
    std::string stack;
    bool waits;
  };
  const Case cases[] = {
      {"kernel part and cookie", {minus(128), 1, minus(640), 0x55}, "k1", true},
      {"cookie alone", {minus(640), 0x55}, "", true},
      {"a cookie that looks like a marker", {minus(128), 1, minus(640), minus(512)}, "k1", true},
      {"no cookie after the marker", {minus(128), 1, minus(640)}, "k1", false},
      {"entries after the cookie", {minus(128), 1, minus(640), 0x55, 2}, "k1 u2", false},
      {"none", {minus(128), 1}, "k1", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    perf::ChainDecoder decoder;
    CHECK(decode(decoder, c.entries, FrameMode::kKernel) == c.stack);
    CHECK(decoder.cookie().has_value() == c.waits);
  }
}

TEST_CASE("perf chain: nothing of one chain is left in the next") {
  perf::ChainDecoder decoder;
  CHECK(decode(decoder, {minus(128), 1, minus(640), 0x55}, FrameMode::kKernel) == "k1");
  CHECK(decode(decoder, {minus(512), 2, 3, 4, 5}, FrameMode::kUser) == "u2 u3 u4 u5");
  CHECK(decoder.has_user_frames());
  CHECK_FALSE(decoder.cookie().has_value());
  CHECK(decode(decoder, {minus(128), 6}, FrameMode::kKernel) == "k6");
  CHECK_FALSE(decoder.has_user_frames());
  CHECK_FALSE(decoder.has_user_marker());
}

TEST_CASE("perf chain: the processor's call stack takes the place of the user part") {
  test::TestBytes branches;
  branches.u64(0x20).u64(0x10).u64(0);  // from, to, flags; newest first
  branches.u64(0x30).u64(0x1f).u64(0);
  branches.u64(0x40).u64(0x2f).u64(0);
  struct Case {
    std::string name;
    std::vector<std::uint64_t> entries;
    std::string stack;
  };
  const Case cases[] = {
      {"kernel part stays", {minus(128), 1, minus(512), 0x10, 0x99}, "k1 u10 u20 u30 u40"},
      {"user part alone", {minus(512), 0x10, 0x99}, "u10 u20 u30 u40"},
      {"empty user part", {minus(128), 1, minus(512)}, "k1 u10 u20 u30 u40"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    perf::ChainDecoder decoder;
    decode(decoder, c.entries, FrameMode::kUser);
    CHECK(decoder.has_user_marker());
    decoder.replace_user_part(bytes::ByteCursor(branches.bytes, 0), 3, std::nullopt);
    CHECK(test::text_of(decoder.stack()) == c.stack);
    CHECK(decoder.has_user_frames());
  }
}

TEST_CASE("perf chain: a restored stack can be appended to") {
  const std::uint64_t addresses[] = {1, 2};
  const capture::ModeRun runs[] = {{FrameMode::kKernel, 2}};
  test::TestBytes user;
  user.u64(3).u64(minus(1)).u64(4);
  perf::ChainDecoder decoder;
  decoder.restore({addresses, runs});
  decoder.append(bytes::ByteCursor(user.bytes, 0), 3, FrameMode::kUser);
  CHECK(test::text_of(decoder.stack()) == "k1 k2 u3 u4");
  CHECK(decoder.unknown_contexts() == 1);
}

TEST_CASE("perf chain: the mode of a sample is in the low bits of misc") {
  const FrameMode modes[] = {FrameMode::kUnknown,     FrameMode::kKernel,
                             FrameMode::kUser,        FrameMode::kHypervisor,
                             FrameMode::kGuestKernel, FrameMode::kGuestUser};
  for (std::uint16_t misc = 0; misc < 6; ++misc) {
    CHECK(perf::mode_of_misc(misc) == modes[misc]);
    CHECK(perf::mode_of_misc(static_cast<std::uint16_t>(misc | 0x4000)) == modes[misc]);
  }
  CHECK(perf::mode_of_misc(7) == FrameMode::kUnknown);
}
