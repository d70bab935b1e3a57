#include "formats/dotnet/method_modules.h"

#include <algorithm>

#include "bytes/byte_cursor.h"
#include "bytes/wide_text.h"

namespace stackpack::dotnet {

void MethodModules::add_method(std::uint32_t pid, std::uint64_t module, std::uint64_t start,
                               std::uint64_t size) {
  if (size != 0 && methods_.size() < kMostMethods) {
    methods_.push_back({pid, start, size, module});
  }
}

void MethodModules::add_module(std::uint32_t pid, std::span<const std::byte> payload) {
  bytes::ByteCursor in(payload, 0);
  const auto module = in.read<std::uint64_t>();
  in.skip(2 * sizeof(std::uint64_t));
  std::string path = in.ok() ? bytes::read_wide_text(in) : std::string();
  if (path.empty() && in.ok()) {
    path = bytes::read_wide_text(in);
  }
  if (!path.empty() && paths_.size() < kMostModules) {
    paths_.try_emplace({pid, module}, std::move(path));
  }
}

void MethodModules::add_addresses(std::span<const std::uint64_t> addresses) {
  for (const std::uint64_t address : addresses) {
    if (addresses_.size() < kMostAddresses) {
      addresses_.insert(address);
    }
  }
}

void MethodModules::finish(capture::SystemRecorder& system) {
  std::vector<std::uint64_t> occurring(addresses_.begin(), addresses_.end());
  std::sort(occurring.begin(), occurring.end());
  std::sort(methods_.begin(), methods_.end());
  std::pair<std::uint32_t, std::uint64_t> taken;  // process, and up to where it has mappings
  for (const Method& method : methods_) {
    const auto path = paths_.find({method.pid, method.module});
    const auto first = std::lower_bound(occurring.begin(), occurring.end(), method.start);
    // A return address may lie right after the last byte.
    const bool occurs = first != occurring.end() && *first - method.start <= method.size;
    const bool overlaps = taken.first == method.pid && method.start < taken.second;
    if (path == paths_.end() || !occurs || overlaps ||
        method.size > ~std::uint64_t{0} - method.start) {
      continue;
    }
    Module module;
    module.pid = method.pid;
    module.base = method.start;
    module.size = method.size;
    module.path = path->second;
    system.module_mapped(module);
    taken = {method.pid, method.start + method.size};
  }
}

}  // namespace stackpack::dotnet
