#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "capture/function_fact.h"
#include "stackpack/model.h"

namespace stackpack::capture {

struct SystemTables;

/// A FunctionFact whose texts are elsewhere.
struct FunctionRow {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t id = 0;
  std::uint64_t sequence = 0;     ///< in the order of the source
  std::uint64_t text_offset = 0;  ///< of name, linkage name, file and code, one after the other;
                                  ///< or of the name in its source
  std::uint32_t name_bytes = 0;
  std::uint32_t linkage_bytes = 0;
  std::uint32_t file_bytes = 0;
  std::uint32_t code_bytes = 0;  ///< see function_fact.h
  std::uint32_t line = 0;
  std::uint32_t pid_or_image = 0;
  FunctionOwner owner = FunctionOwner::kProcess;
  FunctionNews news = FunctionNews::kExists;
  FunctionSource source = FunctionSource::kUnknown;
  std::uint8_t name_source = 0;  ///< NamePlace::source
};

/// A function that all its facts were made one of.
struct FunctionLife {
  FunctionRow row;                       ///< its first fact
  std::uint64_t life_ns = kUnknownTime;  ///< start of the life of its process
  std::uint64_t born_ns = kUnknownTime;  ///< unknown: as early as that
  std::uint64_t died_ns = ~std::uint64_t{0};
};

/// Times for ordering: what is unknown was so before everything known.
constexpr std::uint64_t order_of_time(std::uint64_t time_ns) {
  return time_ns == kUnknownTime ? 0 : time_ns;
}

/// Works out when functions whose bytes overlap were born.
class FunctionLives {
 public:
  explicit FunctionLives(const SystemTables& tables);

  /// The functions of facts of one owner: by start, life, birth. The result is valid until the next
  /// call.
  std::span<const FunctionLife> of(std::span<const FunctionRow> facts);

 private:
  // Bytes up to `end`, and the function that has them.
  struct Holding {
    std::uint64_t end = 0;
    std::size_t function = 0;
    std::uint64_t gone_ns = 0;  // when the function before was
  };

  [[nodiscard]] std::uint64_t life_of(const FunctionRow& row) const;
  void collect(std::span<const FunctionRow> facts);
  void settle_births();
  std::uint64_t occupy(std::size_t function, std::uint64_t heard_ns);

  std::map<std::uint32_t, std::vector<std::uint64_t>> starts_;  // of processes, by pid
  std::vector<FunctionLife> functions_;
  std::map<std::uint64_t, Holding> holdings_;  // by their first byte
};

}  // namespace stackpack::capture
