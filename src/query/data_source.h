// What the number says that a processor gives of an access to memory: SampleField::kDataSource.
//
// Bits, from the lowest on: 5 of the operation, 14 of the level, 5 of snooping, 2 of the lock, 7 of
// the TLB, 4 of a level's number, 1 of another node, 2 more of snooping, 3 of what blocked it, 3 of
// hops. Source: linux/perf_event.h, union perf_mem_data_src.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stackpack::query {

/// One reading of such a number. Texts are those of `perf mem report` and `perf script`.
class DataSource {
 public:
  explicit DataSource(std::uint64_t number) : number_(number) {}

  [[nodiscard]] bool is_load() const;
  [[nodiscard]] bool is_store() const;
  /// The line was modified in the cache of another core.
  [[nodiscard]] bool hits_modified() const;
  /// The data came from another node.
  [[nodiscard]] bool is_remote() const;

  [[nodiscard]] std::string_view operation() const;  ///< LOAD, STORE, PFETCH, EXEC, N/A
  [[nodiscard]] std::string level() const;        ///< L1 hit, LFB or L2 hit, Remote RAM (1 hop) hit
  [[nodiscard]] std::string snoop() const;        ///< None, Hit, Miss, HitM, Fwd, N/A
  [[nodiscard]] std::string tlb() const;          ///< L1 or L2 hit
  [[nodiscard]] std::string_view locked() const;  ///< Yes, No, N/A
  [[nodiscard]] std::string blocked() const;      ///< Data, Addr, N/A

  /// All of them: `OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A`.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::uint64_t field(unsigned at, unsigned bits) const {
    return number_ >> at & ((std::uint64_t{1} << bits) - 1);
  }

  std::uint64_t number_;
};

}  // namespace stackpack::query
