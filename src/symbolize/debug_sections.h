#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"

namespace stackpack::symbolize {

/// An ELF file in memory that has debug sections and nothing else, for a library that reads files.
///
/// Use: add() sections, keep() those that stay, finish() to get the file; then drop() and add()
/// others for the next one. The bytes that finish() gave are valid until drop().
/// Memory: the sections, and half as much again while it grows.
class DebugSections {
 public:
  struct Machine {
    bool is_64_bit = true;
    bytes::ByteOrder order = bytes::ByteOrder::kLittle;
    std::uint16_t number = 0;  ///< EM_*
  };

  explicit DebugSections(const Machine& machine);

  /// Copies a section; where its bytes are, to be changed. Valid until the next call.
  std::span<std::byte> add(std::string_view name, std::span<const std::byte> content);

  /// What was added so far stays when drop() is called.
  void keep();
  void drop();

  /// Adds the tables. Nothing may be added until drop().
  std::span<std::byte> finish();

 private:
  struct Section {
    std::uint32_t name = 0;
    std::uint32_t type = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  void put(std::size_t at, std::size_t width, std::uint64_t value);
  void append(std::size_t width, std::uint64_t value);
  void append_section(const Section& section);
  void write_header(std::uint64_t sections_at);

  Machine machine_;
  std::vector<std::byte> bytes_;
  std::string_view::size_type kept_names_ = 0;
  std::size_t kept_bytes_ = 0;
  std::size_t kept_sections_ = 0;
  std::vector<char> names_;
  std::vector<Section> sections_;
};

}  // namespace stackpack::symbolize
