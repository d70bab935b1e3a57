#include "app/merge/source_set.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <tuple>

#include "core/sort_rows.h"
#include "spk/format/source_rows.h"

namespace stackpack::app {

namespace {

// Of two files with the same samples: what decides between them.
bool says_less(const MergedSource& a, const MergedSource& b) {
  const std::vector<spk::SourceRow> rows = spk::source_rows(std::vector{a, b});
  const auto rank = [](const spk::SourceRow& row) {
    return std::tie(row.functions, row.names_hash, row.fingerprint, row.kind, row.bytes, row.host,
                    row.command_line, row.samples, row.records, row.empty_chains,
                    row.stack_dump_only, row.unwound, row.callstacks, row.losses);
  };
  return rank(rows[0]) < rank(rows[1]);
}

}  // namespace

std::size_t SourceSet::add(std::uint32_t input, std::span<const MergedSource> sources) {
  std::size_t repeated = 0;
  for (std::uint32_t index = 0; index < sources.size(); ++index) {
    const MergedSource& source = sources[index];
    const auto [known, fresh] = by_id_.try_emplace(source.id, Chosen{source, input, index});
    repeated += fresh ? 0 : 1;
    if (!fresh && says_less(known->second.source, source)) {
      known->second = Chosen{source, input, index};
    }
  }
  return repeated;
}

void SourceSet::finish() {
  std::vector<Chosen> chosen;
  for (auto& [id, entry] : by_id_) {
    chosen.push_back(std::move(entry));
  }
  by_id_.clear();
  core::sort_rows(chosen, [](const Chosen& a, const Chosen& b) {
    return std::tie(a.source.start_ns, a.source.id) < std::tie(b.source.start_ns, b.source.id);
  });
  for (Chosen& entry : chosen) {
    ranks_.emplace(std::pair(entry.input, entry.index),
                   static_cast<std::uint32_t>(sources_.size()));
    sources_.push_back(std::move(entry.source));
  }
}

std::optional<std::uint32_t> SourceSet::rank(std::uint32_t input, std::uint32_t index) const {
  const auto found = ranks_.find({input, index});
  return found == ranks_.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t SourceClock::time(std::uint64_t time_ns) const {
  constexpr std::uint64_t kLast = kUnknownTime - 1;
  if (time_ns == kUnknownTime || !wall_offset_ns) {
    return time_ns;
  }
  const auto offset = static_cast<std::uint64_t>(*wall_offset_ns);
  if (*wall_offset_ns < 0) {
    const std::uint64_t back = std::uint64_t{0} - offset;
    return time_ns < back ? 0 : time_ns - back;
  }
  return time_ns > kLast - offset ? kLast : time_ns + offset;
}

std::string_view value_of(std::span<const MetadataEntry> metadata, std::string_view key) {
  const auto found = std::find_if(metadata.begin(), metadata.end(),
                                  [key](const MetadataEntry& entry) { return entry.key == key; });
  return found == metadata.end() ? std::string_view() : std::string_view(found->value);
}

SourceClock SourceClock::of(std::span<const MetadataEntry> metadata) {
  const std::string_view text = value_of(metadata, kWallOffsetKey);
  std::int64_t offset = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), offset);
  SourceClock clock;
  if (!text.empty() && failure == std::errc{} && rest == text.data() + text.size()) {
    clock.wall_offset_ns = offset;
  }
  return clock;
}

}  // namespace stackpack::app
