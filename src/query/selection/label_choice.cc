#include "query/selection/label_choice.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <utility>

#include "bytes/utf8.h"
#include "query/name_pattern.h"

namespace stackpack::query {

namespace {

using Conditions = std::map<std::string, std::vector<std::string>>;  // patterns by key

Error bad_condition(std::string_view what) {
  return {ErrorCode::kUsage, kNoOffset, what};
}

Result<Conditions> conditions_of(std::span<const std::string> texts) {
  Conditions conditions;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return bad_condition("a label is chosen as KEY=VALUE");
    }
    conditions[text.substr(0, equals)].push_back(text.substr(equals + 1));
  }
  return conditions;
}

bool fits(const LabelSet& set, const Conditions& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [&set](const auto& condition) {
    const auto& [key, patterns] = condition;
    bool has_key = false;
    for (const Label& label : set) {
      if (label.key == key) {
        has_key = true;
        if (fits_any(label_text(label), patterns)) {
          return true;
        }
      }
    }
    return !has_key && std::find(patterns.begin(), patterns.end(), kNoLabel) != patterns.end();
  });
}

}  // namespace

std::string label_text(const Label& label) {
  switch (label.type) {
    case LabelType::kText:
      return bytes::valid_utf8(label.text);
    case LabelType::kReal: {
      std::array<char, 32> text{};
      std::snprintf(text.data(), text.size(), "%.6g", std::bit_cast<double>(label.number));
      return text.data();
    }
    case LabelType::kInteger:
    case LabelType::kBool:
      break;
  }
  const std::string number = std::to_string(static_cast<std::int64_t>(label.number));
  return label.unit.empty() ? number : number + " " + bytes::valid_utf8(label.unit);
}

Result<bool> has_label(const CaptureView& view, std::string_view key) {
  bool found = false;
  if (!view.label_sets || !view.fields) {
    return found;
  }
  const Status read = view.label_sets([&](std::span<const LabelSet> sets) {
    for (const LabelSet& set : sets) {
      found = found || std::any_of(set.begin(), set.end(),
                                   [key](const Label& label) { return label.key == key; });
    }
    return !found;
  });
  return read ? Result<bool>(found) : read.error();
}

Result<LabelFilter> LabelFilter::create(const CaptureView& view,
                                        std::span<const std::string> conditions) {
  LabelFilter filter;
  if (conditions.empty()) {
    return filter;
  }
  const Result<Conditions> wanted = conditions_of(conditions);
  if (!wanted) {
    return wanted.error();
  }
  if (!view.label_sets) {
    return bad_condition("no sample of the file has labels");
  }
  if (!view.fields) {
    return bad_condition("only samples of the file have labels, and no waits or thread times");
  }
  filter.active_ = true;
  filter.wants_unlabelled_ = fits({}, *wanted);
  const Status read = view.label_sets([&](std::span<const LabelSet> sets) {
    for (const LabelSet& set : sets) {
      filter.wanted_.push_back(fits(set, *wanted));
    }
    return true;
  });
  return read ? Result<LabelFilter>(std::move(filter)) : read.error();
}

Result<LabelValues> LabelValues::load(const CaptureView& view, std::string_view key) {
  LabelValues values;
  values.texts_.intern(kNoLabel);
  if (!view.label_sets || !view.fields) {
    return values;
  }
  const Status read = view.label_sets([&](std::span<const LabelSet> sets) {
    for (const LabelSet& set : sets) {
      std::string title;
      bool any = false;
      for (const Label& label : set) {
        if (label.key == key) {
          title += (any ? ", " : "") + label_text(label);
          any = true;
        }
      }
      values.values_.push_back(any ? values.texts_.intern(title) : 0);
    }
    return true;
  });
  return read ? Result<LabelValues>(std::move(values)) : read.error();
}

}  // namespace stackpack::query
