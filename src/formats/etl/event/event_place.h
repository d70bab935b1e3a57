#pragma once

#include <cstdint>

namespace stackpack::etl {

/// Where an event stands.
struct EventPlace {
  std::uint16_t processor = 0;
  std::uint64_t file_offset = 0;  ///< of the event, or of the compressed buffer that holds it
  bool stored_plain = false;      ///< the former
};

}  // namespace stackpack::etl
