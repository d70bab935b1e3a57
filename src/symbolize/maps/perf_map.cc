#include "symbolize/maps/perf_map.h"

#include <optional>
#include <string_view>

#include "symbolize/maps/text_lines.h"

namespace stackpack::symbolize {

namespace {

constexpr std::size_t kMostMapLines = std::size_t{64} << 20;

}  // namespace

Result<PerfMap> PerfMap::read(io::ByteSource& source) {
  TextLines lines(source);
  PerfMap map;
  while (true) {
    const Result<std::optional<std::string_view>> next = lines.next();
    if (!next) {
      return next.error();
    }
    if (!*next) {
      break;
    }
    std::string_view line = **next;
    const std::optional<std::uint64_t> start = hex_number(take_word(line));
    const std::optional<std::uint64_t> size = hex_number(take_word(line));
    if (!start || !size || *size == 0 || *size > ~std::uint64_t{0} - *start || line.empty()) {
      ++map.unread_lines_;
      continue;
    }
    if (map.texts_.size() >= kMostMapLines) {
      return Error{ErrorCode::kLimit, lines.offset(), "perf map: too many lines"};
    }
    const auto number = static_cast<std::uint32_t>(map.texts_.size());
    map.texts_.add(line);
    const bool reused =
        map.ranges_.add(*start, *start + *size, number, [](std::uint32_t /*line*/) {});
    map.reused_ += reused ? 1U : 0U;
  }
  map.unread_lines_ += lines.too_long();
  if (map.texts_.size() == 0 && map.unread_lines_ != 0) {
    return Error{ErrorCode::kCorrupt, kNoOffset,
                 "perf map: no line has a start, a size and a name"};
  }
  return map;
}

void PerfMap::name(const SymbolRequest& request, const CodeRange& owner,
                   NameCollector& names) const {
  std::uint64_t named_up_to = 0;
  for (const std::uint64_t address : request.addresses) {
    if (address < named_up_to) {
      continue;
    }
    const std::optional<LatestRanges::Piece> piece = ranges_.at(address);
    if (!piece) {
      continue;
    }
    Function row;
    static_cast<CodeRange&>(row) = owner;
    row.start = piece->start;
    row.size = piece->end - piece->start;
    row.source = FunctionSource::kPerfMap;
    row.name = names.text(texts_[piece->number]);
    names.add_function(row);
    named_up_to = piece->end;
  }
}

}  // namespace stackpack::symbolize
