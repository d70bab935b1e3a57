#include "formats/etl/trace_session.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "formats/etl/etl_losses.h"
#include "formats/etl/file/buffer_order.h"

namespace stackpack::etl {

namespace {

// With more traces than this, each remembers fewer events.
constexpr std::size_t kTracesWithWholeWindow = 4;
constexpr std::size_t kLeastWindow = std::size_t{1} << 14;

constexpr unsigned kEventsBetweenReports = 4096;

ReadOptions shared_out(ReadOptions options, std::size_t traces) {
  options.max_open_bytes /= traces;
  options.max_whole_bytes /= traces;
  options.window_bytes /= traces;
  if (traces > kTracesWithWholeWindow) {
    const std::size_t share = options.event_window * kTracesWithWholeWindow / traces;
    options.event_window = std::min(options.event_window, std::max(share, kLeastWindow));
  }
  return options;
}

}  // namespace

TraceSession::TraceSession(std::vector<TraceInput> traces, capture::CallstackSink& sink,
                           const ReadOptions& options)
    : sink_(sink),
      options_(shared_out(options, traces.size())),
      space_(options.scratch_directory, options.table_bytes),
      rows_(sink) {
  for (TraceInput& input : traces) {
    traces_.push_back(std::make_unique<Trace>());
    traces_.back()->input = std::move(input);
  }
}

TraceSession::~TraceSession() = default;

Result<capture::ByteAccount> TraceSession::run() {
  make_groups();
  describe();
  for (const std::unique_ptr<Trace>& trace : traces_) {
    if (const Status opened = open(*trace); !opened) {
      Error error = opened.error();
      error.part = single() ? error.part : static_cast<std::uint32_t>(trace->input.number);
      return error;
    }
  }
  if (const Status merged = merge_events(); !merged) {
    return merged.error();
  }
  if (const Status finished = finish(); !finished) {
    return finished.error();
  }
  if (options_.summary != nullptr) {
    summarize(*options_.summary);
  }
  capture::ByteAccount account;
  for (const std::unique_ptr<Trace>& trace : traces_) {
    account.add(trace->account);
  }
  return account;
}

void TraceSession::make_groups() {
  for (const std::unique_ptr<Trace>& trace : traces_) {
    trace->group = &group_of(trace->input.header);
    trace->reader.emplace(trace->input.header, sink_,
                          TraceReader::Shared{*trace->group, rows_, recent_, titles_, space_},
                          options_);
    if (options_.source_stays) {
      trace->reader->read_names_again(*trace->input.source);
    }
  }
}

TraceGroup& TraceSession::group_of(const LogFileHeader& header) {
  for (const std::unique_ptr<TraceGroup>& group : groups_) {
    if (group->shares_clock(header)) {
      return *group;
    }
  }
  if (!groups_.empty()) {
    if (groups_.front()->same_kind_of_clock(header)) {
      sink_.losses().add(loss::kSessionClocksApart, LossKind::kDamage, 1);
    } else {
      sink_.losses().add(loss::kSessionClocksOfOtherKinds, LossKind::kNotice, 1);
    }
  }
  groups_.push_back(std::make_unique<TraceGroup>(header, sink_, space_));
  return *groups_.back();
}

// The keys of a single trace describe the first one of a session, which began first; the end is the
// last one's.
void TraceSession::describe() const {
  const LogFileHeader& first = traces_.front()->input.header;
  const EtlClock& clock = groups_.front()->clock();
  capture::SystemRecorder& system = sink_.system();
  system.metadata("os.name", "Windows");
  system.metadata("os.build", std::to_string(first.build));
  system.metadata("os.version",
                  std::to_string(first.version[0]) + "." + std::to_string(first.version[1]));
  system.metadata("cpu.count", std::to_string(first.processors));
  system.metadata("cpu.mhz", std::to_string(first.cpu_mhz));
  system.metadata("pointer.size", std::to_string(first.pointer_size));
  system.metadata("etl.logger_name", first.logger_name);
  system.metadata("etl.log_file_mode", std::to_string(first.mode));
  system.metadata("etl.clock_type", std::to_string(first.clock_type));
  system.metadata("etl.clock_frequency", std::to_string(clock.frequency()));
  if (first.boot_filetime != 0) {
    system.metadata("etl.boot_unix_ns", std::to_string(unix_ns_of_filetime(first.boot_filetime)));
  }
  if (first.start_filetime != 0) {
    system.metadata("etl.start_unix_ns", std::to_string(unix_ns_of_filetime(first.start_filetime)));
  }
  std::uint64_t end = 0;
  for (const std::unique_ptr<Trace>& trace : traces_) {
    end = std::max(end, trace->input.header.end_filetime);
  }
  if (end != 0) {
    system.metadata("etl.end_unix_ns", std::to_string(unix_ns_of_filetime(end)));
  }
  if (clock.wall_time_known()) {
    system.metadata("clock.wall_offset_ns", "0");
  }
  if (single()) {
    return;
  }
  system.metadata("etl.traces", std::to_string(traces_.size()));
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    const TraceInput& input = traces_[i]->input;
    const std::string key = "etl.trace." + std::to_string(i) + '.';
    system.metadata(key + "logger_name", input.header.logger_name);
    system.metadata(key + "bytes", std::to_string(input.source->size().value_or(0)));
    system.metadata(key + "start_unix_ns",
                    std::to_string(unix_ns_of_filetime(input.header.start_filetime)));
  }
}

