#include "spk/format/source_rows.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bytes/byte_cursor.h"
#include "spk/format/column_codec.h"
#include "spk/format/table_codec.h"
#include "stackpack/sources.h"

using stackpack::kUnknownId;
using stackpack::kUnknownTime;
using stackpack::LossKind;
using stackpack::MergedSource;
namespace spk = stackpack::spk;

namespace {

std::vector<MergedSource> two_sources() {
  MergedSource a;
  a.id.fill(std::byte{7});
  a.names_hash.fill(std::byte{9});
  a.functions = 12;
  a.kind = "perf";
  a.bytes = 1 << 20;
  a.fingerprint = "5";
  a.host = "db-1";
  a.command_line = "perf record";
  a.start_ns = 1000;
  a.wall_offset_ns = -5;
  a.samples = 100;
  a.records = 90;
  a.empty_chains = 3;
  a.stack_dump_only = 2;
  a.unwound = 1;
  a.callstacks = 40;
  a.pids = {0, 1, 5, 1'000'000, kUnknownId};
  a.losses = {{"lost", LossKind::kRecorder, 5, ~std::uint64_t{0}},
              {"remark", LossKind::kNotice, 0, ~std::uint64_t{0}}};
  MergedSource b;
  b.id.fill(std::byte{1});
  b.start_ns = kUnknownTime;
  return {a, b};
}

}  // namespace

TEST_CASE("source rows: what is written is read") {
  const std::vector<MergedSource> sources = two_sources();
  spk::BlockContent content;
  spk::encode_rows(std::span<const spk::SourceRow>(spk::source_rows(sources)), content);
  std::vector<spk::SourceRow> rows;
  const std::vector<std::byte> bytes(content.bytes().bytes().begin(),
                                     content.bytes().bytes().end());
  REQUIRE(spk::decode_rows(stackpack::bytes::ByteCursor(bytes, 0), rows).has_value());
  const auto read = spk::sources_of(rows);
  REQUIRE(read.has_value());
  CHECK(*read == sources);
}

TEST_CASE("source rows: damaged lists are refused") {
  const auto refused = [](const std::vector<spk::SourceRow>& rows) {
    const auto read = spk::sources_of(rows);
    return !read && read.error().code == stackpack::ErrorCode::kCorrupt;
  };
  const std::vector<spk::SourceRow> good = spk::source_rows(two_sources());
  CHECK_FALSE(refused(good));
  std::vector<spk::SourceRow> rows = good;
  rows[0].id.pop_back();
  CHECK(refused(rows));
  rows = good;
  rows[0].pids += '\x80';  // a number that does not end
  CHECK(refused(rows));
  rows = good;
  rows[0].pids += std::string(1, '\0');  // a pid twice
  CHECK(refused(rows));
  rows = good;
  rows[0].losses.pop_back();
  CHECK(refused(rows));
  rows = good;
  rows[0].losses += std::string("\x7f") + "x";  // a name of 127 bytes that is not there
  CHECK(refused(rows));
  rows = {good[1], good[0]};
  CHECK(refused(rows));
  rows = {good[0], good[0]};
  CHECK(refused(rows));
}
