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

/// The path as UTF-8, with slashes.
inline std::string text_of(const std::filesystem::path& path) {
#ifdef _WIN32
  const std::u8string text = path.generic_u8string();
  return {text.begin(), text.end()};
#else
  return path.native();
#endif
}

}  // namespace stackpack::io
