#include "export/html/joint_content.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "core/saturating.h"
#include "core/sort_rows.h"
#include "export/html/page_functions.h"
#include "query/event_traits.h"

namespace stackpack::exporting {

namespace {

bool is_below(const NodeValue& a, const NodeValue& b) {
  return a.node < b.node;
}

// Puts values into order, each node once.
void add_up(std::vector<NodeValue>& values) {
  core::sort_rows(values, is_below);
  std::size_t kept = 0;
  for (const NodeValue& own : values) {
    if (kept != 0 && values[kept - 1].node == own.node) {
      values[kept - 1].value = core::saturating_sum(values[kept - 1].value, own.value);
    } else {
      values[kept++] = own;
    }
  }
  values.resize(kept);
}

bool are_same(const std::vector<NodeValue>& a, const std::vector<NodeValue>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NodeValue& x, const NodeValue& y) {
                      return x.node == y.node && x.value == y.value;
                    });
}

}  // namespace

std::vector<std::uint32_t> JointContent::add_functions(const PageContent& file) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(file.functions.size());
  std::string key;
  for (const PageFunction& function : file.functions) {
    const std::string_view module =
        function.module == kNoPageModule ? std::string_view() : file.modules[function.module];
    make_key(function, module, key);
    const std::uint32_t number = keys_.intern(key);
    if (number == functions_.size()) {
      PageFunction& added = functions_.emplace_back(function);
      added.module = function.module == kNoPageModule ? kNoPageModule : modules_.intern(module);
    } else {
      functions_[number].mode = query::more_telling(functions_[number].mode, function.mode);
    }
    numbers.push_back(number);
  }
  return numbers;
}

Result<std::vector<std::uint32_t>> JointContent::add_tree(const PageContent& file) {
  const std::vector<std::uint32_t> functions = add_functions(file);
  std::vector<std::uint32_t> nodes(file.parents.size());
  for (std::size_t node = 1; node < nodes.size(); ++node) {
    const Result<std::uint32_t> child =
        tree_.child(nodes[file.parents[node]], functions[file.node_functions[node]]);
    if (!child) {
      return child.error();
    }
    nodes[node] = *child;
  }
  return nodes;
}

std::uint32_t JointContent::measure_number(const PageMeasure& what) {
  const auto [known, added] =
      measure_numbers_.try_emplace(std::pair(what.key.empty() ? what.name : what.key, what.unit),
                                   static_cast<std::uint32_t>(measures_.size()));
  if (added) {
    measures_.push_back({what, {}, 0});
  }
  // Files that spell it in several ways mean what it counts.
  PageMeasure& joint = measures_[known->second].what;
  joint.name = joint.name == what.name ? joint.name : query::traits_of(what.name).same_as;
  return known->second;
}

std::vector<std::uint32_t> JointContent::add_weights(const PageContent& file,
                                                     std::span<const std::uint32_t> nodes,
                                                     std::span<const PageTree::EventRow> events) {
  constexpr std::size_t kFewValues = std::size_t{1} << 16;
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < file.measures.size(); ++i) {
    numbers.push_back(measure_number(file.measures[i]));
    Measure& measure = measures_[numbers.back()];
    for (const NodeValue& own : file.self.front()[i]) {
      measure.values.push_back({nodes[own.node], own.value});
    }
    if (measure.values.size() > 2 * measure.distinct + kFewValues) {
      add_up(measure.values);
      measure.distinct = measure.values.size();
    }
  }
  std::vector<std::uint32_t> rows;
  for (const PageTree::EventRow& event : events) {
    EventMeasures measures;
    if (event.measures.count) {
      measures.count = numbers[*event.measures.count];
    }
    if (event.measures.weight) {
      measures.weight = numbers[*event.measures.weight];
    }
    const auto known = std::find_if(events_.begin(), events_.end(), [&](const EventMeasures& row) {
      return row.count == measures.count && row.weight == measures.weight;
    });
    rows.push_back(static_cast<std::uint32_t>(known - events_.begin()));
    if (known == events_.end()) {
      events_.push_back(measures);
    }
  }
  return rows;
}

// By measure: whether it is the weight of events whose samples all weigh 1, and nothing else.
std::vector<bool> JointContent::mere_counts() const {
  std::vector<bool> mere(measures_.size());
  for (const EventMeasures& event : events_) {
    if (event.weight) {
      mere[*event.weight] = true;
    }
  }
  for (const EventMeasures& event : events_) {
    if (event.weight && (!event.count || !are_same(measures_[*event.weight].values,
                                                   measures_[*event.count].values))) {
      mere[*event.weight] = false;
    }
    if (event.count) {
      mere[*event.count] = false;
    }
  }
  return mere;
}

// As a report of all files prefers them.
std::vector<std::size_t> JointContent::events_in_order() const {
  const auto place_of = [this](std::size_t number) {
    const Measure& measure =
        measures_[events_[number].count.value_or(events_[number].weight.value_or(0))];
    std::uint64_t total = 0;
    for (const NodeValue& own : measure.values) {
      core::add_saturating(total, own.value);
    }
    return std::tuple(query::traits_of(measure.what.name).kind, ~total, number);
  };
  std::vector<decltype(place_of(0))> places;
  places.reserve(events_.size());
  for (std::size_t number = 0; number < events_.size(); ++number) {
    places.push_back(place_of(number));
  }
  std::sort(places.begin(), places.end());
  std::vector<std::size_t> order;
  order.reserve(places.size());
  for (const auto& place : places) {
    order.push_back(std::get<2>(place));
  }
  return order;
}

std::vector<EventMeasures> JointContent::hand_over(PageContent& content) {
  content.functions = functions_;
  for (std::uint32_t i = 0; i < modules_.size(); ++i) {
    content.modules.emplace_back(modules_.text(i));
  }
  content.parents.resize(tree_.node_count());
  content.node_functions.resize(tree_.node_count());
  for (std::uint32_t node = 1; node < tree_.node_count(); ++node) {
    content.parents[node] = tree_.parent(node);
    content.node_functions[node] = tree_.location(node);
  }
  for (Measure& measure : measures_) {
    add_up(measure.values);
  }
  const std::vector<bool> mere = mere_counts();
  std::vector<std::optional<std::uint32_t>> places(measures_.size());
  content.self.resize(1);
  const auto place = [&](std::optional<std::uint32_t>& number) {
    if (!number || mere[*number]) {
      number.reset();
      return;
    }
    std::optional<std::uint32_t>& at = places[*number];
    if (!at) {
      at = static_cast<std::uint32_t>(content.measures.size());
      content.measures.push_back(measures_[*number].what);
      content.self.front().push_back(std::move(measures_[*number].values));
    }
    number = at;
  };
  for (const std::size_t number : events_in_order()) {
    EventMeasures& event = events_[number];
    if (content.measures.size() + 2 > kMostPageMeasures) {
      ++events_left_out_;
      event = {};
      continue;
    }
    // As in a page of one file, in which the figure that reports count comes first.
    const bool weight_first = event.weight_first();
    place(weight_first ? event.weight : event.count);
    place(weight_first ? event.count : event.weight);
  }
  return events_;
}

}  // namespace stackpack::exporting
