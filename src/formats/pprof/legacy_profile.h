// The formats that pprof reads besides profile.proto: what gperftools, Google's servers in C++ and
// Java, and Go before 1.9 wrote. Each becomes a profile.proto, and is read as one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::pprof {

/// What a file of these formats says: columns, samples, and the places that they name.
struct LegacyContent {
  using Values = std::vector<std::int64_t>;

  struct Sample {
    std::vector<std::uint32_t> locations;  ///< numbers of locations(), leaf first
    Values values;
    std::int64_t block_bytes = 0;  ///< of a heap's: size of one of its blocks; 0: not told
  };
  struct Location {
    std::uint64_t address = 0;
    std::size_t mapping = 0;  ///< number of its mapping + 1; 0: none
    std::string function;     ///< empty: not told
    std::string file;
    std::int64_t line = 0;
  };
  struct Mapping {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
    std::uint64_t offset = 0;
    std::string file;
    std::string build_id;
  };

  std::vector<std::pair<std::string, std::string>> types;  ///< and their units
  std::pair<std::string, std::string> period_type;
  std::int64_t period = 0;
  std::int64_t duration_ns = 0;
  std::vector<Sample> samples;
  std::uint64_t damaged = 0;  ///< lines that are no samples
};

/// A profile under construction, as pprof's own readers of these formats make it.
class LegacyProfile : public LegacyContent {
 public:
  /// The number of the location of an address.
  std::uint32_t location(std::uint64_t address);
  [[nodiscard]] std::vector<Location>& locations() { return locations_; }

  /// Takes the lines of a memory map, and says in which mapping each address lies.
  void read_mappings(std::string_view lines);

  /// The profile as a profile.proto, with the frames that pprof drops of such a profile.
  [[nodiscard]] std::string proto() const;

 private:
  void join_adjacent();
  void move_program_first();
  void correct_first();
  void place_locations();

  std::vector<Location> locations_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_address_;
  std::vector<Mapping> mappings_;
};

/// Whether a file that begins so is of one of these formats, by its first line or header.
bool looks_like_legacy(std::string_view head);

/// All of a file of one of these formats, which may be compressed with gzip; empty for any other
/// file. Errors: kLimit beyond `max_bytes`; those of the source, and of damaged gzip.
Result<std::string> legacy_content(io::ByteSource& source, std::uint64_t max_bytes);

/// Reads the content of such a file. Errors: kCorrupt.
Result<LegacyProfile> read_legacy(std::string_view content);

}  // namespace stackpack::pprof
