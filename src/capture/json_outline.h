// The keys of a JSON text as far as its first bytes show them, in any order and with any white
// space: what formats of JSON are told apart by.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace stackpack::capture {

/// `{"meta": {"version": 3}, "threads": [{"name": "a"}]}` has the paths `meta`, `meta/version`,
/// `threads`, `threads[]/name`.
class JsonOutline {
 public:
  /// `head` must outlive the outline. Memory: the distinct paths.
  explicit JsonOutline(std::span<const std::byte> head);

  /// An object or array begins, and nothing in it breaks the grammar up to where `head` ends.
  [[nodiscard]] bool is_json() const { return is_json_; }

  /// The text ends within `head`.
  [[nodiscard]] bool is_whole() const { return is_whole_; }

  [[nodiscard]] bool has(std::string_view path) const { return paths_.find(path) != paths_.end(); }

  /// The text of the first string or number at that path, as it is written, without quotes.
  [[nodiscard]] std::string_view text_at(std::string_view path) const;

 private:
  class Scan;

  std::map<std::string, std::string_view, std::less<>> paths_;
  bool is_json_ = false;
  bool is_whole_ = false;
};

}  // namespace stackpack::capture
