#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "capture/recent_chains.h"
#include "formats/etl/etl_read_options.h"
#include "formats/etl/event_rows.h"
#include "formats/etl/file/buffer_decoder.h"
#include "formats/etl/file/buffer_index.h"
#include "formats/etl/file/buffer_merge.h"
#include "formats/etl/names/event_titles.h"
#include "formats/etl/trace_group.h"
#include "formats/etl/trace_order.h"
#include "formats/etl/trace_reader.h"
#include "scratch/spill_space.h"

namespace stackpack::etl {

/// Reads the traces of a session side by side: the earliest event of all goes first. Each trace
/// joins its own callstacks; what it says of the machine goes to its group.
class TraceSession {
 public:
  /// `traces` in the order of order_traces(); `sink` and the sources must outlive the session.
  TraceSession(std::vector<TraceInput> traces, capture::CallstackSink& sink,
               const ReadOptions& options);
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;
  ~TraceSession();

  /// Call once. As read_session().
  Result<capture::ByteAccount> run();

 private:
  struct Trace {
    TraceInput input;
    TraceGroup* group = nullptr;
    capture::ByteAccount account;
    std::optional<TraceReader> reader;
    std::optional<BufferIndex> index;
    std::optional<BufferDecoder> decoder;
    std::optional<BufferMerge> merge;
    std::atomic<std::uint64_t> bytes_done{0};  // of several traces
    std::uint64_t part = 0;
    bool ended = false;
    std::uint64_t time = 0;  // of the event that is next, see time_of()
  };

  void make_groups();
  TraceGroup& group_of(const LogFileHeader& header);
  void describe() const;
  Status open(Trace& trace);
  Status merge_events();
  Status read_until(Trace& trace, const Trace* next);
  Status deliver(BufferMerge& merge, TraceReader& reader) const;
  [[nodiscard]] Error error_of(const Trace& trace, Error error) const;
  void show_progress() const;
  Status finish();
  void summarize(TraceSummary& summary) const;
  [[nodiscard]] std::uint64_t time_of(const Trace& trace) const;
  [[nodiscard]] const Trace* largest() const;
  [[nodiscard]] bool single() const { return traces_.size() == 1; }

  capture::CallstackSink& sink_;
  ReadOptions options_;
  scratch::SpillSpace space_;
  EventRows rows_;
  capture::RecentChains recent_;
  EventTitles titles_;  // a merge puts them into one trace for all
  std::vector<std::unique_ptr<TraceGroup>> groups_;
  std::vector<std::unique_ptr<Trace>> traces_;
  std::uint64_t delivered_ = 0;  // events
};

}  // namespace stackpack::etl
