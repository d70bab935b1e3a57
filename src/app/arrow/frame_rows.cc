#include "app/arrow/frame_rows.h"

#include "core/index_table.h"
#include "query/naming/frame_entities.h"
#include "query/selection/file_name.h"

namespace stackpack::app {

std::uint64_t FrameRows::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = core::mix_bits(key.frame.address);
  hash ^= (std::uint64_t{key.module} << 32 | key.function) + (key.offset << 1);
  hash = core::mix_bits(hash);
  hash ^= std::uint64_t{key.inlined} << 32 | std::uint64_t{key.depth} << 8 |
          std::uint64_t{static_cast<std::uint8_t>(key.frame.mode)} << 1 |
          static_cast<std::uint64_t>(key.use);
  return core::mix_bits(hash + key.line);
}

FrameRows::Key FrameRows::key_of(const Frame& frame, AddressUse use,
                                 const CodeLocation& location) const {
  Key key;
  key.frame = frame;
  key.use = use;
  key.inlined = location.inlined;
  key.line = location.line;
  key.offset = location.offset;
  if (location.module != nullptr) {
    key.module =
        symbols_.image_of(static_cast<std::uint32_t>(location.module - view_.modules.data()));
  }
  if (location.function != nullptr) {
    key.function = static_cast<std::uint32_t>(location.function - view_.names.functions.data());
  }
  return key;
}

std::vector<InlineFrame> FrameRows::expand(const CodeLocation& location) const {
  std::vector<InlineFrame> named;
  if (!location.has_address || !location.name.empty()) {
    symbols_.expand(location, named);
  }
  if (named.empty()) {
    named.push_back({location.name, location.linkage, location.file, location.line});
  }
  return named;
}

void FrameRows::add_row(const Key& key, const CodeLocation& location, const InlineFrame& named,
                        std::size_t depth, std::size_t count) {
  FrameRow row;
  row.frame = key.frame;
  row.use = location.use;
  row.has_address = location.has_address;
  row.inlined = depth + 1 < count;
  row.module = key.module;
  row.offset = location.offset;
  row.function = key.function;
  row.function_offset = location.function_offset;
  row.name = named.name;
  row.linkage = named.linkage;
  row.file = named.file;
  row.line = named.line;
  const bool unnamed = location.has_address && location.name.empty();
  row.title = titles_.intern(unnamed ? query::code_without_name(key.frame, location)
                                     : std::string(named.name));
  rows_.push_back(row);
}

void FrameRows::add(const symbols::MappingContext& place, const Frame& frame, AddressUse use,
                    std::vector<std::uint32_t>& numbers) {
  const CodeLocation location = symbols_.locate(frame, place.pid, place.time_ns, use);
  const std::vector<InlineFrame> named = expand(location);
  Key key = key_of(frame, use, location);
  for (std::size_t depth = 0; depth < named.size(); ++depth) {
    key.depth = static_cast<std::uint32_t>(depth);
    const std::uint32_t number = keys_.number(key);
    if (number == rows_.size()) {
      add_row(key, location, named[depth], depth, named.size());
    }
    numbers.push_back(number);
  }
}

bool FrameRows::find(const symbols::MappingContext& place, const Frame& frame, AddressUse use,
                     std::vector<std::uint32_t>& numbers) const {
  const CodeLocation location = symbols_.locate(frame, place.pid, place.time_ns, use);
  const std::size_t count = expand(location).size();
  Key key = key_of(frame, use, location);
  for (std::size_t depth = 0; depth < count; ++depth) {
    key.depth = static_cast<std::uint32_t>(depth);
    const std::uint32_t number = keys_.find(key);
    if (number == FrameRow::kNone) {
      return false;
    }
    numbers.push_back(number);
  }
  return true;
}

std::string_view FrameRows::image(const FrameRow& row) const {
  return row.module == FrameRow::kNone ? std::string_view()
                                       : query::file_name_of(view_.modules[row.module]);
}

}  // namespace stackpack::app
