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

static_assert(STACKPACK_TABLE_TOP + 1 == stackpack::kArrowTableCount);

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
    stackpack_stream_options given{};
    ArrowOptions wanted;
    if (!stackpack::bindings::take_options(options, given)) {
      return refuse("struct_size is not set");
    }
    if (!take_columns(given, wanted)) {
      return refuse("a null pointer in place of a name");
    }
    wanted.batch_rows = given.batch_rows != 0 ? given.batch_rows : wanted.batch_rows;
    wanted.from_ns = given.from_ns;
    wanted.to_ns = given.to_ns != 0 ? given.to_ns : wanted.to_ns;
    wanted.any_order = given.any_order != 0;
    wanted.by = text_or_empty(given.by);
    wanted.event = text_or_empty(given.event);
    return status_of(reader->tables->stream(static_cast<ArrowTable>(table), wanted, stream));
  });
}

}  // extern "C"
