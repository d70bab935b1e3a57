#include "app/analysis/annotation.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/analysis/hot_spots.h"
#include "core/sort_rows.h"

namespace stackpack::app {

namespace {

using FunctionKey = std::pair<std::string, std::string>;  // name, module

// `file:line` in its parts; no file: the text has no line.
AnnotatedPlace place_of_line(const std::string& text) {
  AnnotatedPlace place;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    const char* const end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(text.data() + colon + 1, end, place.line);
    if (failure == std::errc{} && rest == end) {
      place.file = text.substr(0, colon);
    }
  }
  return place;
}

// `+0xoffset`, as FrameGrain::kInstruction writes it.
AnnotatedPlace place_of_offset(const std::string& text) {
  constexpr std::string_view kPrefix = "+0x";
  AnnotatedPlace place;
  std::from_chars(text.data() + std::min(kPrefix.size(), text.size()), text.data() + text.size(),
                  place.offset, 16);
  return place;
}

// Adds the rows of one way to divide functions: lines, or instructions.
class PlaceRows {
 public:
  explicit PlaceRows(std::vector<AnnotatedFunction>& functions) : functions_(functions) {
    for (std::size_t i = 0; i < functions.size(); ++i) {
      known_.emplace(FunctionKey{functions[i].spot.name, functions[i].spot.module}, i);
    }
  }

  AnnotatedFunction* function_of(const HotSpot& row) {
    const auto at = known_.find({row.name, row.module});
    return at == known_.end() ? nullptr : &functions_[at->second];
  }

 private:
  std::vector<AnnotatedFunction>& functions_;
  std::map<FunctionKey, std::size_t> known_;
};

void add_place(AnnotatedFunction& function, AnnotatedPlace place, const HotSpot& row) {
  place.self = row.self;
  place.total = row.total;
  function.places.push_back(std::move(place));
}

Status add_places(const Reader& reader, HotSpotQuery query, Annotation& annotation) {
  PlaceRows known(annotation.functions);
  query.by = HotSpotKind::kLine;
  Result<HotSpots> lines = hot_spots(reader, query);
  if (!lines) {
    return lines.error();
  }
  bool all_lines = true;
  for (const HotSpot& row : lines->rows) {
    AnnotatedFunction* const function = known.function_of(row);
    if (function == nullptr) {
      continue;
    }
    AnnotatedPlace place = place_of_line(row.place);
    if (place.file.empty()) {
      all_lines = false;
    } else {
      add_place(*function, std::move(place), row);
    }
  }
  if (all_lines) {
    return {};
  }
  query.by = HotSpotKind::kUnlinedAddress;
  const Result<HotSpots> code = hot_spots(reader, query);
  if (!code) {
    return code.error();
  }
  for (const HotSpot& row : code->rows) {
    if (AnnotatedFunction* const function = known.function_of(row);
        function != nullptr && !row.place.empty()) {
      add_place(*function, place_of_offset(row.place), row);
    }
  }
  return {};
}

}  // namespace

Result<Annotation> annotate(const Reader& reader, const HotSpotQuery& query,
                            const std::string& function) {
  HotSpotQuery whole = query;
  whole.by = HotSpotKind::kFunction;
  Result<Neighbours> found = neighbours(reader, whole, function, NeighbourSide::kCallers);
  if (!found) {
    return found.error();
  }
  Annotation annotation;
  annotation.about = std::move(found->around);
  annotation.about.rows.clear();
  annotation.occurring = std::move(found->occurring);
  for (HotSpot& match : found->matches) {
    annotation.functions.push_back({std::move(match), {}, {}});
  }
  if (annotation.functions.empty()) {
    return annotation;
  }
  if (const Status added = add_places(reader, query, annotation); !added) {
    return added.error();
  }
  for (AnnotatedFunction& one : annotation.functions) {
    core::sort_rows(one.places, [](const AnnotatedPlace& a, const AnnotatedPlace& b) {
      return std::tuple(a.file.empty(), std::tie(a.file, a.line, a.offset)) <
             std::tuple(b.file.empty(), std::tie(b.file, b.line, b.offset));
    });
  }
  return annotation;
}

}  // namespace stackpack::app
