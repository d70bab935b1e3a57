#include "app/merge/image_table.h"

#include <algorithm>
#include <string_view>

#include "capture/rebased_addresses.h"

namespace stackpack::app {

namespace {

using capture::RebasedAddresses;

// A build id of zeros stands for none in some captures.
bool has_build_id(const Module& module) {
  return module.build_id_kind != BuildIdKind::kNone &&
         std::any_of(module.build_id.begin(), module.build_id.end(),
                     [](std::uint8_t byte) { return byte != 0; });
}

// Of two texts for the same thing the one that is kept: the shorter, then the lesser.
void keep_shorter(std::string& kept, std::string_view text) {
  if (!text.empty() && (kept.empty() || std::tuple(text.size(), text) <
                                            std::tuple(kept.size(), std::string_view(kept)))) {
    kept = text;
  }
}

std::uint64_t room_of(std::uint64_t extent) {
  constexpr std::uint64_t kPage = RebasedAddresses::kAlignment;
  return (extent + kPage - 1) / kPage * kPage + kPage;
}

}  // namespace

std::uint32_t ImageTable::add(const Module& module, std::uint64_t extent) {
  Identity identity(BuildIdKind::kNone, module.path, extent);
  if (has_build_id(module)) {
    identity = {module.build_id_kind, std::string(module.build_id.begin(), module.build_id.end()),
                0};
  }
  const auto [known, fresh] =
      numbers_.try_emplace(std::move(identity), static_cast<std::uint32_t>(images_.size()));
  if (fresh) {
    images_.emplace_back();
  }
  Image& image = images_[known->second];
  image.extent = std::max(image.extent, extent);
  keep_shorter(image.path, module.path);
  keep_shorter(image.debug_name, module.debug_name);
  return known->second;
}

Status ImageTable::place() {
  std::uint64_t next = RebasedAddresses::kFirstPlace;
  std::uint32_t row = 0;
  for (const auto& [identity, number] : numbers_) {
    Image& image = images_[number];
    const std::uint64_t room = room_of(image.extent);
    if (room > RebasedAddresses::kFirstName - next) {
      return Error{ErrorCode::kLimit, kNoOffset, "too many images of too many bytes to merge"};
    }
    image.base = next;
    image.row = row++;
    next += room;
  }
  return {};
}

std::vector<Module> ImageTable::modules() const {
  std::vector<Module> rows;
  rows.reserve(images_.size());
  for (const auto& [identity, number] : numbers_) {
    const Image& image = images_[number];
    Module row;
    row.base = image.base;
    row.size = image.extent;
    row.path = image.path;
    row.debug_name = image.debug_name;
    row.build_id_kind = std::get<BuildIdKind>(identity);
    if (row.build_id_kind != BuildIdKind::kNone) {
      const std::string& id = std::get<std::string>(identity);
      row.build_id.assign(id.begin(), id.end());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stackpack::app
