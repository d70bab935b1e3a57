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
  const ImageAddresses addresses((*symbols)->modules());
  std::map<std::pair<std::string_view, std::uint64_t>, BranchSums> by_instruction;
  std::map<std::pair<std::string_view, std::uint64_t>, BranchSums> by_offset;  // and file name
  // Of a function and a line.
  std::map<std::tuple<std::string, std::string, std::uint32_t>, BranchSums> by_line;
  for (const BranchEdge& edge : branches->edges) {
    if (edge.from_image == kNoImage || edge.wrong_path) {
      continue;
    }
    const std::string_view path = (*symbols)->modules()[edge.from_image].path;
    add_to(by_instruction[{path, edge.from}], edge);
    add_to(by_offset[{file_part(path), edge.from}], edge);
    if (const auto query = addresses.find(edge.from_image, edge.from)) {
      const CodeLocation location =
          (*symbols)->locate(query->frame, query->pid, query->time_ns, query->use);
      std::vector<InlineFrame> frames;
      (*symbols)->expand(location, frames);
      for (const InlineFrame& frame : frames) {
        add_to(by_line[{std::string(frame.name), std::string(frame.file), frame.line}], edge);
      }
    }
  }
  for (AnnotatedFunction& function : annotation.functions) {
    for (AnnotatedPlace& place : function.places) {
      if (place.file.empty()) {
        const auto found = by_offset.find({file_part(function.spot.module), place.offset});
        place.branches = found == by_offset.end() ? BranchSums() : found->second;
      } else {
        const auto found = by_line.find({function.spot.name, place.file, place.line});
        place.branches = found == by_line.end() ? BranchSums() : found->second;
      }
    }
    for (AnnotatedCode& code : function.code) {
      for (AnnotatedInstruction& one : code.instructions) {
        const auto found = by_instruction.find({code.image, one.offset});
        one.branches = found == by_instruction.end() ? BranchSums() : found->second;
      }
    }
  }
  annotation.has_branches = true;
  return {};
}

}  // namespace stackpack::app
