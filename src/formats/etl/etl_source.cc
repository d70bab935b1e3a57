#include "formats/etl/etl_source.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/etl/etl_losses.h"
#include "formats/etl/event/events_not_kept.h"
#include "formats/etl/file/buffer_header.h"
#include "formats/etl/file/log_file_header.h"
#include "formats/etl/trace_order.h"
#include "formats/etl/trace_session.h"

namespace stackpack::etl {

namespace {

// The longest event is 64 KiB, and the log file header is the first event.
constexpr std::size_t kHeadBytes = kBufferHeaderBytes + (std::size_t{64} << 10);

Result<LogFileHeader> read_log_file_header(io::ByteSource& input) {
  if (!input.seekable() || !input.size().has_value()) {
    return Error{ErrorCode::kUnsupported, 0, "etl: the input must be seekable"};
  }
  std::vector<std::byte> head(
      static_cast<std::size_t>(std::min<std::uint64_t>(*input.size(), kHeadBytes)));
  if (const Status read = io::read_exactly_at(input, 0, head, "etl: first buffer"); !read) {
    return read.error();
  }
  return parse_log_file_header(head);
}

Result<capture::ByteAccount> read(capture::CaptureBytes& bytes, capture::CallstackSink& sink,
                                  const capture::ReadRequest& request) {
  TraceSummary summary;
  ReadOptions options;
  options.control = request.control;
  options.scratch_directory = request.scratch_directory;
  options.summary = &summary;
  options.source_stays = true;
  std::vector<io::ByteSource*> traces = {bytes.main.get()};
  for (const capture::CaptureBytes::Part& part : bytes.parts) {
    traces.push_back(part.source.get());
  }
  Result<capture::ByteAccount> account = read_session(traces, sink, options);
  if (account) {
    keep_trace_totals(summary, sink.system());
  }
  return account;
}

}  // namespace

void keep_trace_totals(const TraceSummary& summary, capture::SystemRecorder& system) {
  const struct {
    std::string_view name;
    std::uint64_t count;
  } totals[] = {
      {"events", summary.events},
      {"wpp_messages", summary.wpp_messages},
      {"buffers", summary.buffers},
      {"buffers_declared", summary.declared_buffers},
      {"buffers_compressed", summary.compressed_buffers},
      {"decoded_bytes", summary.decoded_bytes},
      {"fragments_inline", summary.fragments_inline},
      {"key_references", summary.key_references},
      {"key_definitions", summary.key_definitions},
      {"undefined_references", summary.undefined_references},
      {"joined_stacks", summary.joined_stacks},
      {"kernel_only", summary.kernel_only},
      {"user_only", summary.user_only},
      {"kernel_and_user", summary.kernel_and_user},
      {"user_half_of_another_event", summary.borrowed_user_halves},
      {"kernel_half_without_user_half", summary.stale_kernel_halves},
      {"late_user_halves", summary.late_user_halves},
      {"joined_frames", summary.joined_frames},
      {"extended_items", summary.extended_items},
      {"extended_stacks", summary.extended_stacks},
      {"extended_frames", summary.extended_frames},
      {"clr_stacks", summary.clr_stacks},
      {"clr_frames", summary.clr_frames},
      {"clr_stacks_without_event", summary.clr_stacks_without_event},
      {"timer_samples", summary.timer_samples},
      {"counter_samples", summary.counter_samples},
      {"samples_with_stack", summary.samples_with_stack},
      {"samples_without_stack", summary.samples_without_stack},
      {"samples_not_idle", summary.samples_not_idle},
      {"context_switches", summary.context_switches},
      {"ready_thread", summary.ready_thread},
      {"processes", summary.processes},
      {"threads", summary.threads},
      {"image_events", summary.image_events},
      {"images", summary.images},
      {"pdb_records", summary.pdb_records},
  };
  for (const auto& total : totals) {
    system.metadata("etl.total." + std::string(total.name), std::to_string(total.count));
  }
  for (const auto& [kind, count] : summary.event_counts) {
    system.metadata("etl.event." + kind, std::to_string(count));
  }
}

Result<capture::ByteAccount> read_session(std::span<io::ByteSource* const> inputs,
                                          capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  if (inputs.empty()) {
    return Error{ErrorCode::kUsage, kNoOffset, "etl: no input"};
  }
  if (inputs.size() > kMostTraces) {
    return Error{ErrorCode::kLimit, kNoOffset, "etl: more than 64 traces in one session"};
  }
  std::vector<TraceInput> traces;
  std::optional<Error> unreadable;
  capture::ByteAccount unread;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Result<LogFileHeader> header = read_log_file_header(*inputs[i]);
    if (header) {
      traces.push_back({inputs[i], i, std::move(*header)});
      continue;
    }
    Error error = header.error();
    error.part = inputs.size() > 1 ? static_cast<std::uint32_t>(i) : error.part;
    if (error.code == ErrorCode::kIo) {
      return error;
    }
    unreadable = unreadable ? unreadable : error;
    const std::uint64_t bytes = inputs[i]->size().value_or(0);
    unread.total += bytes;
    unread.skipped.add(skip::kUnreadableTraces, bytes);
  }
  if (traces.empty()) {
    return *unreadable;
  }
  const Result<std::size_t> repeated = order_traces(traces);
  if (!repeated) {
    return repeated.error();
  }
  if (unreadable) {
    sink.losses().add(name_of(skip::kUnreadableTraces), LossKind::kDamage,
                      inputs.size() - traces.size() - *repeated);
  }
  if (*repeated != 0) {
    sink.losses().add(loss::kRepeatedTraces, LossKind::kNotice, *repeated);
  }
  Result<capture::ByteAccount> account = TraceSession(std::move(traces), sink, options).run();
  if (account) {
    account->add(unread);
  }
  return account;
}

Result<capture::ByteAccount> read_capture(io::ByteSource& input, capture::CallstackSink& sink,
                                          const ReadOptions& options) {
  io::ByteSource* const only = &input;
  return read_session({&only, 1}, sink, options);
}

// Every name under which this format counts something.
constexpr auto kAllLossNames = [] {
  std::array<std::string_view, std::size(kLossNames) + std::size(kEventsNotKept) + 2> names{};
  std::size_t next = 0;
  for (const std::string_view name : kLossNames) {
    names[next++] = name;
  }
  for (const std::string_view name : kEventsNotKept) {
    names[next++] = name;
  }
  names[next++] = kItemsNotKept;
  names[next++] = kMessagesNotKept;
  return names;
}();

capture::Probe probe(const capture::CaptureHead& head) {
  return capture::probe_of_magic(looks_like_etl(head.bytes),
                                 "does not begin with a buffer that has the header of a trace");
}

constinit const capture::SourceFormat source_format = {
    .name = "etl",
    .probe = probe,
    // Buffers are read in the order of time, which is not that of the file.
    .streams = capture::never_streams,
    .read = read,
    .open_directory = nullptr,
    .has_sessions = true,
    .ending = ".etl",
    .has_payloads = true,
    .describes_payloads_late = true,
    .loss_names = kAllLossNames,
    .skip_reasons = kSkipReasons,
};

}  // namespace stackpack::etl
