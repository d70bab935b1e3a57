#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "core/number_table.h"
#include "export/html/page_content.h"
#include "export/html/page_functions.h"
#include "export/job/export_job.h"
#include "query/naming/location_table.h"
#include "query/naming/stack_resolver.h"
#include "query/naming/stack_tree.h"
#include "query/selection/sample_selection.h"

namespace stackpack::exporting {

/// The nodes at which the callstacks of samples end, for samples in any order.
///
/// Memory: 8 bytes a callstack of the file, 20 more for each one in a further mapping context, up
///         to a limit; then it starts anew.
class SampleNodes {
 public:
  /// `resolver` must outlive this. `stack_count`: callstacks of the file. `memory_limit`: bytes.
  SampleNodes(query::StackResolver& resolver, std::uint64_t stack_count,
              std::uint64_t memory_limit);

  /// Says at which node a callstack ends, where that is known already: resolving callstacks in the
  /// order of the samples costs several times as much as in their own order.
  void add(StackId stack, std::uint32_t context, std::uint32_t node);

  /// The node of each sample, into `nodes` (replaced). Errors: those of the resolver.
  Status find(std::span<const query::SummedSample> samples, std::vector<std::uint32_t>& nodes);

 private:
  struct Place {
    std::uint32_t context = ~std::uint32_t{0};
    std::uint32_t node = 0;
  };
  [[nodiscard]] const Place* place_of(StackId stack) const {
    return stack < places_.size() ? &places_[stack] : nullptr;
  }
  void add_trace(std::uint64_t trace, std::uint32_t node);
  Status find_others(std::span<const query::SummedSample> samples,
                     std::vector<std::uint32_t>& nodes);

  query::StackResolver& resolver_;
  std::size_t limit_;
  std::vector<Place> places_;                // by callstack: in the context that came first
  std::vector<std::uint32_t> others_;        // samples that have no node yet
  core::NumberTable<std::uint64_t> traces_;  // (context, callstack)
  std::vector<std::uint32_t> node_of_trace_;
  std::vector<query::StackResolver::Request> requests_;  // of the traces that have no node yet
  std::vector<std::uint32_t> resolved_;
};

/// The callstacks of an export as one tree of functions, and what the samples weigh in it.
///
/// Memory: the distinct callstacks as the page names their frames: some 45 bytes a node, 24 a
/// callstack of an event, and what SampleNodes has; the samples are added up within the export's
/// limit.
class PageTree {
 public:
  /// Which events have their weights as a measure besides the count of their samples.
  enum class Weights : std::uint8_t {
    kWhereTheySay,  ///< those whose weights are not their counts
    kAll,
  };

  /// The job must outlive this.
  explicit PageTree(ExportJob& job, Weights weights = Weights::kWhereTheySay);

  /// Adds up all samples. `more`: resolves further callstacks, for nodes without samples.
  /// Errors: those of the selection, of the reader, of `more`.
  Status read(const std::function<Status(query::StackResolver&)>& more = {});

  /// Nodes for samples, once read() is done: in numbers of node_of().
  SampleNodes& sample_nodes() { return sample_nodes_; }

  /// The node of the page's tree for a node of the resolver.
  [[nodiscard]] std::uint32_t node_of(std::uint32_t resolved) const {
    return joined_.empty() ? resolved : joined_[resolved];
  }

  /// Rows of the event table that samples have, the preferred ones first, and their measures.
  struct EventRow {
    std::uint32_t event = 0;
    EventMeasures measures;
  };
  [[nodiscard]] const std::vector<EventRow>& events() const { return events_; }
  /// Events for which there was no room among the measures.
  [[nodiscard]] std::size_t events_left_out() const { return events_left_out_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }

  /// Moves tree, functions, modules, measures and weights into `content`, but for `node_of`.
  void move_to(PageContent& content);

 private:
  struct Entry {
    std::uint32_t node = 0;
    std::uint64_t count = 0;
    std::uint64_t weight = 0;
  };

  void merge_entries(std::vector<Entry>& entries) const;
  Status join();
  void choose_measures(PageContent& content);
  void add_measure(PageContent& content, std::uint32_t event, bool weight);

  ExportJob& job_;
  Weights weights_;
  query::LocationTable locations_;
  query::StackTree tree_;
  query::StackResolver resolver_;
  SampleNodes sample_nodes_;
  PageFunctions functions_;
  std::map<std::uint32_t, std::vector<Entry>> entries_;  // by event
  query::StackTree joint_;             // where locations are not functions one to one
  std::vector<std::uint32_t> joined_;  // by node of tree_; empty: the same
  std::vector<EventRow> events_;
  std::size_t events_left_out_ = 0;
  std::uint64_t samples_ = 0;
};

}  // namespace stackpack::exporting
