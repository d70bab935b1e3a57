#include "app/analysis/annotated_branches.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/branches/image_addresses.h"
#include "capture/branch_order.h"
#include "stackpack/branches.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

namespace {

using capture::saturating_sum;

std::string_view file_part(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

void add_to(BranchSums& sums, const BranchEdge& edge) {
  sums.taken = saturating_sum(sums.taken, edge.count);
  sums.mispredicted = saturating_sum(sums.mispredicted, edge.mispredicted);
}

// The branches of a capture by where they were taken.
class TakenBranches {
 public:
  explicit TakenBranches(const Symbols& symbols)
      : symbols_(symbols), addresses_(symbols.modules()) {}

  void add(const BranchEdge& edge) {
    if (edge.from_image == kNoImage || edge.wrong_path) {
      return;
    }
    const std::string_view path = symbols_.modules()[edge.from_image].path;
    add_to(by_instruction_[{path, edge.from}], edge);
    add_to(by_offset_[{file_part(path), edge.from}], edge);
    if (const auto query = addresses_.find(edge.from_image, edge.from)) {
      const CodeLocation location =
          symbols_.locate(query->frame, query->pid, query->time_ns, query->use);
      std::vector<InlineFrame> frames;
      symbols_.expand(location, frames);
      for (const InlineFrame& frame : frames) {
        add_to(by_line_[{std::string(frame.name), std::string(frame.file), frame.line}], edge);
      }
    }
  }

  void give_to(AnnotatedFunction& function) const {
    for (AnnotatedPlace& place : function.places) {
      place.branches = place.file.empty()
                           ? find(by_offset_, {file_part(function.spot.module), place.offset})
                           : find(by_line_, {function.spot.name, place.file, place.line});
    }
    for (AnnotatedCode& code : function.code) {
      for (AnnotatedInstruction& one : code.instructions) {
        one.branches = find(by_instruction_, {code.image, one.offset});
      }
    }
  }

 private:
  using ByAddress = std::map<std::pair<std::string_view, std::uint64_t>, BranchSums>;
  using ByLine = std::map<std::tuple<std::string, std::string, std::uint32_t>, BranchSums>;

  template <typename Map>
  static BranchSums find(const Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? BranchSums() : found->second;
  }

  const Symbols& symbols_;
  const ImageAddresses addresses_;
  ByAddress by_instruction_;  // path of the image, offset
  ByAddress by_offset_;       // file name of the image, offset
  ByLine by_line_;            // function, file, line
};

}  // namespace

Status add_branches(const Reader& reader, Annotation& annotation) {
  const Result<Branches> branches = reader.branches();
  if (!branches || branches->edges.empty()) {
    return branches ? Status{} : Status{branches.error()};
  }
  const Result<std::unique_ptr<const Symbols>> symbols = Symbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  TakenBranches taken(**symbols);
  for (const BranchEdge& edge : branches->edges) {
    taken.add(edge);
  }
  for (AnnotatedFunction& function : annotation.functions) {
    taken.give_to(function);
  }
  annotation.has_branches = true;
  return {};
}

}  // namespace stackpack::app
