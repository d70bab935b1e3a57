#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "query/selection/capture_view.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

/// The places in which addresses mean the same: a process in one epoch of its names. Processes that
/// nothing is known of share one, as those of a merged file do, whose images are everybody's.
class NamingPlaces {
 public:
  /// Both must outlive this.
  NamingPlaces(const query::CaptureView& view, const symbols::SymbolIndex& symbols);

  [[nodiscard]] const std::vector<symbols::MappingContext>& all() const { return places_; }
  [[nodiscard]] const symbols::SymbolIndex& symbols() const { return symbols_; }

  struct Found {
    std::uint32_t number = 0;
    std::uint64_t valid_until = 0;  ///< first time at which the answer may differ
  };
  /// The place of a sample, numbered when it is new.
  Found number(std::uint32_t pid, std::uint64_t time_ns);
  /// The same; nothing when it was never numbered.
  [[nodiscard]] std::optional<Found> find(std::uint32_t pid, std::uint64_t time_ns) const;

 private:
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;
  struct Keyed {
    Key key;
    std::uint64_t valid_until = 0;
  };
  [[nodiscard]] Keyed key_of(std::uint32_t pid, std::uint64_t time_ns) const;

  const symbols::SymbolIndex& symbols_;
  std::vector<std::uint32_t> known_pids_;  // of which something is known; ascending
  std::vector<symbols::MappingContext> places_;
  std::map<Key, std::uint32_t> numbers_;
};

/// The last place of each of a few hundred processes, so that few samples ask for theirs.
/// Threads: one at a time.
class PlaceCache {
 public:
  /// The number of a place, which `ask(pid, time)`, a NamingPlaces::Found, finds when it is not
  /// here.
  template <typename Ask>
  std::uint32_t number(std::uint32_t pid, std::uint64_t time_ns, const Ask& ask) {
    Entry& entry = entries_[pid % kEntries];
    if (entry.pid != pid || time_ns < entry.from_ns || time_ns >= entry.until_ns) {
      const NamingPlaces::Found found = ask(pid, time_ns);
      entry = {time_ns, found.valid_until, pid, found.number};
    }
    return entry.number;
  }

  /// The same for all of [from_ns, to_ns]; nothing when the place may change meanwhile.
  template <typename Ask>
  std::optional<std::uint32_t> number(std::uint32_t pid, std::uint64_t from_ns, std::uint64_t to_ns,
                                      const Ask& ask) {
    const std::uint32_t found = number(pid, from_ns, ask);
    return to_ns < entries_[pid % kEntries].until_ns ? std::optional(found) : std::nullopt;
  }

 private:
  static constexpr std::size_t kEntries = 512;
  struct Entry {
    std::uint64_t from_ns = 1;
    std::uint64_t until_ns = 0;
    std::uint32_t pid = 0;
    std::uint32_t number = 0;
  };
  std::array<Entry, kEntries> entries_{};
};

}  // namespace stackpack::app
