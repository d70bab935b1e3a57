#include "app/merge/input_images.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "app/merge/source_clock.h"
#include "capture/memory_name.h"
#include "capture/rebased_addresses.h"

namespace stackpack::app {

namespace {

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
