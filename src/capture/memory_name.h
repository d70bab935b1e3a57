// Names that kernels give to memory without a file.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace stackpack::capture {

/// Whether a mapping of that path is memory that had no content when it was mapped.
inline bool is_anonymous(std::string_view path) {
  return path.starts_with("//anon") || path.starts_with("[anon") ||
         path.starts_with("/anon_hugepage");
}

/// Whether a mapping of that path has no file: the same name is not the same code.
inline bool is_memory_name(std::string_view path) {
  constexpr std::array<std::string_view, 7> kNames{"[heap]", "[stack",      "/memfd:", "/dev/zero",
                                                   "/SYSV",  "anon_inode:", "[JIT]"};
  return path.empty() || is_anonymous(path) ||
         std::any_of(kNames.begin(), kNames.end(),
                     [path](std::string_view name) { return path.starts_with(name); });
}

}  // namespace stackpack::capture
