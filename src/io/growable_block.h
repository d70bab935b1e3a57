#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace stackpack::io {

/// A block of zeroed memory that grows without copying: the system moves its pages.
///
/// For the few arrays that reach hundreds of megabytes. Large blocks lie on huge-page borders and
/// huge pages are advised for them. Memory is taken when it is first touched, not when it is
/// reserved, so that a generous reserve() costs address space alone.
class GrowableBlock {
 public:
  GrowableBlock() = default;
  GrowableBlock(const GrowableBlock&) = delete;
  GrowableBlock& operator=(const GrowableBlock&) = delete;
  GrowableBlock(GrowableBlock&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  GrowableBlock& operator=(GrowableBlock&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    other.release();
    return *this;
  }
  ~GrowableBlock() { release(); }

  /// Makes at least `bytes` usable. The content stays, new bytes are zero; the address may change.
  /// Result: false when the system gives no more; the block is as it was then.
  [[nodiscard]] bool reserve(std::uint64_t bytes);

  /// Gives back the memory after the first `bytes`.
  void truncate(std::uint64_t bytes);

  /// Gives everything back.
  void release();

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }

 private:
  void* data_ = nullptr;
  std::uint64_t capacity_ = 0;
};

/// A GrowableBlock seen as an array. It knows a capacity, not how many elements are in use.
template <typename T>
class GrowableArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  [[nodiscard]] bool reserve(std::uint64_t count) {
    return count <= ~std::uint64_t{0} / sizeof(T) && block_.reserve(count * sizeof(T));
  }
  void truncate(std::uint64_t count) { block_.truncate(count * sizeof(T)); }
  void release() { block_.release(); }

  [[nodiscard]] T* data() { return static_cast<T*>(block_.data()); }
  [[nodiscard]] const T* data() const { return static_cast<const T*>(block_.data()); }
  [[nodiscard]] std::uint64_t capacity() const { return block_.capacity() / sizeof(T); }
  T& operator[](std::uint64_t index) { return data()[index]; }
  const T& operator[](std::uint64_t index) const { return data()[index]; }

 private:
  GrowableBlock block_;
};

}  // namespace stackpack::io
