#include <utility>

#include "bytes/utf8.h"
#include "query/selection/capture_view.h"
#include "stackpack/sources.h"

namespace stackpack::query {

namespace {

void make_valid(std::string& text) {
  text = bytes::valid_utf8(text);
}

void make_texts_valid(CaptureView& view) {
  for (Event& event : view.events) {
    make_valid(event.name);
  }
  for (Process& process : view.processes) {
    make_valid(process.name);
    make_valid(process.command_line);
  }
  for (Thread& thread : view.threads) {
    make_valid(thread.name);
  }
  for (Module& module : view.modules) {
    make_valid(module.path);
    make_valid(module.debug_name);
  }
  for (MetadataEntry& entry : view.metadata) {
    make_valid(entry.key);
    make_valid(entry.value);
  }
  TextTable texts;
  for (std::uint32_t i = 0; i < view.names.texts.size(); ++i) {
    texts.add(bytes::valid_utf8(view.names.texts[i]));
  }
  view.names.texts = std::move(texts);
}

template <typename Rows>
Status take(Result<Rows> rows, Rows& into) {
  if (!rows) {
    return rows.error();
  }
  into = std::move(*rows);
  return {};
}

Status read_tables(const Reader& reader, CaptureView& view) {
  if (const Status status = take(reader.events(), view.events); !status) {
    return status;
  }
  if (const Status status = take(reader.processes(), view.processes); !status) {
    return status;
  }
  if (const Status status = take(reader.threads(), view.threads); !status) {
    return status;
  }
  if (const Status status = take(reader.modules(), view.modules); !status) {
    return status;
  }
  if (const Status status = take(reader.metadata(), view.metadata); !status) {
    return status;
  }
  return take(reader.names(), view.names);
}

void forget_times(CaptureView& view) {
  for (Module& module : view.modules) {
    module.start_ns = kUnknownTime;
    module.end_ns = kUnknownTime;
  }
  for (Process& process : view.processes) {
    process.start_ns = kUnknownTime;
    process.end_ns = kUnknownTime;
  }
  for (Function& function : view.names.functions) {
    function.life_ns = kUnknownTime;
  }
  for (CodeLine& line : view.names.lines) {
    line.life_ns = kUnknownTime;
  }
}

void read_statistics(const Statistics& statistics, CaptureView& view) {
  for (const EventCount& event : statistics.events) {
    view.event_samples.push_back(event.samples);
  }
  view.losses = statistics.losses;
  for (LossCounter& loss : view.losses) {
    make_valid(loss.name);
  }
  view.source_kind = statistics.source_kind;
  make_valid(view.source_kind);
  view.unwound = statistics.samples.unwound != 0;
}

Status read_sources(const Reader& reader, CaptureView& view) {
  const Result<std::vector<MergedSource>> sources = reader.sources();
  if (!sources) {
    return sources.error();
  }
  view.source_count = sources->size();
  std::uint64_t next_pid = 1;
  for (const MergedSource& source : *sources) {
    view.source_firsts.push_back(next_pid);
    next_pid += source.pids.size();
  }
  return {};
}

Status read_counts(const Reader& reader, CaptureView& view) {
  const Status status = take(reader.stack_counts(), view.stack_counts);
  forget_times(view);
  return status;
}

Status read_fields(const Reader& reader, CaptureView& view) {
  if (const Status status = take(reader.control_groups(), view.control_groups); !status) {
    return status;
  }
  for (ControlGroup& group : view.control_groups) {
    make_valid(group.path);
  }
  if (reader.label_set_count() != 0) {
    view.label_sets = [&reader](const auto& visit) { return reader.label_sets(visit); };
  }
  view.fields = [&reader](std::size_t block, std::vector<FieldRow>& rows) {
    return reader.sample_field_block(block, rows);
  };
  return {};
}

}  // namespace

Result<CaptureView> view_of(const Reader& reader) {
  CaptureView view;
  if (const Status status = read_tables(reader, view); !status) {
    return status.error();
  }
  make_texts_valid(view);
  read_statistics(reader.statistics(), view);
  view.stack_count = reader.stack_count();
  view.has_samples = reader.has_samples();
  Status status = read_sources(reader, view);
  if (status && !view.has_samples) {
    status = read_counts(reader, view);
  } else if (status && reader.has_sample_fields()) {
    status = read_fields(reader, view);
  }
  if (!status) {
    return status.error();
  }
  view.samples = [&reader](const SampleQuery& query, const auto& visit) {
    return reader.samples(query, visit);
  };
  view.columns = [&reader](const SampleScan& scan, const auto& visit) {
    return visit_samples(reader, scan, visit);
  };
  view.parts = [&reader](const SampleScan& scan, const SamplePass& pass) {
    return visit_samples_in_parts(reader, scan, pass);
  };
  view.callstacks = [&reader](std::span<const StackId> ids, const auto& visit) {
    return reader.callstacks(ids, visit);
  };
  return view;
}

}  // namespace stackpack::query
