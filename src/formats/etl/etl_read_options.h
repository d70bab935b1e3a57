#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "capture/read_control.h"
#include "formats/etl/trace_summary.h"
#include "io/directories.h"

namespace stackpack::etl {

struct ReadOptions {
  capture::ReadControl control;
  TraceSummary* summary = nullptr;  ///< may be null: filled on success
  /// Upper bound for a decompressed buffer; larger ones are damage.
  std::uint64_t max_buffer_bytes = std::uint64_t{16} << 20;
  /// Upper bound for the decompressed buffers that are open at a time, one per processor.
  std::uint64_t max_open_bytes = std::uint64_t{256} << 20;
  /// Bytes of decompressed buffers that are in memory as a whole; of others that are open there is
  /// a window.
  std::uint64_t max_whole_bytes = std::uint64_t{4} << 20;
  std::uint64_t window_bytes = std::uint64_t{3} << 20;  ///< of all windows together
  /// Events that are remembered in case a stack comes for them.
  std::size_t event_window = std::size_t{1} << 17;
  /// Memory for what the trace may name as much of as it likes: threads, stack keys, halves of
  /// callstacks that wait. Beyond, these tables go to a scratch file.
  std::uint64_t table_bytes = std::uint64_t{8} << 20;
  /// Decompress on a second thread. The result is the same.
  bool read_ahead = true;
  /// The inputs can be read until the sink's functions are finished: what is there does not have to
  /// be kept.
  bool source_stays = false;
  /// Where the scratch file is made when it is needed.
  std::string scratch_directory = io::temporary_directory();
};

}  // namespace stackpack::etl
