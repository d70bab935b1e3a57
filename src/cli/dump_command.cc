#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "app/listing/sample_listing.h"
#include "app/listing/selected_samples.h"
#include "app/listing/stack_listing.h"
#include "app/listing/thread_names.h"
#include "cli/branch_dump.h"
#include "cli/commands.h"
#include "cli/event_note.h"
#include "cli/exit_codes.h"
#include "cli/frame_text.h"
#include "cli/human_text.h"
#include "cli/interval_dump.h"
#include "cli/json_text.h"
#include "cli/shown_capture.h"
#include "cli/table_dump.h"
#include "cli/text_escape.h"
#include "cli/value_dump.h"
#include "core/weight_scale.h"

namespace stackpack::cli {

namespace {

std::string_view origin_name(StackOrigin origin) {
  switch (origin) {
    case StackOrigin::kNone:
      return "none";
    case StackOrigin::kIpOnly:
      return "ip-only";
    case StackOrigin::kRecorded:
      return "recorded";
    case StackOrigin::kUnwound:
      return "unwound";
  }
  return "?";
}

struct FlagName {
  SampleFlags flag;
  std::string_view name;
};
constexpr FlagName kFlagNames[] = {
    {kSampleEmptyChain, "empty-chain"}, {kSampleIdle, "idle"},
    {kSampleStackDump, "stack-dump"},   {kSampleOrphanStack, "orphan-stack"},
    {kSampleIncomplete, "incomplete"},  {kSampleSameRecord, "same-record"},
};

void append_flags(std::string& out, std::uint8_t flags) {
  bool any = false;
  for (const FlagName& flag : kFlagNames) {
    if ((flags & flag.flag) != 0) {
      out += any ? "," : "";
      out += flag.name;
      any = true;
    }
  }
  out += any ? "" : "-";
}

void append_id(std::string& out, std::uint32_t id) {
  out += id == kUnknownId ? "-" : std::to_string(id);
}

void append_name(std::string& out, std::string_view name) {
  append_escaped(out, name.empty() ? std::string_view("-") : name);
}

void write_frames(JsonText& json, std::span<const Frame> frames, std::string& scratch) {
  json.key("frames");
  json.begin_array();
  for (const Frame& frame : frames) {
    scratch.clear();
    append_frame(scratch, frame);
    json.value(scratch);
  }
  json.end_array();
}

Status dump_stacks(const Reader& reader, const DumpArguments& arguments, const Messages& messages,
                   app::TextOutput& out) {
  const Result<app::StackCounts> stacks = app::count_recorded_stacks(reader, arguments.filter);
  if (!stacks) {
    return stacks.error();
  }
  note_event_choice(arguments.file, stacks->event, stacks->other_events, "--event NAME", messages);
  std::optional<JsonLines> lines;
  if (arguments.json) {
    lines.emplace(out.text());
  }
  std::string scratch;
  const Status status = app::visit_counted_stacks(
      reader, stacks->counts, [&](StackId id, std::uint64_t count, std::span<const Frame> frames) {
        if (lines) {
          JsonText json = lines->element();
          json.begin_object();
          json.field("samples", core::ScaledNumber{count, stacks->decimals});
          json.field("stack", id);
          write_frames(json, frames, scratch);
          json.end_object();
        } else {
          std::string& text = out.text();
          text += core::decimal_text(count, stacks->decimals);
          text += ' ';
          if (arguments.ids) {
            text += std::to_string(id);
            text += ' ';
          }
          append_frames(text, frames);
          text += '\n';
        }
        return out.checkpoint();
      });
  if (lines) {
    lines->end();
  }
  return status;
}

// What a line about a sample needs besides the sample.
struct SampleContext {
  std::vector<Event> events;
  std::vector<Process> processes;
  std::vector<Thread> threads;

  std::vector<unsigned> decimals;  // by event

