#pragma once

#include <cstdint>

#include "capture/read_control.h"

namespace stackpack::otlp {

struct ReadOptions {
  capture::ReadControl control;
  std::uint64_t max_sample_bytes = std::uint64_t{64} << 20;  ///< of one; larger ones are damage
  std::uint64_t max_table_bytes = std::uint64_t{1} << 30;    ///< of the dictionary
  std::uint64_t max_json_bytes = std::uint64_t{512} << 20;   ///< of a text, as protobuf
};

}  // namespace stackpack::otlp
