// What code without a name is called.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stackpack::capture {

/// The last part of an image's path, whichever way its slashes lean.
inline std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// `image+0xoffset`, of an offset as text.
inline std::string unnamed_code(std::string_view image, std::string_view offset) {
  std::string name(last_part(image));
  name += '+';
  return name.append(offset);
}

}  // namespace stackpack::capture
