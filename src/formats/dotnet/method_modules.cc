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

void MethodModules::finish(capture::SystemRecorder& system) {
  std::sort(methods_.begin(), methods_.end());
  Module module;
  for (const Method& method : methods_) {
    if (const auto path = paths_.find({method.pid, method.module}); path != paths_.end()) {
      module.pid = method.pid;
      module.base = method.start;
      module.size = method.size;
      module.path = path->second;
      system.code_mapped(module);
    }
  }
}

}  // namespace stackpack::dotnet
