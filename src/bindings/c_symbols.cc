#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/c_handles.h"
#include "stackpack/symbols.h"

struct stackpack_symbols {  // NOLINT(readability-identifier-naming): a C name
  std::unique_ptr<const stackpack::Symbols> symbols;
};

namespace {

using stackpack::CodeLocation;
using stackpack::bindings::guard;
using stackpack::bindings::kBadRowSize;
using stackpack::bindings::refuse;
using stackpack::bindings::Rows;
using stackpack::bindings::status_of;
using stackpack::bindings::text_of;

std::string_view view_of(const stackpack_text& text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

std::optional<stackpack::Frame> frame_of(const stackpack_frame& frame) {
  if (frame.mode >= stackpack::kFrameModeCount) {
    return std::nullopt;
  }
  return stackpack::Frame{static_cast<stackpack::FrameMode>(frame.mode), frame.address};
}

stackpack_location location_of(const CodeLocation& from) {
  stackpack_location to{};
  if (from.module != nullptr) {
    to.module = text_of(from.module->path);
    to.offset = from.offset;
  }
  to.function = text_of(from.name);
  to.linkage = text_of(from.linkage);
  to.function_offset = from.function_offset;
  to.file = text_of(from.file);
  to.line = from.line;
  to.inlined = from.inlined;
  to.has_address = from.has_address ? 1 : 0;
  return to;
}

void put_all(const std::vector<CodeLocation>& found, Rows<stackpack_location>& rows) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    rows.put(i, location_of(found[i]));
  }
}

}  // namespace

extern "C" {

stackpack_status stackpack_load_symbols(const stackpack_reader* reader,
                                        stackpack_symbols** symbols) {
  return guard([&] {
    if (reader == nullptr || symbols == nullptr) {
      return refuse("a null pointer, or an unknown mode");
    }
    auto loaded = stackpack::Symbols::load(*reader->reader);
    if (loaded) {
      *symbols =
          std::make_unique<stackpack_symbols>(stackpack_symbols{std::move(*loaded)}).release();
    }
    return status_of(loaded);
  });
}

void stackpack_free_symbols(stackpack_symbols* symbols) {
  const std::unique_ptr<stackpack_symbols> owned(symbols);
}

stackpack_status stackpack_locate(const stackpack_symbols* symbols, const stackpack_frame* frames,
                                  size_t count, uint32_t pid, uint64_t time_ns,
                                  stackpack_location* locations, size_t row_size) {
  return guard([&] {
    Rows<stackpack_location> rows(locations, row_size);
    if (!rows.fit()) {
      return refuse(kBadRowSize);
    }
    if (symbols == nullptr || (count != 0 && (frames == nullptr || locations == nullptr))) {
      return refuse("a null pointer, or an unknown mode");
    }
    std::vector<stackpack::Frame> stack;
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<stackpack::Frame> frame = frame_of(frames[i]);
      if (!frame) {
        return refuse("an unknown mode");
      }
      stack.push_back(*frame);
    }
    std::vector<CodeLocation> found;
    symbols->symbols->locate_stack(stack, pid, time_ns, found);
    put_all(found, rows);
    return STACKPACK_OK;
  });
}

stackpack_status stackpack_locate_all(const stackpack_symbols* symbols,
                                      const stackpack_query* queries, size_t count,
                                      stackpack_location* locations, size_t row_size) {
  return guard([&] {
    Rows<stackpack_location> rows(locations, row_size);
    if (!rows.fit()) {
      return refuse(kBadRowSize);
    }
    if (symbols == nullptr || (count != 0 && (queries == nullptr || locations == nullptr))) {
      return refuse("a null pointer, or an unknown mode");
    }
    std::vector<stackpack::Symbols::Query> wanted;
    for (std::size_t i = 0; i < count; ++i) {
      const stackpack_query& query = queries[i];
      const std::optional<stackpack::Frame> frame = frame_of(query.frame);
      if (!frame) {
        return refuse("a null pointer, or an unknown mode");
      }
      wanted.push_back({*frame, query.pid, query.time_ns,
                        query.is_return_address != 0 ? stackpack::AddressUse::kReturn
                                                     : stackpack::AddressUse::kExact});
    }
    std::vector<CodeLocation> found;
    symbols->symbols->locate_all(wanted, found);
    put_all(found, rows);
    return STACKPACK_OK;
  });
}

stackpack_status stackpack_get_epoch(const stackpack_symbols* symbols, uint32_t pid,
                                     uint64_t time_ns, stackpack_epoch* epoch) {
  return guard([&] {
    if (symbols == nullptr || epoch == nullptr) {
      return refuse("a null pointer, or an unknown mode");
    }
    const stackpack::Symbols::Epoch found = symbols->symbols->epoch(pid, time_ns);
    *epoch = {found.number, found.valid_until};
    return STACKPACK_OK;
  });
}

stackpack_status stackpack_expand(const stackpack_symbols* symbols,
                                  const stackpack_location* location, stackpack_location* chain,
                                  size_t capacity, size_t row_size, size_t* count) {
  return guard([&] {
    Rows<stackpack_location> rows(chain, row_size);
    if (!rows.fit()) {
      return refuse(kBadRowSize);
    }
    if (symbols == nullptr || location == nullptr || count == nullptr ||
        (capacity != 0 && chain == nullptr)) {
      return refuse("a null pointer, or an unknown mode");
    }
    CodeLocation from;
    from.name = view_of(location->function);
    from.linkage = view_of(location->linkage);
    from.file = view_of(location->file);
    from.line = location->line;
    from.inlined = location->inlined;
    from.has_address = location->has_address != 0;
    std::vector<stackpack::InlineFrame> frames;
    symbols->symbols->expand(from, frames);
    *count = frames.size();
    for (std::size_t i = 0; i < std::min(capacity, frames.size()); ++i) {
      stackpack_location row = *location;
      row.function = text_of(frames[i].name);
      row.linkage = text_of(frames[i].linkage);
      row.file = text_of(frames[i].file);
      row.line = frames[i].line;
      row.inlined = STACKPACK_NO_INLINE;
      rows.put(i, row);
    }
    return STACKPACK_OK;
  });
}

}  // extern "C"
