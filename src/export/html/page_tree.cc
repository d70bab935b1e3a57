#include "export/html/page_tree.h"

#include <algorithm>
#include <utility>

#include "core/saturating.h"
#include "core/sort_rows.h"

namespace stackpack::exporting {

namespace {

constexpr std::uint64_t kBytesPerTrace = 24;
constexpr std::uint32_t kNoContext = ~std::uint32_t{0};
// How far ahead of the samples their places are fetched: of many callstacks, they lie beyond the
// caches.
constexpr std::size_t kPlacesAhead = 24;

std::uint64_t trace_of(StackId stack, std::uint32_t context) {
  return std::uint64_t{context} << 32 | stack;
}

}  // namespace

SampleNodes::SampleNodes(query::StackResolver& resolver, std::uint64_t stack_count,
                         std::uint64_t memory_limit)
    : resolver_(resolver), limit_(static_cast<std::size_t>(memory_limit / kBytesPerTrace)) {
  if (stack_count <= limit_) {
    places_.resize(static_cast<std::size_t>(stack_count));
  }
}

void SampleNodes::add_trace(std::uint64_t trace, std::uint32_t node) {
  if (traces_.number(trace) == node_of_trace_.size()) {
    node_of_trace_.push_back(node);
  }
}

void SampleNodes::add(StackId stack, std::uint32_t context, std::uint32_t node) {
  if (stack < places_.size() && places_[stack].context == kNoContext) {
    places_[stack] = {context, node};
  } else if (stack != kNoStack && traces_.size() < limit_ &&
             (stack >= places_.size() || places_[stack].context != context)) {
    add_trace(trace_of(stack, context), node);
  }
}

// The nodes of others_.
Status SampleNodes::find_others(std::span<const query::SummedSample> samples,
                                std::vector<std::uint32_t>& nodes) {
  if (traces_.size() > limit_) {
    traces_.clear();
    node_of_trace_.clear();
  }
  requests_.clear();
  for (const std::uint32_t i : others_) {
    const query::SummedSample& sample = samples[i];
    const std::uint32_t trace = traces_.number(trace_of(sample.stack, sample.context));
    nodes[i] = trace;
    if (trace == node_of_trace_.size() + requests_.size()) {
      requests_.push_back({sample.stack, sample.context, query::StackTree::kRoot});
    }
  }
  if (!requests_.empty()) {
    if (const Status status = resolver_.resolve(requests_, resolved_); !status) {
      return status;
    }
    node_of_trace_.insert(node_of_trace_.end(), resolved_.begin(), resolved_.end());
  }
  for (const std::uint32_t i : others_) {
    nodes[i] = node_of_trace_[nodes[i]];
  }
  return {};
}

Status SampleNodes::find(std::span<const query::SummedSample> samples,
                         std::vector<std::uint32_t>& nodes) {
  nodes.resize(samples.size());
  others_.clear();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Place* const next =
        place_of(samples[std::min(i + kPlacesAhead, samples.size() - 1)].stack);
    if (next != nullptr) {
      __builtin_prefetch(next);
    }
    const query::SummedSample& sample = samples[i];
    const Place* const place = place_of(sample.stack);
    if (place != nullptr && place->context == sample.context) {
      nodes[i] = place->node;
    } else if (sample.stack == kNoStack) {
      nodes[i] = query::StackTree::kRoot;
    } else {
      others_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return others_.empty() ? Status{} : find_others(samples, nodes);
}

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
      core::add_saturating(same.count, entry.count);
      core::add_saturating(same.weight, entry.weight);
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
      grouper, resolver_, kResolvedBlock, {},
      [&](std::span<const query::Group> groups, std::span<const std::uint32_t> nodes) -> Status {
        for (std::size_t i = 0; i < groups.size(); ++i) {
          const query::Group& group = groups[i];
          core::add_saturating(samples_, group.count);
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
