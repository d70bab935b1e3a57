// Which assembly the code of a method belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/system_recorder.h"

namespace stackpack::dotnet {

/// Code that a runtime makes lies in no image. Its methods name a module, and other events say
/// which file that is: so the bytes of each method that occurs in a callstack become a mapping of
/// it.
///
/// Memory: 32 bytes for each of kMostMethods, and the paths.
class MethodModules {
 public:
  static constexpr std::size_t kMostMethods = std::size_t{1} << 19;
  static constexpr std::size_t kMostModules = std::size_t{1} << 16;

  void add_method(std::uint32_t pid, std::uint64_t module, std::uint64_t start, std::uint64_t size);
  /// The payload of a module event: u64 module, u64 assembly, u32 flags, u32, UTF-16 path of the IL
  /// image, UTF-16 path of a native one. One that is too short says nothing.
  void add_module(std::uint32_t pid, std::span<const std::byte> payload);

  /// Once, in the end: tells `system` the code of each method whose module has a path.
  void finish(capture::SystemRecorder& system);

 private:
  struct Method {
    std::uint32_t pid = 0;
    std::uint64_t start = 0;
    std::uint64_t size = 0;
    std::uint64_t module = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): a comparison with 0 that nobody wrote
    friend auto operator<=>(const Method&, const Method&) = default;
  };

  std::vector<Method> methods_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> paths_;
};

}  // namespace stackpack::dotnet