Status TraceSession::open(Trace& trace) {
  io::ByteSource& source = *trace.input.source;
  const LogFileHeader& header = trace.input.header;
  capture::LossCounters& losses = sink_.losses();
  capture::ReadControl control = options_.control;
  control.bytes_done = single() ? control.bytes_done : &trace.bytes_done;
  trace.account.total = source.size().value_or(0);
  Result<BufferIndex> index = index_buffers(source, header, {options_.max_buffer_bytes, control},
                                            space_, losses, trace.account);
  if (!index) {
    return index.error();
  }
  trace.index.emplace(std::move(*index));
  trace.decoder.emplace(source, header.named_compression(), options_.max_buffer_bytes);
  const Status found = trace.decoder->detect_format(trace.index->first_compressed, losses);
  if (!found) {
    return found;
  }
  const Status settled = settle_buffer_order(*trace.index, *trace.decoder, control, losses);
  if (!settled) {
    return settled;
  }
  if (&trace == traces_.front().get()) {
    sink_.system().metadata("etl.compression", name_of(trace.decoder->format()));
  }
  MergeLimits limits;
  limits.max_open_bytes = options_.max_open_bytes;
  limits.read_ahead = options_.read_ahead && (single() || &trace == largest());
  limits.control = control;
  limits.max_whole_bytes = options_.max_whole_bytes;
  limits.window_bytes = options_.window_bytes;
  limits.scratch_directory = options_.scratch_directory;
  trace.merge.emplace(*trace.index, source, *trace.decoder, limits, losses, trace.account);
  return {};
}

// One thread reads ahead, for the trace that has the most to decode.
const TraceSession::Trace* TraceSession::largest() const {
  const auto size_of = [](const std::unique_ptr<Trace>& trace) {
    return trace->input.source->size().value_or(0);
  };
  return std::max_element(traces_.begin(), traces_.end(),
                          [&](const auto& a, const auto& b) { return size_of(a) < size_of(b); })
      ->get();
}

// What the events of all traces are ordered by.
std::uint64_t TraceSession::time_of(const Trace& trace) const {
  const std::uint64_t clock = trace.merge->event().clock;
  return groups_.size() == 1 ? clock : trace.group->clock().unix_ns(clock);
}

Status TraceSession::merge_events() {
  for (const std::unique_ptr<Trace>& trace : traces_) {
    const Result<bool> more = trace->merge->next();
    if (!more) {
      return error_of(*trace, more.error());
    }
    trace->ended = !*more;
    trace->time = *more && !single() ? time_of(*trace) : 0;
  }
  for (;;) {
    Trace* first = nullptr;
    const Trace* second = nullptr;
    for (const std::unique_ptr<Trace>& trace : traces_) {
      if (trace->ended) {
        continue;
      }
      if (first == nullptr || trace->time < first->time) {
        second = first;
        first = trace.get();
      } else if (second == nullptr || trace->time < second->time) {
        second = trace.get();
      }
    }
    if (first == nullptr) {
      return {};
    }
    // Of equal times the trace that stands earlier goes first; it stands before `second` or is
    // earlier in time, so that reading up to that time, and one event at least, keeps the order.
    if (const Status read = read_until(*first, second); !read) {
      return read;
    }
  }
}

