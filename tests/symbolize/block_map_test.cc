// Maps of basic blocks as versions of LLVM write them.
#include "symbolize/block_map.h"

#include <vector>

#include <doctest/doctest.h>

#include "support/elf_maker.h"

using namespace stackpack;
using symbolize::BlockMap;
using test::TestBytes;

namespace {

constexpr std::uint64_t kEntry = 0x401000;
constexpr std::uint32_t kType = 0x6FFF'4C0A;
constexpr std::uint32_t kOldType = 0x6FFF'4C08;

Result<BlockMap> map_of(TestBytes bytes, std::uint32_t type = kType) {
  test::ElfMaker maker;
  maker.add_code().add(".llvm_bb_addr_map", type, 0, std::move(bytes));
  const std::vector<std::byte> file = maker.file();
  const auto source = io::source_of_memory(file);
  CHECK(symbolize::has_block_map(*source));
  return symbolize::read_block_map(*source);
}

std::vector<std::uint64_t> numbers_of(const Result<BlockMap>& map) {
  REQUIRE(map.has_value());
  std::vector<std::uint64_t> numbers;
  for (const symbolize::CodeBlock& block : map->blocks) {
    numbers.insert(numbers.end(), {block.function, block.id, block.address, block.bytes});
  }
  return numbers;
}

}  // namespace

TEST_SUITE("block map") {
  TEST_CASE("version 2 has ids, and offsets from the end of the block before") {
    TestBytes bytes;
    bytes.u8(2).u8(0).u64(kEntry).u8(2);
    bytes.u8(0).u8(0).u8(0x10).u8(8);
    bytes.u8(3).u8(4).u8(0x20).u8(1);
    CHECK(numbers_of(map_of(bytes)) ==
          std::vector<std::uint64_t>{0, 0, kEntry, 0x10, 0, 3, kEntry + 0x14, 0x20});
  }

  TEST_CASE("version 1 counts blocks, version 0 counts offsets from the function") {
    TestBytes bytes;
    bytes.u8(1).u8(0).u64(kEntry).u8(2).u8(0).u8(0x10).u8(8).u8(4).u8(0x20).u8(1);
    CHECK(numbers_of(map_of(bytes)) ==
          std::vector<std::uint64_t>{0, 0, kEntry, 0x10, 0, 1, kEntry + 0x14, 0x20});
    TestBytes old;
    old.u64(kEntry).u8(2).u8(0).u8(0x10).u8(8).u8(0x14).u8(0x20).u8(1);
    old.u64(kEntry + 0x100).u8(1).u8(0).u8(4).u8(0);
    CHECK(numbers_of(map_of(old, kOldType)) == std::vector<std::uint64_t>{0, 0, kEntry, 0x10, 0, 1,
                                                                          kEntry + 0x14, 0x20, 1, 0,
                                                                          kEntry + 0x100, 4});
  }

  TEST_CASE("functions in several parts, call sites, hashes and a profile") {
    TestBytes bytes;
    bytes.u8(4).u8(0b111'1111 & ~0b1'0000U);  // all features but blocks that are left out
    bytes.u8(2).u64(kEntry).u8(1);
    bytes.u8(0).u8(0).u8(2).u8(3).u8(4).u8(5).u8(8).u64(77);  // two call sites: 3 + 4 bytes before
    bytes.u64(kEntry + 0x1000).u8(1);
    bytes.u8(1).u8(0).u8(0).u8(6).u8(1).u64(78);
    bytes.u8(100);                    // entries
    bytes.u8(90).u8(1).u8(1).u8(50);  // frequency, one successor
    bytes.u8(80).u8(0);
    bytes.u8(2).u8(0).u64(kEntry + 0x2000).u8(1).u8(0).u8(0).u8(1).u8(0);
    const Result<BlockMap> map = map_of(bytes);
    CHECK(numbers_of(map) == std::vector<std::uint64_t>{0, 0, kEntry, 12, 0, 1, kEntry + 0x1000, 6,
                                                        1, 0, kEntry + 0x2000, 1});
    CHECK(map->entries == std::vector<std::uint64_t>{kEntry, kEntry + 0x2000});
  }

  TEST_CASE("what is cut, unknown or not there is refused") {
    TestBytes bytes;
    bytes.u8(2).u8(0).u64(kEntry).u8(200).u8(0).u8(0).u8(0x10).u8(8);
    CHECK(map_of(bytes).error().code == ErrorCode::kCorrupt);
    CHECK(map_of(TestBytes().u8(9).u8(0)).error().code == ErrorCode::kUnsupported);
    CHECK(map_of(TestBytes().u8(2).u8(0x80)).error().code == ErrorCode::kUnsupported);
    CHECK(map_of(TestBytes().u8(2).u8(8).u8(0)).error().code == ErrorCode::kCorrupt);
    test::ElfMaker plain;
    const std::vector<std::byte> file = plain.add_code().file();
    const auto source = io::source_of_memory(file);
    CHECK_FALSE(symbolize::has_block_map(*source));
    CHECK(symbolize::read_block_map(*source).error().code == ErrorCode::kUnsupported);
  }
}
