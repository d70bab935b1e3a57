// Makes .spk files that no writer makes: changed directories with right checksums.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "spk/format/directory.h"

namespace stackpack::test {

/// The parts of a good file.
struct SpkParts {
  std::vector<std::byte> head;  ///< header and sections
  spk::Directory directory;

  /// Whole again.
  [[nodiscard]] std::vector<std::byte> join() const {
    std::vector<std::byte> file = head;
    const std::vector<std::byte> tail = spk::encode_tail(directory, head.size());
    file.insert(file.end(), tail.begin(), tail.end());
    return file;
  }
  spk::SectionRecord& section(spk::SectionKind kind) {
    for (spk::SectionRecord& section : directory.sections) {
      if (section.kind == static_cast<std::uint32_t>(kind)) {
        return section;
      }
    }
    FAIL("no such section");
    return directory.sections.front();
  }
};

inline SpkParts take_apart(const std::vector<std::byte>& file) {
  const std::span<const std::byte> bytes(file);
  const auto trailer = spk::decode_trailer(bytes.last(spk::kTrailerBytes), bytes.size());
  REQUIRE(trailer.has_value());
  const auto begin = static_cast<std::size_t>(trailer->directory_offset);
  auto directory = spk::decode_directory(
      bytes.subspan(begin, static_cast<std::size_t>(trailer->directory_bytes)), trailer.value());
  REQUIRE(directory.has_value());
  return {{file.begin(), file.begin() + static_cast<std::ptrdiff_t>(begin)},
          std::move(directory).value()};
}

}  // namespace stackpack::test
