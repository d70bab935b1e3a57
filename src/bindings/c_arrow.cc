#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "bindings/c_handles.h"
#include "stackpack/arrow.h"

namespace {

using stackpack::ArrowOptions;
using stackpack::ArrowTable;
using stackpack::bindings::guard;
using stackpack::bindings::refuse;
using stackpack::bindings::status_of;

static_assert(STACKPACK_TABLE_BRANCH_STACKS + 1 == stackpack::kArrowTableCount);

std::atomic<void* (*)(void*, const char*)> capsule_pointer{nullptr};

// Null where it is not set.
std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

bool take_columns(const stackpack_stream_options& given, ArrowOptions& options) {
  for (std::size_t i = 0; given.columns != nullptr && i < given.column_count; ++i) {
    if (given.columns[i] == nullptr) {
      return false;
    }
    options.columns.emplace_back(given.columns[i]);
  }
  return given.columns != nullptr || given.column_count == 0;
}

bool take_count(std::string_view word, stackpack::CountBy& count) {
  count = word == "samples"  ? stackpack::CountBy::kSamples
          : word == "weight" ? stackpack::CountBy::kWeight
                             : count;
  return word.empty() || word == "samples" || word == "weight";
}

// What is wrong with the options; empty: nothing.
std::string_view take_stream_options(const stackpack_stream_options* options,
                                     ArrowOptions& wanted) {
  stackpack_stream_options given{};
  if (!stackpack::bindings::take_options(options, given)) {
    return "struct_size is not set";
  }
  if (!take_columns(given, wanted)) {
    return "a null pointer in place of a name";
  }
  wanted.batch_rows = given.batch_rows != 0 ? given.batch_rows : wanted.batch_rows;
  wanted.from_ns = given.from_ns;
  wanted.to_ns = given.to_ns != 0 || given.ends != 0 ? given.to_ns : wanted.to_ns;
  wanted.any_order = given.any_order != 0;
  wanted.by = text_or_empty(given.by);
  wanted.event = text_or_empty(given.event);
  wanted.idle = given.idle != 0 ? stackpack::IdleSamples::kKeep : wanted.idle;
  return take_count(text_or_empty(given.count), wanted.count)
             ? ""
             : "there is no count by that; it is samples or weight";
}

}  // namespace

extern "C" {

const char* stackpack_table_name(uint32_t table) {
  // The names are literals, which end with a zero byte.
  return table < stackpack::kArrowTableCount ? stackpack::arrow_table_names()[table].data()
                                             : nullptr;
}

stackpack_status stackpack_stream_table(const stackpack_reader* reader, uint32_t table,
                                        const stackpack_stream_options* options,
                                        struct ArrowArrayStream* stream) {
  if (reader == nullptr || stream == nullptr || table >= stackpack::kArrowTableCount) {
    return refuse("a null pointer, or an unknown number");
  }
  return guard([&] {
    ArrowOptions wanted;
    if (const std::string_view problem = take_stream_options(options, wanted); !problem.empty()) {
      return refuse(problem);
    }
    return status_of(reader->tables->stream(static_cast<ArrowTable>(table), wanted, stream));
  });
}

stackpack_status stackpack_stream_provider_events(const char* capture, const char* providers,
                                                  const stackpack_stream_options* options,
                                                  struct ArrowArrayStream* stream) {
  if (capture == nullptr || stream == nullptr) {
    return refuse("a null pointer");
  }
  return guard([&] {
    stackpack::ProviderEventOptions wanted;
    if (const std::string_view problem = take_stream_options(options, wanted.table);
        !problem.empty()) {
      return refuse(problem);
    }
    wanted.providers = providers == nullptr ? wanted.providers : providers;
    return status_of(stackpack::stream_provider_events(capture, {}, wanted, stream));
  });
}

void stackpack_set_capsule_pointer(void* (*get_pointer)(void* capsule, const char* name)) {
  capsule_pointer = get_pointer;
}

void stackpack_drop_stream_capsule(void* capsule) {
  const auto get_pointer = capsule_pointer.load();
  void* const memory =
      get_pointer == nullptr ? nullptr : get_pointer(capsule, "arrow_array_stream");
  if (memory == nullptr) {
    return;
  }
  auto* const stream = static_cast<ArrowArrayStream*>(memory);
  if (stream->release != nullptr) {
    stream->release(stream);
  }
  std::free(memory);  // NOLINT: malloc() gave it
}

}  // extern "C"
