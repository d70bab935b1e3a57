#include "stackpack/c_api.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bindings/c_handles.h"
#include "stackpack/reader.h"

namespace {

using stackpack::Reader;

using stackpack::bindings::guard;
using stackpack::bindings::hand_over;
using stackpack::bindings::kBadRowSize;
using stackpack::bindings::refuse;
using stackpack::bindings::RowBuffer;
using stackpack::bindings::status_of;

stackpack::ReaderOptions options_of(std::uint64_t cache_bytes) {
  stackpack::ReaderOptions options;
  options.cache_bytes = cache_bytes == 0 ? options.cache_bytes : cache_bytes;
  return options;
}

stackpack_status hand_out(stackpack::Result<std::unique_ptr<Reader>> opened,
                          stackpack_reader** reader) {
  if (!opened) {
    return status_of(opened);
  }
  auto events = opened.value()->events();
  if (!events) {
    return status_of(events);
  }
  std::shared_ptr<const Reader> shared(std::move(opened).value());
  auto tables = stackpack::ArrowTables::of(shared);
  *reader = std::make_unique<stackpack_reader>(
                stackpack_reader{std::move(shared), std::move(events).value(), std::move(tables)})
                .release();
  return STACKPACK_OK;
}

stackpack_sample sample_of(const stackpack::StoredSample& from) {
  stackpack_sample to{};
  to.time_ns = from.time_ns;
  to.weight = from.weight;
  to.pid = from.pid;
  to.tid = from.tid;
  to.cpu = from.cpu;
  to.event = from.event;
  to.stack = from.stack;
  to.origin = static_cast<std::uint8_t>(from.origin);
  to.flags = from.flags;
  return to;
}

stackpack_stack_count count_of(const stackpack::StackCount& from) {
  return {from.samples, from.weight, from.stack,
          from.event,   from.pid,    static_cast<std::uint32_t>(from.origin)};
}

}  // namespace

extern "C" {

const char* stackpack_status_text(stackpack_status status) {
  switch (status) {
    case STACKPACK_OK:
      return "success";
    case STACKPACK_IO:
      return "cannot open or read the file";
    case STACKPACK_NOT_FOUND:
      return "no such file";
    case STACKPACK_TRUNCATED:
      return "the end of the file is missing";
    case STACKPACK_CORRUPT:
      return "file is damaged";
    case STACKPACK_UNSUPPORTED:
      return "file is a folder, or of a newer version";
    case STACKPACK_LIMIT:
      return "file is too large";
    case STACKPACK_USAGE:
      return "invalid argument";
    case STACKPACK_OUT_OF_MEMORY:
      return "out of memory";
    case STACKPACK_CANCELLED:
      return "cancelled";
  }
  return "unknown status";
}

stackpack_status stackpack_open(const char* path, uint64_t cache_bytes, stackpack_reader** reader) {
  if (path == nullptr || reader == nullptr) {
    return refuse("a null pointer, or an unknown number");
  }
  *reader = nullptr;
  return guard([&] { return hand_out(Reader::open(path, options_of(cache_bytes)), reader); });
}

stackpack_status stackpack_open_memory(const void* data, size_t size, uint64_t cache_bytes,
                                       stackpack_reader** reader) {
  if ((data == nullptr && size > 0) || reader == nullptr) {
    return refuse("a null pointer, or an unknown number");
  }
  *reader = nullptr;
  return guard([&] {
    const std::span<const std::byte> file(static_cast<const std::byte*>(data), size);
    return hand_out(Reader::open_memory(file, options_of(cache_bytes)), reader);
  });
}

void stackpack_close(stackpack_reader* reader) {
  const std::unique_ptr<stackpack_reader> owned(reader);
}

stackpack_status stackpack_verify(const stackpack_reader* reader) {
  if (reader == nullptr) {
    return refuse("a null pointer, or an unknown number");
  }
  return guard([&] { return status_of(reader->reader->verify()); });
}

stackpack_status stackpack_get_summary(const stackpack_reader* reader, stackpack_summary* summary) {
  if (reader == nullptr) {
    return refuse("no reader");
  }
  const stackpack::Statistics& statistics = reader->reader->statistics();
  stackpack_summary value{};
  value.file_bytes = reader->reader->file_bytes();
  value.source_bytes = statistics.source_bytes;
  value.samples = statistics.samples.total;
  value.recorded_samples = statistics.samples.recorded;
  value.raw_frames = statistics.callstacks.raw_frames;
  value.unique_stacks = statistics.callstacks.unique;
  value.stacks = reader->reader->stack_count();
  value.nodes = statistics.dag.nodes;
  value.distinct_frames = statistics.dag.distinct_frames;
  value.max_depth = statistics.callstacks.max_depth;
  value.has_samples = reader->reader->has_samples() ? 1 : 0;
  return hand_over(summary, value);
}

stackpack_status stackpack_get_callstack(const stackpack_reader* reader, uint32_t id,
                                         stackpack_frame* frames, size_t capacity, size_t* depth) {
  if (reader == nullptr || depth == nullptr || (frames == nullptr && capacity > 0)) {
    return refuse("a null pointer, or an unknown number");
  }
  return guard([&] {
    std::vector<stackpack::Frame> found;
    const stackpack_status status = status_of(reader->reader->callstack(id, found));
    if (status != STACKPACK_OK) {
      return status;
    }
    for (std::size_t i = 0; i < std::min(capacity, found.size()); ++i) {
      frames[i] = {found[i].address, static_cast<std::uint32_t>(found[i].mode)};
    }
    *depth = found.size();
    return STACKPACK_OK;
  });
}

stackpack_status stackpack_visit_samples(const stackpack_reader* reader, uint64_t from_ns,
                                         uint64_t to_ns, const uint32_t* pid, const uint32_t* tid,
                                         size_t row_size, stackpack_sample_visitor visitor,
                                         void* context) {
  if (reader == nullptr || visitor == nullptr) {
    return refuse("a null pointer, or an unknown number");
  }
  return guard([&] {
    stackpack::SampleQuery query;
    query.from_ns = from_ns;
    query.to_ns = to_ns;
    if (pid != nullptr) {
      query.pid = *pid;
    }
    if (tid != nullptr) {
      query.tid = *tid;
    }
    RowBuffer<stackpack_sample> rows(row_size);
    if (!rows.fit()) {
      return refuse(kBadRowSize);
    }
    return status_of(
        reader->reader->samples(query, [&](std::span<const stackpack::StoredSample> block) {
          return visitor(context, rows.fill(block, sample_of), block.size()) == 0;
        }));
  });
}

stackpack_status stackpack_visit_counts(const stackpack_reader* reader, size_t row_size,
                                        stackpack_count_visitor visitor, void* context) {
  if (reader == nullptr || visitor == nullptr) {
    return refuse("a null pointer");
  }
  return guard([&] {
    RowBuffer<stackpack_stack_count> rows(row_size);
    if (!rows.fit()) {
      return refuse(kBadRowSize);
    }
    const auto counts = reader->reader->stack_counts();
    if (!counts) {
      return status_of(counts);
    }
    if (!counts->empty()) {
      visitor(context, rows.fill(std::span(*counts), count_of), counts->size());
    }
    return STACKPACK_OK;
  });
}

stackpack_status stackpack_get_event_name(const stackpack_reader* reader, uint32_t event,
                                          const char** name) {
  if (reader == nullptr || name == nullptr || event >= reader->events.size()) {
    return refuse("a null pointer, or an unknown number");
  }
  *name = reader->events[event].name.c_str();
  return STACKPACK_OK;
}

}  // extern "C"
