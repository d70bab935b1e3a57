// Folded stacks: a line per callstack, root first.
//
// Callstacks are resolved into a tree whose nodes are texts, and added up at its nodes, so that no
// two lines have the same frames: importing the text and exporting it again gives the same lines.
// Samples without a callstack are a line of their own.

#include <charconv>
#include <map>

#include "core/no_callstack.h"
#include "core/saturating.h"
#include "core/weight_scale.h"
#include "export/job/export_job.h"
#include "query/naming/tree_path.h"

namespace stackpack::exporting {

namespace {

constexpr char kSeparator = ';';

std::string named(std::string_view name, std::uint32_t id) {
  std::string text(name.empty() ? std::string_view("[unknown]") : name);
  return id == kUnknownId ? text : text + "-" + std::to_string(id);
}

class FoldedEncoder {
 public:
  explicit FoldedEncoder(ExportJob& job)
      : job_(job),
        locations_(job.selection, {.identity = query::ImageIdentity::kFile,
                                   .style = job.options.frames,
                                   .by_text = true,
                                   .annotate_kernel = job.options.folded.annotate_kernel,
                                   .separator = kSeparator,
                                   .unfold = job.options.folded.inlines}),
        resolver_(job.selection, locations_, tree_, job.options.folds_broken()),
        no_callstack_(locations_.intern_text(core::kNoCallstack)) {}

  Status add_up() {
    query::SampleGrouper grouper(job_.selection,
                                 {.event = true,
                                  .context = job_.options.frames != FrameStyle::kAddress,
                                  .track = job_.options.folded.root != FoldedRoot::kNone,
                                  .weight = job_.selection.choice().any_weighted(),
                                  .numbers_tracks = false},
                                 job_.group_limit());
    std::function<Result<std::uint32_t>(const query::GroupKey&)> root_of_group;
    if (job_.options.folded.root != FoldedRoot::kNone) {
      root_of_group = [this](const query::GroupKey& key) { return root_of(key); };
    }
    return for_each_resolved(
        grouper, resolver_, kResolvedBlock, root_of_group,
        [this](std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
          return add(groups, nodes);
        });
  }

  Status write_lines(ExportOutput& out) {
    const query::EventChoice& choice = job_.selection.choice();
    const unsigned decimals =
        core::parse_unit(choice.measure_of(choice.main_event()).unit).decimals;
    query::TreePath path(tree_);
    std::string line;
    std::vector<std::size_t> ends;  // of the text of each node of the path, root first
    for (std::uint32_t node = 1; node < totals_.size() && out.status(); ++node) {
      if (totals_[node] == 0) {
        continue;
      }
      // Lines that follow one another begin alike: nodes are numbered down the tree.
      const std::size_t shared = path.go_to(node);
      ends.resize(shared);
      line.resize(shared == 0 ? 0 : ends.back());
      for (const std::uint32_t fresh : path.nodes().subspan(shared)) {
        if (!ends.empty()) {
          line += kSeparator;
        }
        locations_.append_text(tree_.location(fresh), line);
        ends.push_back(line.size());
      }
      out.write(line);
      out.put(' ');
      out.write(core::decimal_text(totals_[node], decimals));
      out.put('\n');
      ++job_.report.stacks;
    }
    return out.status();
  }

 private:
  // The node of the process, or of the thread below it.
  Result<std::uint32_t> root_of(const query::GroupKey& key) {
    const auto known = roots_.find(key.track);
    if (known != roots_.end()) {
      return known->second;
    }
    const query::Track& track = job_.selection.tracks()[key.track];
    Result<std::uint32_t> node =
        tree_.child(query::StackTree::kRoot,
                    locations_.intern_text(named(job_.selection.process_name(track), track.pid)));
    if (node && job_.options.folded.root == FoldedRoot::kThread) {
      node = tree_.child(
          *node, locations_.intern_text(named(job_.selection.thread_name(track), track.tid)));
    }
    if (node) {
      roots_.emplace(key.track, *node);
    }
    return node;
  }

  Status add(std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      std::uint32_t node = nodes[i];
      if (groups[i].key.stack == kNoStack) {
        const Result<std::uint32_t> child = tree_.child(node, no_callstack_);
        if (!child) {
          return child.error();
        }
        node = *child;
      }
      if (totals_.size() < tree_.node_count()) {
        totals_.resize(tree_.node_count());
      }
      const std::uint64_t value = job_.selection.value_of_group(groups[i]);
      core::add_saturating(totals_[node], value);
      job_.report.samples += groups[i].count;
      core::add_saturating(job_.report.weight, value);
    }
    return {};
  }

  ExportJob& job_;
  query::LocationTable locations_;
  query::StackTree tree_;
  query::StackResolver resolver_;
  std::uint32_t no_callstack_;
  std::map<std::uint32_t, std::uint32_t> roots_;  // track to node
  std::vector<std::uint64_t> totals_;             // by node
};

}  // namespace

Status write_folded(ExportJob& job, ExportOutput& out) {
  FoldedEncoder encoder(job);
  if (const Status status = encoder.add_up(); !status) {
    return status;
  }
  return encoder.write_lines(out);
}

}  // namespace stackpack::exporting
