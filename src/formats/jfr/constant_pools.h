#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/byte_cursor.h"
#include "core/number_table.h"
#include "formats/jfr/value_reader.h"
#include "stackpack/result.h"

namespace stackpack::jfr {

/// Values by their keys; the first of a key counts.
template <typename Value>
class Pool {
 public:
  /// Null: there is no such key.
  [[nodiscard]] const Value* find(std::uint64_t key) const {
    const std::uint32_t number = keys_.find(key);
    return number == keys_.kNone ? nullptr : &values_[number];
  }
  [[nodiscard]] std::uint32_t number_of(std::uint64_t key) const { return keys_.find(key); }
  [[nodiscard]] const Value& at(std::uint32_t number) const { return values_[number]; }
  void add(std::uint64_t key, Value value) {
    if (keys_.number(key) == values_.size()) {
      values_.push_back(std::move(value));
    }
  }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  void clear() {
    keys_.clear();
    values_.clear();
  }

 private:
  core::NumberTable<std::uint64_t> keys_;
  std::vector<Value> values_;
};

struct MethodRow {
  std::uint64_t type = 0;        ///< key in classes
  std::uint64_t name = 0;        ///< key in symbols
  std::uint64_t descriptor = 0;  ///< key in symbols
};

struct ThreadRow {
  std::string name;
  std::uint64_t os_id = 0;
  std::uint64_t java_id = 0;
};

/// A stack trace: a range of ConstantPools::frames().
struct TraceRow {
  std::size_t first = 0;
  std::uint32_t frames = 0;
  bool truncated = false;  ///< by the recorder
  bool cut = false;        ///< deeper than is kept
};

/// The constants of one chunk that callstacks and threads are made of.
class ConstantPools {
 public:
  /// Reads the checkpoint event whose payload begins at the cursor. Texts, traces and all are
  /// counted against `max_bytes`. False: it is damaged; what came before is kept. Errors: kLimit.
  ///
  /// Layout: long start, duration, distance to the checkpoint before; byte kind; int pools; pool:
  /// long type, int values, {long key, value}[].
  Result<bool> read(bytes::ByteCursor in, const EventTypes& types, const NumberCoding& coding,
                    std::uint64_t max_bytes);

  [[nodiscard]] const Pool<TraceRow>& traces() const { return traces_; }
  [[nodiscard]] const Pool<ThreadRow>& threads() const { return threads_; }
  [[nodiscard]] const Pool<MethodRow>& methods() const { return methods_; }
  [[nodiscard]] const std::vector<FrameRow>& frames() const { return frames_; }

  /// Texts; empty where there is no such key.
  [[nodiscard]] std::string_view class_name(std::uint64_t key) const;
  [[nodiscard]] std::string_view symbol(std::uint64_t key) const;
  [[nodiscard]] std::string_view thread_state(std::uint64_t key) const;
  /// That of a row, itself or a constant.
  [[nodiscard]] std::string_view text(const ValueRow& row, Slot slot) const;

  [[nodiscard]] bool empty() const { return bytes_ == 0; }

 private:
  enum class Kind : std::uint8_t;
  static Kind kind_of(std::string_view type);
  void add(Kind kind, std::uint64_t key, const ValueRow& row, bool cut);
  [[nodiscard]] static std::string_view text_in(const Pool<std::string>& pool, std::uint64_t key);

  Pool<TraceRow> traces_;
  Pool<ThreadRow> threads_;
  Pool<MethodRow> methods_;
  Pool<std::uint64_t> classes_;  // keys in symbols
  Pool<std::string> symbols_;
  Pool<std::string> texts_;
  Pool<std::string> thread_states_;
  std::vector<FrameRow> frames_;
  std::uint64_t bytes_ = 0;
};

}  // namespace stackpack::jfr
