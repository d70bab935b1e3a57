#include "app/branches/branch_profile.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/branches/image_branches.h"

namespace stackpack::app {

namespace {

using symbolize::ElfIdentity;
using symbolize::ElfSegment;

constexpr std::array<std::string_view, 6> kProfileNames{
    "bolt-preaggregated", "autofdo", "llvm-profgen", "bolt-no-lbr", "propeller", "propeller-order"};
constexpr std::uint64_t kPage = 4096;

// What the tool takes off a virtual address.
std::optional<std::uint64_t> origin_of(BranchProfile profile, const ElfIdentity& elf) {
  if (elf.segments.empty()) {
    return std::nullopt;
  }
  switch (profile) {
    case BranchProfile::kBolt:
    case BranchProfile::kBoltNoLbr:
    case BranchProfile::kPropeller:
    case BranchProfile::kPropellerOrder:
      return 0;
    case BranchProfile::kAutofdo:
      return elf.segments.front().address;
    case BranchProfile::kLlvmProfgen:
      break;
  }
  const auto code = std::find_if(elf.segments.begin(), elf.segments.end(),
                                 [](const ElfSegment& segment) { return segment.executable; });
  return code == elf.segments.end() ? std::nullopt : std::optional(code->address / kPage * kPage);
}

std::string end_text(const std::optional<std::uint64_t>& address) {
  return address ? fmt::format("{:x}", *address) : "X:0";
}

std::string bolt_text(const PlacedBranches& placed) {
  std::string text;
  for (const auto& [ends, sums] : placed.edges) {
    text += fmt::format("B {} {} {} {}\n", end_text(ends.first), end_text(ends.second), sums.count,
                        sums.mispredicted);
  }
  for (const auto& [range, count] : placed.ranges) {
    text += fmt::format("F {:x} {:x} {}\n", range.first, range.second, count);
  }
  return text;
}

// `has_samples`: the format has addresses of samples between ranges and branches. There are none:
// ranges say more.
std::string counted_text(const PlacedBranches& placed, bool has_samples) {
  std::string text = fmt::format("{}\n", placed.ranges.size());
  for (const auto& [range, count] : placed.ranges) {
    text += fmt::format("{:x}-{:x}:{}\n", range.first, range.second, count);
  }
  text += has_samples ? "0\n" : "";
  std::string lines;
  std::size_t edges = 0;
  for (const auto& [ends, sums] : placed.edges) {
    if (ends.first && ends.second) {
      ++edges;
      lines += fmt::format("{:x}->{:x}:{}\n", *ends.first, *ends.second, sums.count);
    }
  }
  return text + fmt::format("{}\n", edges) + lines;
}

}  // namespace

std::span<const std::string_view> branch_profile_names() {
  return kProfileNames;
}

std::string_view branch_profile_name(BranchProfile profile) {
  return kProfileNames[static_cast<std::size_t>(profile)];
}

std::optional<BranchProfile> branch_profile_of(std::string_view name) {
  const auto found = std::find(kProfileNames.begin(), kProfileNames.end(), name);
  return found == kProfileNames.end()
             ? std::nullopt
             : std::optional(static_cast<BranchProfile>(found - kProfileNames.begin()));
}

BranchRules default_rules(BranchProfile profile) {
  BranchRules rules;
  if (profile == BranchProfile::kAutofdo) {
    rules.head_duplicates = false;
    rules.wrong_path = false;
    rules.longest_range = std::uint64_t{1} << 20;
  }
  return rules;
}

std::optional<BranchText> branch_profile_text(BranchProfile profile, const ImageBranches& image,
                                              const ElfIdentity& elf) {
  const std::optional<std::uint64_t> origin = origin_of(profile, elf);
  if (!origin) {
    return std::nullopt;
  }
  const PlacedBranches placed = place_branches(image, elf, *origin);
  BranchText made;
  made.text = profile == BranchProfile::kBolt
                  ? bolt_text(placed)
                  : counted_text(placed, profile == BranchProfile::kAutofdo);
  made.unplaced = placed.unplaced;
  return made;
}

}  // namespace stackpack::app
