#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/string_table.h"
#include "export/html/page_content.h"
#include "export/html/page_tree.h"
#include "query/naming/stack_tree.h"
#include "stackpack/result.h"

namespace stackpack::exporting {

/// The trees and weights of several files as one: functions of one name and module are one, as in
/// `top` of several files.
///
/// Memory: the distinct functions and callstacks of all files; of a measure, what its distinct
/// callstacks take up to twice.
class JointContent {
 public:
  /// The node here for each node of a file, which may be known already.
  /// Errors: kLimit when there are no more numbers.
  Result<std::vector<std::uint32_t>> add_tree(const PageContent& file);

  /// Adds the weights of a file, whose events have all their weights (PageTree::Weights::kAll).
  /// `nodes`: what add_tree() gave. Result: by row of the file's events, the row here.
  std::vector<std::uint32_t> add_weights(const PageContent& file,
                                         std::span<const std::uint32_t> nodes,
                                         std::span<const PageTree::EventRow> events);

  [[nodiscard]] std::size_t function_count() const { return functions_.size(); }
  [[nodiscard]] std::uint32_t node_count() const { return tree_.node_count(); }

  /// Copies functions, modules and tree into `content`, and moves measures and weights there; those
  /// weights that are nothing but counts stay out. Result: the measures of each event.
  std::vector<EventMeasures> hand_over(PageContent& content);

  /// Events for which there was no room among the measures.
  [[nodiscard]] std::size_t events_left_out() const { return events_left_out_; }

 private:
  struct Measure {
    PageMeasure what;
    std::vector<NodeValue> values;
    std::size_t distinct = 0;  // of the first of them, which are in order
  };

  std::vector<std::uint32_t> add_functions(const PageContent& file);
  std::uint32_t measure_number(const PageMeasure& what);
  [[nodiscard]] std::vector<bool> mere_counts() const;
  [[nodiscard]] std::vector<std::size_t> events_in_order() const;

  core::StringTable modules_;
  core::StringTable keys_;
  std::vector<PageFunction> functions_;
  query::StackTree tree_;  // locations: functions
  std::map<std::pair<std::string, std::string>, std::uint32_t> measure_numbers_;
  std::vector<Measure> measures_;
  std::vector<EventMeasures> events_;
  std::size_t events_left_out_ = 0;
};

}  // namespace stackpack::exporting
