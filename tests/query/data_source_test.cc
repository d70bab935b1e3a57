// Sources of data, as perf 6.1 writes the same numbers.
#include "query/data_source.h"

#include <string>

#include <doctest/doctest.h>

namespace stackpack::test {
namespace {

struct ReadSource {
  std::uint64_t number;
  std::string text;
};

const ReadSource kReadSources[] = {
    {0x68100142, "OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"},
    {0x68100162, "OP LOAD|LVL N/A or L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"},
    {0xf06, "OP LOAD|LVL L1 or LFB/MAB or L2 or L3|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
    {0xbe3, "OP N/A|LVL N/A or L1 or LFB/MAB or L3 hit miss|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
    {0xd6fc9e9c616,
     "OP LOAD|LVL Remote core, same node L7|SNP N/A or Hit or Miss or HitM or Fwd|TLB L2 or Walker "
     "or Fault hit|LCK N/A|BLK  N/A"},
    {0x4 | 0x42ULL << 5 | 1ULL << 20 | 2ULL << 24 | 0x64ULL << 26,
     "OP STORE|LVL L3 hit|SNP None|TLB Walker or Fault miss|LCK Yes|BLK  N/A"},
    {0x8 | 0xDULL << 33 | 1ULL << 37 | 4ULL << 40,
     "OP PFETCH|LVL Remote RAM|SNP N/A|TLB N/A|LCK No|BLK  Addr"},
    {0, "OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
};

TEST_SUITE("data source") {
  TEST_CASE("data source: numbers read as perf script reads them") {
    for (const auto& [number, text] : kReadSources) {
      CAPTURE(number);
      CHECK(query::DataSource(number).text() == text);
    }
  }

  TEST_CASE("data source: a line that another core had modified, near or far") {
    constexpr std::uint64_t kModified = 16ULL << 19;
    constexpr std::uint64_t kOtherCache = 1024ULL << 5;
    const query::DataSource near(2 | 64ULL << 5 | kModified);
    const query::DataSource far(2 | kOtherCache | kModified);
    CHECK(near.hits_modified());
    CHECK_FALSE(near.is_remote());
    CHECK(far.is_remote());
    CHECK(query::DataSource(1ULL << 37).is_remote());
    CHECK_FALSE(query::DataSource(2ULL << 19).hits_modified());
    CHECK(query::DataSource(4).is_store());
    CHECK_FALSE(query::DataSource(4).is_load());
  }
}

}  // namespace
}  // namespace stackpack::test
