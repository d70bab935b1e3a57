#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stackpack/result.h"
#include "symbolize/pdb/msf_file.h"

namespace stackpack::symbolize {

/// What a PE file and its PDB have in common.
struct PdbIdentity {
  std::array<std::uint8_t, 16> guid{};  ///< as stored
  std::uint32_t age = 0;

  friend bool operator==(const PdbIdentity&, const PdbIdentity&) = default;
};

/// The streams of one object file in a PDB.
struct PdbModule {
  std::uint16_t stream = 0;          ///< kNoPdbStream: it has none
  std::uint32_t symbol_bytes = 0;    ///< records begin at byte 4
  std::uint32_t old_line_bytes = 0;  ///< after the symbols
  std::uint32_t line_bytes = 0;      ///< after those
};
inline constexpr std::uint16_t kNoPdbStream = 0xFFFF;

/// Bytes of the image, as RVAs.
struct RvaRange {
  std::uint32_t start = 0;
  std::uint32_t size = 0;
};

/// Where an optimizer moved code after linking: bytes from `from` on, up to the next entry, come
/// from `to`; 0: from nowhere.
struct OmapEntry {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// What the tables of a PDB say, apart from symbols and lines.
struct PdbTables {
  PdbIdentity identity;        ///< with the age that an image names
  std::uint32_t info_age = 0;  ///< of the last change; tools name either
  std::vector<PdbModule> modules;
  std::vector<RvaRange> sections;       ///< by number less one, as symbols number them
  std::vector<RvaRange> contributions;  ///< by start
  /// From RVAs of the image to those that symbols have, by `from`; empty: they are the same.
  std::vector<OmapEntry> to_source;
  std::uint16_t symbol_stream = kNoPdbStream;
  std::string file_names;     ///< texts with zero ends; others refer to their offsets
  std::uint64_t damaged = 0;  ///< tables that could not be read and are not needed

  /// Empty outside of every section.
  [[nodiscard]] std::optional<std::uint32_t> rva_of(std::uint16_t section,
                                                    std::uint32_t offset) const;
};

/// Reads them. Errors: as MsfFile, and kUnsupported for what is not read, by name.
Result<PdbTables> read_pdb_tables(const MsfFile& file);

}  // namespace stackpack::symbolize
