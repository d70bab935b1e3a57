#include "app/branches/image_addresses.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace stackpack::app {

ImageAddresses::ImageAddresses(std::span<const Module> modules) : modules_(modules) {
  using Identity = std::tuple<std::vector<std::uint8_t>, std::string_view>;
  std::map<Identity, std::uint32_t> images;
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> known;
  for (std::size_t row = 0; row < modules.size(); ++row) {
    const Module& module = modules[row];
    const std::string_view path = module.build_id.empty() ? module.path : std::string_view();
    const auto number = static_cast<std::uint32_t>(row);
    const std::uint32_t image = images.try_emplace({module.build_id, path}, number).first->second;
    if (known.emplace(image, module.file_offset, module.size).second) {
      parts_[image].push_back(number);
    }
  }
}

std::optional<Symbols::Query> ImageAddresses::find(std::uint32_t image,
                                                   std::uint64_t offset) const {
  const auto parts = parts_.find(image);
  if (parts == parts_.end()) {
    return std::nullopt;
  }
  for (const std::uint32_t row : parts->second) {
    const Module& module = modules_[row];
    if (offset >= module.file_offset && offset - module.file_offset < module.size) {
      Symbols::Query query;
      query.frame.mode = module.pid == kKernelPid ? FrameMode::kKernel : FrameMode::kUser;
      query.frame.address = module.base + (offset - module.file_offset);
      query.pid = module.pid;
      query.time_ns = module.start_ns == kUnknownTime ? 0 : module.start_ns;
      return query;
    }
  }
  return std::nullopt;
}

}  // namespace stackpack::app