// Delivers the present event; where it is half a callstack and the next one is the other half,
// both.
Status TraceSession::deliver(BufferMerge& merge, TraceReader& reader) const {
  const EventView& event = merge.event();
  const EventPlace place{merge.processor(), merge.file_offset(), merge.stored_plain()};
  if (reader.may_be_kernel_half(event) && single()) {
    if (const EventView* const following = merge.following(); following != nullptr) {
      bool taken = false;
      const Status done = reader.halves(event, *following, place, taken);
      if (taken) {
        merge.pass_following();
      }
      if (taken || !done) {
        return done;
      }
    }
  }
  return reader.event(event, place);
}

// Delivers one event of the trace, and those that come before the next one of all others.
Status TraceSession::read_until(Trace& trace, const Trace* next) {
  BufferMerge& merge = *trace.merge;
  TraceReader& reader = *trace.reader;
  const bool alone = single();
  do {
    if (merge.part() != trace.part) {
      trace.part = merge.part();
      if (const Status done = reader.next_part(); !done) {
        return done;
      }
    }
    if (merge.has_lost()) [[unlikely]] {
      for (const BufferMerge::Lost& lost : merge.take_lost()) {
        if (const Status added = reader.gap({lost.from, lost.until}, lost.processor); !added) {
          return added;
        }
      }
    }
    if (++delivered_ % kEventsBetweenReports == 0) {
      show_progress();
    }
    if (const Status delivered = deliver(merge, reader); !delivered) {
      return delivered;
    }
    const Result<bool> more = merge.next();
    if (!more || !*more) [[unlikely]] {
      trace.ended = true;
      return more ? reader.flush() : error_of(trace, more.error());
    }
    if (!alone) {
      trace.time = time_of(trace);
    }
  } while (next == nullptr || trace.time < next->time);
  return reader.flush();
}

Error TraceSession::error_of(const Trace& trace, Error error) const {
  error.part = single() ? error.part : static_cast<std::uint32_t>(trace.input.number);
  return error;
}

void TraceSession::show_progress() const {
  if (single()) {
    return;
  }
  std::uint64_t done = 0;
  for (const std::unique_ptr<Trace>& trace : traces_) {
    done += trace->bytes_done.load(std::memory_order_relaxed);
  }
  options_.control.advance_to(done);
}

Status TraceSession::finish() {
  show_progress();
  for (const std::unique_ptr<Trace>& trace : traces_) {
    if (const Status done = trace->reader->finish(); !done) {
      return done;
    }
    trace->account.parsed -= trace->reader->bytes_not_kept();
    trace->account.skipped.add(skip::kEventsNotKept, trace->reader->bytes_not_kept());
  }
  for (const std::unique_ptr<TraceGroup>& group : groups_) {
    if (const Status done = group->finish(sink_.losses()); !done) {
      return done;
    }
  }
  return space_.status();
}

void TraceSession::summarize(TraceSummary& summary) const {
  summary = {};
  for (const std::unique_ptr<Trace>& trace : traces_) {
    TraceSummary of_trace;
    trace->reader->summarize(of_trace);
    of_trace.buffers = trace->merge->totals().buffers;
    of_trace.compressed_buffers = trace->merge->totals().compressed_buffers;
    of_trace.decoded_bytes = trace->merge->totals().decoded_bytes;
    of_trace.wpp_messages = trace->merge->totals().messages;
    of_trace.declared_buffers = trace->input.header.buffers_written;
    of_trace.compression = std::string(name_of(trace->decoder->format()));
    summary.add(of_trace);
  }
  for (const std::unique_ptr<TraceGroup>& group : groups_) {
    summary.processes += group->kernel().distinct_processes();
    summary.threads += group->kernel().distinct_threads();
    summary.image_events += group->images().image_events();
    summary.images += group->images().distinct_images();
    summary.pdb_records += group->images().pdb_records();
  }
}

}  // namespace stackpack::etl
