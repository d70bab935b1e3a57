#include "capture/synthetic_frames.h"

namespace stackpack::capture {

std::optional<std::uint64_t> SyntheticFrames::address_of(std::string_view name) {
  const auto known = addresses_.find(name);
  if (known != addresses_.end()) {
    return known->second;
  }
  if (addresses_.size() >= kMostNames || name.size() > kMostBytes - bytes_) {
    return std::nullopt;
  }
  if (addresses_.empty()) {
    system_.metadata(kMetadataKey, "1");
  }
  bytes_ += name.size();
  const std::uint64_t address = kFirstAddress + addresses_.size();
  addresses_.emplace(name, address);
  Module module;
  module.pid = kKernelPid;
  module.base = address;
  module.size = 1;
  module.path = std::string(name);
  system_.module_mapped(module);
  return address;
}

}  // namespace stackpack::capture
