#include "app/merge/image_table.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "app/merge/source_set.h"
#include "capture/memory_name.h"
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

// Whether the module is the kernel itself, which lies elsewhere after every start.
bool is_kernel(const Module& module) {
  return module.pid == kKernelPid && module.path.starts_with("[kernel.kallsyms]");
}

std::uint64_t kernel_reference(std::span<const MetadataEntry> metadata) {
  constexpr int kHex = 16;
  std::string_view text = value_of(metadata, "kernel.reference_address");
  text.remove_prefix(text.starts_with("0x") ? 2 : 0);
  std::uint64_t address = 0;
  std::from_chars(text.data(), text.data() + text.size(), address, kHex);
  return address;
}

// Which address of the kernel is offset 0 of its image.
std::uint64_t kernel_origin(const Module& module, std::uint64_t reference) {
  constexpr std::uint64_t kKernelHalf = 0xFFFF'8000'0000'0000;
  if (reference >= module.base && reference - module.base < module.size) {
    return reference;
  }
  return module.base != 0 ? module.base : kKernelHalf;
}

std::uint64_t saturating(std::uint64_t a, std::uint64_t b) {
  return a > ~b ? ~std::uint64_t{0} : a + b;
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

std::vector<InputImage> input_images(std::span<const Module> modules,
                                     std::span<const MetadataEntry> metadata, bool merged,
                                     ImageTable& images) {
  constexpr std::uint64_t kMost = capture::RebasedAddresses::kMostExtent;
  const std::uint64_t reference = kernel_reference(metadata);
  std::vector<InputImage> found;
  found.reserve(modules.size());
  for (const Module& module : modules) {
    InputImage& image = found.emplace_back();
    const bool shared = merged && module.pid == kKernelPid;
    if (!shared && capture::is_memory_name(module.path)) {
      continue;
    }
    std::uint64_t extent = saturating(module.file_offset, module.size);
    if (!merged && is_kernel(module)) {
      const std::uint64_t origin = kernel_origin(module, reference);
      const std::uint64_t skipped = origin - module.base;
      extent = module.size > skipped ? module.size - skipped : 0;
      image.shift = skipped + module.file_offset;
    }
    image.image = images.add(module, std::min(extent, kMost));
  }
  return found;
}

}  // namespace stackpack::app
