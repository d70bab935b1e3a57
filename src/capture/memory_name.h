// Names that kernels give to memory without a file.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace stackpack::capture {

/// Whether a mapping of that path has no file: the same name is not the same code.
inline bool is_memory_name(std::string_view path) {
  constexpr std::array<std::string_view, 9> kNames{"//anon", "[anon",       "[heap]",
                                                   "[stack", "/memfd:",     "/dev/zero",
                                                   "/SYSV",  "anon_inode:", "[JIT]"};
  return path.empty() || std::any_of(kNames.begin(), kNames.end(), [path](std::string_view name) {
           return path.starts_with(name);
         });
}

}  // namespace stackpack::capture
