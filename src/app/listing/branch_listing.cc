#include "app/listing/branch_listing.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <tuple>
#include <utility>

#include "app/listing/listed_texts.h"
#include "capture/branch_recorder.h"
#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

constexpr std::array<std::string_view, 4> kSpeculationNames{
    "-", "WRONG_PATH", "NON_SPEC_CORRECT_PATH", "CORRECT_PATH"};

// An image is known by its build id, whatever it was called.
std::vector<std::string> image_names(std::vector<Module> modules) {
  std::vector<std::string> names;
  names.reserve(modules.size());
  for (Module& module : modules) {
    std::string id = listed_build_id(module);
    names.push_back(id.empty() ? std::move(module.path) : std::move(id));
  }
  return names;
}

std::string place_text(const std::vector<std::string>& names, std::uint32_t image,
                       std::uint64_t offset) {
  std::string text = image == kNoImage ? std::string() : names[image];
  text += text.empty() ? "" : "+";
  std::array<char, 16> digits{};
  constexpr int kHex = 16;
  text.append(digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), offset, kHex).ptr);
  return text;
}

// Rows with the same key become one.
template <typename Row, typename Key>
void add_up(std::vector<Row>& rows, const Key& key) {
  core::sort_rows(rows, [&key](const Row& a, const Row& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (kept != 0 && key(rows[kept - 1]) == key(rows[i])) {
      rows[kept - 1].count += rows[i].count;
    } else if (kept++ != i) {
      rows[kept - 1] = std::move(rows[i]);
    }
  }
  rows.resize(kept);
}

}  // namespace

std::string_view branch_type_name(BranchType type) {
  constexpr std::array<std::string_view, 15> kNames{
      "UNKNOWN", "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",  "SYSCALL",
      "SYSRET",  "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX"};
  constexpr std::array<std::string_view, 8> kExtendedNames{
      "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"};
  const auto number = static_cast<std::size_t>(type);
  if (number < kNames.size()) {
    return kNames[number];
  }
  constexpr auto kFirst = static_cast<std::size_t>(BranchType::kExtended);
  const std::size_t extended = number / 16;
  return number % 16 == kFirst && extended < kExtendedNames.size() ? kExtendedNames[extended] : "?";
}

BranchFlags::BranchFlags(std::uint64_t flags)
    : predicted((flags & 2U) != 0),
      in_transaction((flags & 4U) != 0),
      abort((flags & 8U) != 0),
      speculation(kSpeculationNames[static_cast<std::size_t>(flags >> 24U & 3U)]) {
  const capture::BranchEntry entry = capture::branch_entry({0, 0, flags});
  mispredicted = entry.mispredicted;
  cycles = entry.cycles;
  type = entry.type;
}

Result<std::vector<ListedBranch>> listed_branches(const Reader& reader) {
  const Result<Branches> branches = reader.branches();
  Result<std::vector<Module>> modules = reader.modules();
  if (!branches || !modules) {
    return branches ? modules.error() : branches.error();
  }
  const std::vector<std::string> names = image_names(std::move(*modules));
  std::vector<ListedBranch> rows;
  for (const BranchEdge& edge : branches->edges) {
    const ListedBranch row{place_text(names, edge.from_image, edge.from),
                           place_text(names, edge.to_image, edge.to), branch_type_name(edge.type)};
    for (const bool mispredicted : {false, true}) {
      const std::uint64_t count = mispredicted ? edge.mispredicted : edge.count - edge.mispredicted;
      if (count != 0) {
        rows.push_back(row);
        rows.back().mispredicted = mispredicted;
        rows.back().count = count;
      }
    }
  }
  add_up(rows, [](const ListedBranch& row) {
    return std::tuple(std::string_view(row.from), std::string_view(row.to), row.type,
                      row.mispredicted);
  });
  return rows;
}

Result<std::vector<ListedRange>> listed_ranges(const Reader& reader) {
  const Result<Branches> branches = reader.branches();
  Result<std::vector<Module>> modules = reader.modules();
  if (!branches || !modules) {
    return branches ? modules.error() : branches.error();
  }
  const std::vector<std::string> names = image_names(std::move(*modules));
  std::vector<ListedRange> rows;
  for (const BranchRange& range : branches->ranges) {
    rows.push_back({place_text(names, range.image, range.begin), range.end, range.count});
  }
  add_up(rows,
         [](const ListedRange& row) { return std::tuple(std::string_view(row.begin), row.end); });
  return rows;
}

}  // namespace stackpack::app
