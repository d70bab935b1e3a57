// Writes small .spk files that promise much: write_hostile FOLDER
//
// Their checksums are right; only the bounds of the reader stand between them and the memory.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "spk/format/layout.h"
#include "support/spk_file_maker.h"
#include "support/spk_recipe.h"

namespace stackpack::test {
namespace {

using spk::SectionKind;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kHuge = ~std::uint64_t{0};

SpkRecipe::Section& section(SpkRecipe& recipe, SectionKind kind) {
  for (SpkRecipe::Section& each : recipe.sections) {
    if (each.record.kind == static_cast<std::uint32_t>(kind)) {
      return each;
    }
  }
  std::cerr << "no section " << static_cast<std::uint32_t>(kind) << '\n';
  std::exit(1);
}

// One block of nothing but zeros, as large as a block may be: a few hundred bytes on disk.
void fill_with_zeros(SpkRecipe::Section& section, std::size_t bytes) {
  section.blocks.assign(1, Bytes(bytes));
}

// A table of 4,096 rows whose texts fill the largest block.
Bytes wide_table(std::size_t columns_before, std::size_t texts, std::size_t columns_after) {
  constexpr std::uint32_t kRows = spk::kRowsPerTableBlock;
  const std::size_t length = (spk::kMaxBlockBytes - 4'096) / kRows / texts;
  TestBytes block;
  block.u8(0x80 | (kRows & 0x7F)).u8(kRows >> 7);
  const auto constant = [&block](std::uint64_t value) {
    block.u8(0).u8(0);
    while (value >= 0x80) {
      block.u8(static_cast<std::uint8_t>(0x80 | (value & 0x7F)));
      value >>= 7;
    }
    block.u8(static_cast<std::uint8_t>(value));
  };
  for (std::size_t i = 0; i < columns_before; ++i) {
    constant(0);
  }
  for (std::size_t i = 0; i < texts; ++i) {
    constant(length);
    block.zeros(length * kRows);
  }
  for (std::size_t i = 0; i < columns_after; ++i) {
    constant(0);
  }
  return block.bytes;
}

struct Case {
  std::string name;
  std::function<void(SpkRecipe&)> forge;
};

// The summary is a count of numbers, then the numbers.
void set_number(SpkRecipe& recipe, std::size_t number, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) {
    section(recipe, SectionKind::kSummary).blocks.at(0).at(1 + number * 8 + i) =
        static_cast<std::byte>(value >> (8 * i));
  }
}

constexpr std::size_t kStackIds = 12;

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"frames-huge", [](SpkRecipe& r) { section(r, SectionKind::kFrames).record.items = kHuge; }},
      {"frames-most",
       [](SpkRecipe& r) { section(r, SectionKind::kFrames).record.items = spk::kMaxFrames; }},
      {"edges-huge", [](SpkRecipe& r) { section(r, SectionKind::kEdges).record.items = kHuge; }},
      {"nodes-huge", [](SpkRecipe& r) { section(r, SectionKind::kPages).record.items = kHuge; }},
      {"nodes-2^40",
       [](SpkRecipe& r) { section(r, SectionKind::kPages).record.items = std::uint64_t{1} << 40; }},
      {"pages-huge",
       [](SpkRecipe& r) { section(r, SectionKind::kPageIndex).record.items = kHuge; }},
      {"samples-huge",
       [](SpkRecipe& r) { section(r, SectionKind::kSamples).record.items = kHuge; }},
      {"events-huge", [](SpkRecipe& r) { section(r, SectionKind::kEvents).record.items = kHuge; }},
      {"stack-ids-most", [](SpkRecipe& r) { set_number(r, kStackIds, 0xFFFF'FFFE); }},
      {"stack-ids-huge", [](SpkRecipe& r) { set_number(r, kStackIds, kHuge); }},
      {"stack-ids-of-empty-pages",
       [](SpkRecipe& r) {
         section(r, SectionKind::kPages).record.items = spk::kNodesPerPage;
         set_number(r, kStackIds, spk::kNodesPerPage);
       }},
      {"frames-zeros",
       [](SpkRecipe& r) {
         fill_with_zeros(section(r, SectionKind::kFrames), spk::kMaxBlockBytes);
       }},
      {"edges-zeros",
       [](SpkRecipe& r) { fill_with_zeros(section(r, SectionKind::kEdges), spk::kMaxBlockBytes); }},
      {"page-zeros",
       [](SpkRecipe& r) { fill_with_zeros(section(r, SectionKind::kPages), spk::kMaxPageBytes); }},
      {"page-too-large",
       [](SpkRecipe& r) { fill_with_zeros(section(r, SectionKind::kPages), spk::kMaxBlockBytes); }},
      {"summary-zeros",
       [](SpkRecipe& r) {
         fill_with_zeros(section(r, SectionKind::kSummary), spk::kMaxSummaryBytes);
       }},
      {"summary-too-large",
       [](SpkRecipe& r) {
         fill_with_zeros(section(r, SectionKind::kSummary), spk::kMaxBlockBytes);
       }},
      {"processes-wide",
       [](SpkRecipe& r) {
         section(r, SectionKind::kProcesses).blocks.assign(1, wide_table(5, 2, 0));
         section(r, SectionKind::kProcesses).record.items = spk::kRowsPerTableBlock;
       }},
      {"events-wide",
       [](SpkRecipe& r) {
         section(r, SectionKind::kEvents).blocks.assign(1, wide_table(0, 1, 1));
         section(r, SectionKind::kEvents).record.items = spk::kRowsPerTableBlock;
       }},
      {"metadata-wide",
       [](SpkRecipe& r) {
         section(r, SectionKind::kMetadata).blocks.assign(1, wide_table(0, 2, 0));
         section(r, SectionKind::kMetadata).record.items = spk::kRowsPerTableBlock;
       }},
  };
  return all;
}

void write(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  for (const std::byte byte : bytes) {
    file.put(static_cast<char>(std::to_integer<unsigned char>(byte)));
  }
}

SpkContent small_content() {
  SpkContent content;
  content.stacks = {{{FrameMode::kUser, 1}, {FrameMode::kUser, 2}}};
  StoredSample sample;
  sample.time_ns = 5;
  sample.origin = StackOrigin::kRecorded;
  sample.stack = 0;
  content.samples = {sample};
  content.tables.processes = {{7, 1, 5, kUnknownTime, true, "name", "command line"}};
  content.tables.metadata = {{"key", "value"}};
  return content;
}

// One callstack per node below a trunk of the greatest depth: the listing is a gigabyte.
SpkContent deep_content() {
  SpkContent content;
  RootFirstStack trunk(spk::kMaxStackDepth - 1, Frame{FrameMode::kUser, 1});
  for (std::uint64_t leaf = 2; leaf < 200; ++leaf) {
    trunk.push_back({FrameMode::kUser, leaf});
    content.stacks.insert(trunk);
    trunk.pop_back();
  }
  return content;
}

void write_all(const std::string& folder) {
  std::filesystem::create_directories(folder);
  const Bytes good = spk_bytes(small_content());
  for (const Case& each : cases()) {
    std::optional<SpkRecipe> recipe = take_recipe(good);
    if (!recipe) {
      std::cerr << "the file to forge is none\n";
      std::exit(1);
    }
    each.forge(*recipe);
    write(folder + "/" + each.name + ".spk", cook(std::move(*recipe)));
  }
  write(folder + "/deep.spk", spk_bytes(deep_content()));
}

}  // namespace
}  // namespace stackpack::test

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: write_hostile FOLDER\n";
    return 1;
  }
  stackpack::test::write_all(arguments[1]);
  return 0;
}
