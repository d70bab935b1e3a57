#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace stackpack::test {

inline void write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream out(path, std::ios::binary);
  for (const std::byte byte : bytes) {
    out.put(static_cast<char>(byte));
  }
}

}  // namespace stackpack::test
