#include "export/html/page_tree.h"

#include <algorithm>
#include <utility>

#include "core/saturating.h"
#include "core/sort_rows.h"

namespace stackpack::exporting {

PageTree::PageTree(ExportJob& job, Weights weights)
    : job_(job),
      weights_(weights),
      locations_(job.selection, {.identity = query::ImageIdentity::kFile,
                                 .style = job.options.frames,
                                 .unfold = true,
                                 .by_function = true}),
      resolver_(job.selection, locations_, tree_, job.options.folds_broken()),
      sample_nodes_(resolver_, job.view().stack_count, job.options.memory_limit / 2),
      functions_(locations_) {}

// Entries of one node become one.
void PageTree::merge_entries(std::vector<Entry>& entries) const {
  for (Entry& entry : entries) {
    entry.node = node_of(entry.node);
  }
  core::sort_rows(entries, [](const Entry& a, const Entry& b) { return a.node < b.node; });
  std::size_t kept = 0;
  for (const Entry& entry : entries) {
    if (kept != 0 && entries[kept - 1].node == entry.node) {
      Entry& same = entries[kept - 1];
      same.count = core::saturating_sum(same.count, entry.count);
      same.weight = core::saturating_sum(same.weight, entry.weight);
    } else {
      entries[kept++] = entry;
    }
  }
  entries.resize(kept);
}

Status PageTree::read(const std::function<Status(query::StackResolver&)>& more) {
  query::SampleGrouper grouper(job_.selection, {.event = true, .context = true},
                               job_.group_limit());
  Status status = for_each_resolved(
      grouper, resolver_, kResolvedBlock,
      [](const query::GroupKey&) -> Result<std::uint32_t> { return query::StackTree::kRoot; },
      [&](std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) -> Status {
        for (std::size_t i = 0; i < groups.size(); ++i) {
          const query::Group& group = groups[i];
          samples_ = core::saturating_sum(samples_, group.count);
          entries_[group.key.event].push_back({nodes[i], group.count, group.weight});
          sample_nodes_.add(group.key.stack, group.key.context, nodes[i]);
        }
        return {};
      });
  status = status && more ? more(resolver_) : status;
  return status ? join() : status;
}

// Locations that are one function are one child.
Status PageTree::join() {
  bool same = true;
  for (std::uint32_t location = 0; location < locations_.size(); ++location) {
    const std::uint32_t function = functions_.of(location);
    same = same && function == location;
  }
  functions_.mark_inlined();
  if (!same) {
    joined_.resize(tree_.node_count());
  }
  for (std::uint32_t node = 1; node < joined_.size(); ++node) {
    const Result<std::uint32_t> child =
        joint_.child(joined_[tree_.parent(node)], functions_.of(tree_.location(node)));
    if (!child) {
      return child.error();
    }
    joined_[node] = *child;
  }
  for (auto& [event, entries] : entries_) {
    merge_entries(entries);
  }
  return {};
}

void PageTree::add_measure(PageContent& content, std::uint32_t event, bool weight) {
  const query::EventChoice& choice = job_.selection.choice();
  content.measures.push_back({choice.name_of(event), weight ? choice.weight_unit(event) : "samples",
                              choice.key_of(event)});
  std::vector<NodeValue>& values = content.self.front().emplace_back();
  for (const Entry& entry : entries_[event]) {
    const std::uint64_t value = weight ? entry.weight : entry.count;
    if (value != 0) {
      values.push_back({entry.node, value});
    }
  }
}

void PageTree::choose_measures(PageContent& content) {
  const query::EventChoice& choice = job_.selection.choice();
  const CountBy wanted = job_.options.count;
  const bool only_weights = wanted == CountBy::kWeight || job_.view().aggregated();
  content.self.resize(1);
  for (const query::EventGroup& group : choice.groups()) {
    const std::uint32_t event = choice.joined(group.events.front());
    const auto found = entries_.find(event);
    if (found == entries_.end()) {
      continue;
    }
    if (content.measures.size() + 2 > kMostPageMeasures) {
      ++events_left_out_;
      continue;
    }
    const bool weighs = weights_ == Weights::kAll ||
                        std::any_of(found->second.begin(), found->second.end(),
                                    [](const Entry& entry) { return entry.weight != entry.count; });
    const bool counts = !only_weights || wanted == CountBy::kSamples;
    const bool has_weight = !counts || (weighs && wanted != CountBy::kSamples);
    EventRow row{event, {}};
    const auto add = [&](bool weight) {
      auto& number = weight ? row.measures.weight : row.measures.count;
      number = static_cast<std::uint32_t>(content.measures.size());
      add_measure(content, event, weight);
    };
    // What the page shows first is what other reports count.
    const bool weight_first = has_weight && choice.weighted(event);
    if (weight_first) {
      add(true);
    }
    if (counts) {
      add(false);
    }
    if (has_weight && !weight_first) {
      add(true);
    }
    events_.push_back(row);
  }
}

void PageTree::move_to(PageContent& content) {
  choose_measures(content);
  entries_.clear();
  const query::StackTree& tree = joined_.empty() ? tree_ : joint_;
  content.parents.resize(tree.node_count());
  content.node_functions.resize(tree.node_count());
  for (std::uint32_t node = 1; node < tree.node_count(); ++node) {
    content.parents[node] = tree.parent(node);
    content.node_functions[node] =
        joined_.empty() ? functions_.of(tree.location(node)) : tree.location(node);
  }
  functions_.move_to(content);
}

}  // namespace stackpack::exporting
