#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "capture/byte_account.h"
#include "capture/callstack_sink.h"
#include "capture/read_control.h"
#include "io/byte_source.h"
#include "io/directories.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// Bytes of a capture that looks_like_etl() wants to see.
inline constexpr std::size_t kDetectBytes = 128;

/// Tells an .etl file by the header of its first buffer and the marker of its first event.
bool looks_like_etl(std::span<const std::byte> head);

/// Totals over a whole trace: what a reader of ETW numbers wants to compare with other tools.
struct TraceSummary {
  /// Events by kind: "Group/type/vN" for kernel events, "guid/idN/opN/vN" for provider events,
  /// "guid/opN/vN" for classes, and "ext_item_type_N" for extended data items.
  std::map<std::string, std::uint64_t> event_counts;
  std::uint64_t events = 0;
  std::uint64_t wpp_messages = 0;

  std::uint64_t buffers = 0;
  std::uint64_t compressed_buffers = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t declared_buffers = 0;
  std::string compression;

  std::uint64_t fragments_inline = 0;
  std::uint64_t key_references = 0;
  std::uint64_t key_definitions = 0;
  std::uint64_t undefined_references = 0;
  std::uint64_t joined_stacks = 0;  ///< of StackWalk events: the sum of the next three
  std::uint64_t kernel_only = 0;
  std::uint64_t user_only = 0;
  std::uint64_t kernel_and_user = 0;
  std::uint64_t borrowed_user_halves = 0;
  std::uint64_t stale_kernel_halves = 0;
  std::uint64_t late_user_halves = 0;
  std::uint64_t joined_frames = 0;

  std::uint64_t extended_items = 0;
  std::uint64_t extended_items_with_match_id = 0;
  std::uint64_t extended_stacks = 0;
  std::uint64_t extended_frames = 0;

  std::uint64_t clr_stacks = 0;
  std::uint64_t clr_frames = 0;
  std::uint64_t clr_stacks_without_event = 0;

  std::uint64_t timer_samples = 0;
  std::uint64_t counter_samples = 0;
  std::uint64_t samples_with_stack = 0;
  std::uint64_t samples_without_stack = 0;
  std::uint64_t samples_not_idle = 0;
  std::uint64_t context_switches = 0;
  std::uint64_t ready_thread = 0;

  std::uint64_t processes = 0;  ///< distinct ids of start and rundown events
  std::uint64_t threads = 0;
  std::uint64_t image_events = 0;
  std::uint64_t images = 0;  ///< distinct (process, base)
  std::uint64_t pdb_records = 0;
};

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
  /// Where the scratch file is made when it is needed.
  std::string scratch_directory = io::temporary_directory();
};

/// Streams a whole trace into `sink`, in clock order.
///
/// `input` must be seekable: pass 1 reads the buffer headers, pass 2 merges one open buffer per
/// processor.
/// Memory: bounded, as the options say; what the trace names without end goes to scratch.
/// Damage: what can be read is read, the rest is counted in sink.losses().
/// Result: where the bytes went; an Error only when nothing can be read (no log file header), when
///         the sink fails, or when reading fails.
Result<capture::ByteAccount> read_capture(io::ByteSource& input, capture::CallstackSink& sink,
                                          const ReadOptions& options);

}  // namespace stackpack::etl
