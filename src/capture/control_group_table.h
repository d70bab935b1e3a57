#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stackpack/sample_fields.h"

namespace stackpack::capture {

/// The control groups of a capture, numbered as they turn up; in the file by path and id.
///
/// Memory: their paths, of a capture at most kMostPathBytes, and some 100 bytes each. Threads: one
/// at a time.
class ControlGroupTable {
 public:
  static constexpr std::size_t kMostOfCapture = std::size_t{1} << 16;
  static constexpr std::size_t kMostPathBytes = std::size_t{16} << 20;  ///< of a capture
  static constexpr std::size_t kMostOfFile = std::size_t{1} << 22;

  /// The number of the group with this id; nothing: it is one too many.
  std::optional<std::uint32_t> number_of(std::uint64_t id);

  /// The path of the group with this id; what came first stays. False: it is one group too many, or
  /// paths take more than kMostPathBytes.
  bool set_path(std::uint64_t id, std::string_view path);

  /// The number of a group of a file; groups of one id and different paths are different ones.
  /// Not together with the other two. Nothing: it is one too many.
  std::optional<std::uint32_t> number_of(const ControlGroup& group);

  /// Whether sorted() replaces user names in paths (redaction.h).
  void set_redaction(bool redacts) { redacts_ = redacts; }

  /// All of them as the file has them.
  struct Sorted {
    std::vector<ControlGroup> rows;      ///< by path, then id
    std::vector<std::uint32_t> numbers;  ///< of the file, by those that were given
  };
  [[nodiscard]] Sorted sorted() const;

 private:
  bool redacts_ = false;
  std::size_t path_bytes_ = 0;  // of set_path()
  std::vector<ControlGroup> rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_id_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint32_t> by_path_;
};

}  // namespace stackpack::capture
