#include "stackpack/c_api.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "stackpack/reader.h"

struct stackpack_reader {  // NOLINT(readability-identifier-naming): a C name
  std::unique_ptr<stackpack::Reader> reader;
  std::vector<stackpack::Event> events;
};

namespace {

using stackpack::ErrorCode;
using stackpack::Reader;

stackpack_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kIo:
      return STACKPACK_IO;
    case ErrorCode::kNotFound:
      return STACKPACK_NOT_FOUND;
    case ErrorCode::kTruncated:
      return STACKPACK_TRUNCATED;
    case ErrorCode::kCorrupt:
      return STACKPACK_CORRUPT;
    case ErrorCode::kUnsupported:
      return STACKPACK_UNSUPPORTED;
    case ErrorCode::kLimit:
      return STACKPACK_LIMIT;
    case ErrorCode::kResource:
      return STACKPACK_OUT_OF_MEMORY;
    case ErrorCode::kUsage:
    case ErrorCode::kCancelled:
    case ErrorCode::kInternal:
      break;
  }
  return STACKPACK_USAGE;
}

template <typename T>
stackpack_status status_of(const stackpack::Result<T>& result) {
  return result.has_value() ? STACKPACK_OK : status_of(result.error().code);
}

// Runs `body`; what it throws, out of memory or a visitor's doing, becomes a status.
template <typename Body>
stackpack_status guard(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return STACKPACK_OUT_OF_MEMORY;
  } catch (...) {
    return STACKPACK_USAGE;
  }
}

stackpack::ReaderOptions options_of(std::uint64_t cache_bytes) {
  stackpack::ReaderOptions options;
  options.cache_bytes = cache_bytes == 0 ? options.cache_bytes : cache_bytes;
  return options;
}

// `opened` is the result of an open function; the rest are arguments of the caller.
stackpack_status hand_out(stackpack::Result<std::unique_ptr<Reader>> opened,
                          stackpack_reader** reader, const char** problem) {
  stackpack_status status = status_of(opened);
  const char* cause = status == STACKPACK_OK ? nullptr : opened.error().what.data();
  if (status == STACKPACK_OK) {
    auto events = opened.value()->events();
    status = status_of(events);
    if (status == STACKPACK_OK) {
      *reader = std::make_unique<stackpack_reader>(
                    stackpack_reader{std::move(opened).value(), std::move(events).value()})
                    .release();
      return STACKPACK_OK;
    }
    cause = events.error().what.data();
  }
  if (problem != nullptr) {
    *problem = cause;
  }
  return status;
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
      return "file is of a newer version";
    case STACKPACK_LIMIT:
      return "file is too large";
    case STACKPACK_USAGE:
      return "invalid argument";
    case STACKPACK_OUT_OF_MEMORY:
      return "out of memory";
  }
  return "unknown status";
}

stackpack_status stackpack_open(const char* path, uint64_t cache_bytes, stackpack_reader** reader,
                                const char** problem) {
  if (path == nullptr || reader == nullptr) {
    return STACKPACK_USAGE;
  }
  *reader = nullptr;
  return guard(
      [&] { return hand_out(Reader::open(path, options_of(cache_bytes)), reader, problem); });
}

stackpack_status stackpack_open_memory(const void* data, size_t size, uint64_t cache_bytes,
                                       stackpack_reader** reader, const char** problem) {
  if ((data == nullptr && size > 0) || reader == nullptr) {
    return STACKPACK_USAGE;
  }
  *reader = nullptr;
  return guard([&] {
    const std::span<const std::byte> file(static_cast<const std::byte*>(data), size);
    return hand_out(Reader::open_memory(file, options_of(cache_bytes)), reader, problem);
  });
}

void stackpack_close(stackpack_reader* reader) {
  const std::unique_ptr<stackpack_reader> owned(reader);
}

stackpack_status stackpack_verify(const stackpack_reader* reader) {
  if (reader == nullptr) {
    return STACKPACK_USAGE;
  }
  return guard([&] { return status_of(reader->reader->verify()); });
}

stackpack_status stackpack_get_summary(const stackpack_reader* reader, stackpack_summary* summary) {
  if (reader == nullptr || summary == nullptr) {
    return STACKPACK_USAGE;
  }
  const stackpack::Statistics& statistics = reader->reader->statistics();
  summary->file_bytes = reader->reader->file_bytes();
  summary->source_bytes = statistics.source_bytes;
  summary->samples = statistics.samples.total;
  summary->recorded_samples = statistics.samples.recorded;
  summary->raw_frames = statistics.callstacks.raw_frames;
  summary->unique_stacks = statistics.callstacks.unique;
  summary->stacks = reader->reader->stack_count();
  summary->nodes = statistics.dag.nodes;
  summary->distinct_frames = statistics.dag.distinct_frames;
  summary->max_depth = statistics.callstacks.max_depth;
  summary->has_samples = reader->reader->has_samples() ? 1 : 0;
  return STACKPACK_OK;
}

stackpack_status stackpack_get_callstack(const stackpack_reader* reader, uint32_t id,
                                         stackpack_frame* frames, size_t capacity, size_t* depth) {
  if (reader == nullptr || depth == nullptr || (frames == nullptr && capacity > 0)) {
    return STACKPACK_USAGE;
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
                                         stackpack_sample_visitor visitor, void* context) {
  if (reader == nullptr || visitor == nullptr) {
    return STACKPACK_USAGE;
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
    std::vector<stackpack_sample> samples;
    return status_of(
        reader->reader->samples(query, [&](std::span<const stackpack::StoredSample> block) {
          samples.resize(block.size());
          std::transform(block.begin(), block.end(), samples.begin(), sample_of);
          return visitor(context, samples.data(), samples.size()) == 0;
        }));
  });
}

stackpack_status stackpack_get_event_name(const stackpack_reader* reader, uint32_t event,
                                          const char** name) {
  if (reader == nullptr || name == nullptr || event >= reader->events.size()) {
    return STACKPACK_USAGE;
  }
  *name = reader->events[event].name.c_str();
  return STACKPACK_OK;
}

}  // extern "C"
