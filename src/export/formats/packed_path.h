#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query/naming/stack_tree.h"
#include "query/naming/tree_path.h"

namespace stackpack::exporting {

/// The location ids of callstacks, leaf first, as protobuf packs them: varints in a row. An id is
/// the number of the location and 1.
///
/// Of a callstack what it does not share with the one before it is written. As the shared part, on
/// the side of the root, comes last, bytes grow from the end of the buffer towards its begin.
class PackedPath {
 public:
  explicit PackedPath(const query::StackTree& tree) : tree_(tree), path_(tree) {}

  /// Valid until the next call.
  std::string_view of(std::uint32_t node) {
    const std::size_t shared = path_.go_to(node);
    sizes_.resize(shared);
    std::size_t size = sizes_.empty() ? 0 : sizes_.back();
    for (const std::uint32_t fresh : path_.nodes().subspan(shared)) {
      size = put(std::uint64_t{tree_.location(fresh)} + 1, size);
      sizes_.push_back(size);
    }
    return std::string_view(buffer_).substr(buffer_.size() - size);
  }

 private:
  static constexpr std::size_t kMostBytes = 10;  // of a varint

  // Before the `size` bytes at the end. Result: how many there are then.
  std::size_t put(std::uint64_t value, std::size_t size) {
    char varint[kMostBytes];
    std::size_t bytes = 0;
    for (; value >= 0x80; value >>= 7) {
      varint[bytes++] = static_cast<char>(value | 0x80);
    }
    varint[bytes++] = static_cast<char>(value);
    if (buffer_.size() - size < bytes) {
      buffer_.insert(0, std::max(buffer_.size(), kMostBytes), '\0');
    }
    std::copy_n(varint, bytes, buffer_.end() - static_cast<std::ptrdiff_t>(size + bytes));
    return size + bytes;
  }

  const query::StackTree& tree_;
  query::TreePath path_;
  std::vector<std::size_t> sizes_;  // of what there is up to each node of the path, root first
  std::string buffer_;
};

}  // namespace stackpack::exporting
