#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stackpack::io {

/// A path from UTF-8. On Windows the library would read it in the code page of the system.
inline std::filesystem::path path_of(std::string_view text) {
#ifdef _WIN32
  return std::u8string(text.begin(), text.end());
#else
  return text;
#endif
}

/// The path as UTF-8, with slashes; on Windows, `\\server\share` and `\\?\` are left as they are.
inline std::string text_of(const std::filesystem::path& path) {
#ifdef _WIN32
  // The library would make one slash of the two at the start of a share's name.
  const bool verbatim = path.native().starts_with(L"\\\\") || path.native().starts_with(L"//");
  const std::u8string text = verbatim ? path.u8string() : path.generic_u8string();
  return {text.begin(), text.end()};
#else
  return path.native();
#endif
}

}  // namespace stackpack::io
