#include "app/merge/source_metadata.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

namespace stackpack::app {

namespace {

constexpr std::string_view kFact = "otlp.";
constexpr std::string_view kSource = "source.";

// The row of a source and what is said of it; nothing: the key is no such one.
struct SourceKey {
  std::size_t row = 0;
  std::string_view fact;
};
std::optional<SourceKey> source_key(std::string_view key) {
  if (!key.starts_with(kSource)) {
    return std::nullopt;
  }
  const std::string_view rest = key.substr(kSource.size());
  SourceKey found;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), found.row);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || digits == 0 || !rest.substr(digits).starts_with('.')) {
    return std::nullopt;
  }
  found.fact = rest.substr(digits + 1);
  return found.fact.starts_with(kFact) ? std::optional(found) : std::nullopt;
}

}  // namespace

bool SourceMetadata::has(std::string_view key) {
  return key.starts_with(kFact) || source_key(key).has_value();
}

void SourceMetadata::add(std::span<const MergedSource> sources,
                         std::span<const MetadataEntry> metadata) {
  const auto take = [this](const MergedSource& source, std::string_view fact,
                           const std::string& value) {
    std::string& known = facts_[source.id][std::string(fact)];
    known = std::max(known, value);
  };
  for (const MetadataEntry& entry : metadata) {
    if (entry.key.starts_with(kFact)) {
      for (const MergedSource& source : sources) {
        take(source, entry.key, entry.value);
      }
    } else if (const auto key = source_key(entry.key); key && key->row < sources.size()) {
      take(sources[key->row], key->fact, entry.value);
    }
  }
}

SourceMetadata::Facts SourceMetadata::common(std::span<const MergedSource> sources) const {
  Facts same;
  for (std::size_t row = 0; row < sources.size(); ++row) {
    const auto found = facts_.find(sources[row].id);
    if (found == facts_.end()) {
      return {};
    }
    if (row == 0) {
      same = found->second;
    }
    std::erase_if(same, [&found](const auto& fact) {
      const auto other = found->second.find(fact.first);
      return other == found->second.end() || other->second != fact.second;
    });
  }
  return same;
}

void SourceMetadata::tell(std::span<const MergedSource> sources,
                          std::map<std::string, std::string>& metadata) const {
  const Facts same = common(sources);
  metadata.insert(same.begin(), same.end());
  for (std::size_t row = 0; row < sources.size(); ++row) {
    const auto found = facts_.find(sources[row].id);
    if (found == facts_.end()) {
      continue;
    }
    for (const auto& [key, value] : found->second) {
      if (!same.contains(key)) {
        metadata.emplace(std::string(kSource) + std::to_string(row) + '.' + key, value);
      }
    }
  }
}

}  // namespace stackpack::app
