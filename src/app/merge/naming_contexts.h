#pragma once

#include <cstdint>
#include <unordered_map>

#include "app/merge/frame_rebaser.h"
#include "core/number_table.h"
#include "stackpack/symbols.h"
#include "symbols/symbol_index.h"

namespace stackpack::app {

/// Numbers the contexts of one input in which addresses mean the same.
class NamingContexts {
 public:
  explicit NamingContexts(const Symbols& symbols)
      : symbols_(symbols),
        kernel_in_processes_(symbols::has_kernel_in_processes(symbols.names())) {}

  /// That of a process at a time. The reference is valid until the next call.
  const FrameRebaser::Context& find(std::uint32_t pid, std::uint64_t time_ns);

  /// The first context that had the number of a user epoch.
  [[nodiscard]] const FrameRebaser::Context& of_user(std::uint32_t user) const {
    return contexts_[user];
  }

  /// Begins anew: numbers are used again.
  void forget();

 private:
  struct Latest {
    FrameRebaser::Context context;
    std::uint64_t from_ns = 0;
    std::uint64_t until_ns = 0;  // first time of the next one
  };
  struct Key {
    std::uint32_t pid = kUnknownId;
    std::uint64_t user_epoch = 0;
    std::uint64_t kernel_epoch = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashKey {
    std::uint64_t operator()(const Key& key) const {
      return core::spread_bits(core::spread_bits(key.user_epoch ^ (std::uint64_t{key.pid} << 32)) ^
                               key.kernel_epoch);
    }
  };

  const Symbols& symbols_;
  bool kernel_in_processes_;  // so that names of its addresses are not the same in all of them
  std::unordered_map<std::uint32_t, Latest> latest_;  // by pid
  const Latest* last_ = nullptr;                      // that of the last call
  core::NumberTable<Key, HashKey> numbers_;
  std::vector<FrameRebaser::Context> contexts_;  // by number
};

}  // namespace stackpack::app