  [[nodiscard]] std::string_view event_name(std::uint32_t event) const {
    return event < events.size() ? std::string_view(events[event].name) : std::string_view();
  }
  [[nodiscard]] core::ScaledNumber weight(const StoredSample& sample) const {
    return {sample.weight, sample.event < decimals.size() ? decimals[sample.event] : 0};
  }
};

Result<SampleContext> load_context(const Reader& reader) {
  Result<std::vector<Event>> events = reader.events();
  if (!events) {
    return events.error();
  }
  Result<std::vector<Process>> processes = reader.processes();
  if (!processes) {
    return processes.error();
  }
  Result<std::vector<Thread>> threads = reader.threads();
  if (!threads) {
    return threads.error();
  }
  Result<std::vector<unsigned>> decimals = app::decimals_of_events(reader);
  if (!decimals) {
    return decimals.error();
  }
  return SampleContext{std::move(*events), std::move(*processes), std::move(*threads),
                       std::move(*decimals)};
}

void append_sample(std::string& text, const StoredSample& sample, const SampleContext& context,
                   std::string_view name, std::span<const Frame> frames,
                   const app::RecordedProcesses& recorded) {
  text += seconds_text(sample.time_ns);
  text += '\t';
  append_id(text, sample.pid);
  text += '\t';
  append_id(text, sample.tid);
  text += '\t';
  append_id(text, sample.cpu);
  text += '\t';
  append_name(text, context.event_name(sample.event));
  text += '\t';
  const core::ScaledNumber weight = context.weight(sample);
  text += core::decimal_text(weight.digits, weight.decimals);
  text += '\t';
  text += origin_name(sample.origin);
  text += '\t';
  append_flags(text, sample.flags);
  text += '\t';
  append_id(text, sample.stack);
  text += '\t';
  append_name(text, name);
  text += '\t';
  append_frames(text, frames);
  if (recorded.merged()) {
    const auto found = recorded.find(sample.pid);
    text += '\t';
    append_id(text, found ? found->source : kUnknownId);
    text += '\t';
    append_id(text, found ? found->pid : kUnknownId);
  }
  text += '\n';
}

void write_id(JsonText& json, std::string_view key, std::uint32_t id) {
  if (id != kUnknownId) {
    json.field(key, id);
  }
}

void write_sample(JsonText& json, const StoredSample& sample, const SampleContext& context,
                  std::string_view name, std::span<const Frame> frames,
                  const app::RecordedProcesses& recorded, std::string& scratch) {
  json.begin_object();
  json.field("time_ns", sample.time_ns);
  write_id(json, "pid", sample.pid);
  write_id(json, "tid", sample.tid);
  write_id(json, "cpu", sample.cpu);
  json.field("event", context.event_name(sample.event));
  json.field("weight", context.weight(sample));
  json.field("origin", origin_name(sample.origin));
  json.key("flags");
  json.begin_array();
  for (const FlagName& flag : kFlagNames) {
    if ((sample.flags & flag.flag) != 0) {
      json.value(flag.name);
    }
  }
  json.end_array();
  write_id(json, "stack", sample.stack);
  json.field("comm", name);
  write_frames(json, frames, scratch);
  if (const auto found = recorded.find(sample.pid)) {
    json.field("source", found->source);
    write_id(json, "recorded_pid", found->pid);
  }
  json.end_object();
}

Status dump_samples(const Reader& reader, const DumpArguments& arguments, app::TextOutput& out) {
  if (!reader.has_samples()) {
    return Error{ErrorCode::kUsage, kNoOffset,
                 "the file was written without its samples; --stacks has what is left"};
  }
  const Result<SampleContext> context = load_context(reader);
  if (!context) {
    return context.error();
  }
  const Result<app::RecordedProcesses> recorded = app::RecordedProcesses::of(reader);
  if (!recorded) {
    return recorded.error();
  }
  const app::ThreadNames names(context->processes, context->threads);
  std::optional<JsonLines> lines;
  if (arguments.json) {
    lines.emplace(out.text());
  } else {
    out.text() += "#time\tpid\ttid\tcpu\tevent\tweight\torigin\tflags\tstack\tcomm\tframes";
    out.text() += recorded->merged() ? "\tsource\trecorded_pid\n" : "\n";
  }
  std::string scratch;
  const Status status = app::visit_samples_with_frames(
      reader, arguments.filter, [&](const StoredSample& sample, std::span<const Frame> frames) {
        const std::string_view name = names.name(sample.pid, sample.tid, sample.time_ns);
        if (lines) {
          JsonText json = lines->element();
          write_sample(json, sample, *context, name, frames, *recorded, scratch);
        } else {
          append_sample(out.text(), sample, *context, name, frames, *recorded);
        }
        return out.checkpoint();
      });
  if (lines) {
    lines->end();
  }
  return status;
}

Status dump(const Reader& reader, const DumpArguments& arguments, const Messages& messages,
            app::TextOutput& out) {
  switch (arguments.kind) {
    case DumpKind::kStacks:
      return dump_stacks(reader, arguments, messages, out);
    case DumpKind::kSamples:
      return dump_samples(reader, arguments, out);
    case DumpKind::kBranches:
      return dump_branches(reader, arguments.json, out);
    case DumpKind::kRanges:
      return dump_ranges(reader, arguments.json, out);
    case DumpKind::kBranchStacks:
      if (!reader.has_branch_stacks()) {
        messages.note(arguments.file,
                      "no branch stacks were kept; convert --keep-branches keeps them");
      }
      return dump_branch_stacks(reader, arguments.json, out);
    case DumpKind::kIntervals:
      return dump_intervals(reader, arguments, out);
    case DumpKind::kEventValues:
    case DumpKind::kFields:
      return dump_event_values(reader,
                               {arguments.filter.events, arguments.kind == DumpKind::kFields},
                               arguments.json, out);
    case DumpKind::kSampleFields:
      return dump_sample_fields(reader, arguments.json, out);
    case DumpKind::kLabels:
      return dump_labels(reader, arguments.json, out);
    case DumpKind::kNames:
      return dump_names(reader, arguments.json, out);
    case DumpKind::kEventsOf:  // of a capture
      return {};
    default:
      return dump_table(reader, arguments.kind, arguments.json, out);
  }
}

// What a capture is packed with for one listing, and nothing more: it takes time.
CaptureArguments reading_of(const DumpArguments& arguments) {
  CaptureArguments reading = arguments.capture;
  reading.hints = false;
  reading.symbolize = reading.symbolize && (arguments.kind == DumpKind::kFunctions ||
                                            arguments.kind == DumpKind::kNames);
  reading.convert.keep_branches = arguments.kind == DumpKind::kBranchStacks;
  return reading;
}

}  // namespace

int run_dump(const DumpArguments& arguments, const Messages& messages) {
  int exit_code = kExitSuccess;
  const bool of_capture = arguments.kind == DumpKind::kEventsOf;
  std::optional<app::PackedCapture> opened;
  if (!of_capture) {
    opened = open_shown(arguments.file, reading_of(arguments), messages, exit_code);
    if (!opened) {
      return exit_code;
    }
  }
  Result<std::unique_ptr<app::TextOutput>> out = app::TextOutput::open();
  if (!out) {
    messages.error("(standard output)", out.error());
    return exit_code_of(out.error());
  }
  if (arguments.limit != 0) {
    (*out)->limit_rows(arguments.limit, arguments.json ? app::TextOutput::RowForm::kJson
                                                       : app::TextOutput::RowForm::kLines);
  }
  const Status dumped = of_capture ? dump_provider_events(arguments, messages, **out)
                                   : dump(opened->reader(), arguments, messages, **out);
  return finish_output(**out, dumped, arguments.file, messages);
}

}  // namespace stackpack::cli
