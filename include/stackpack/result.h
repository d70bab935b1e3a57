// Error values for everything that can fail on account of the input, the disk or the caller.
//
// Result<T> offers the part of std::expected<T, Error> (C++23) which the project uses, under the
// same member names, so that it can become an alias once the compilers we support have it.
#pragma once

#include <cassert>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace stackpack {

enum class ErrorCode : std::uint8_t {
  kIo,           ///< the operating system refused to open, read, write, sync or rename
  kNotFound,     ///< the named input does not exist
  kTruncated,    ///< the input ended inside a structure
  kCorrupt,      ///< a field contradicts the format or another field
  kUnsupported,  ///< valid input which this version does not read
  kLimit,        ///< a configured limit (memory, depth, size) would be passed
  kUsage,        ///< the caller asked for something that makes no sense
  kCancelled,    ///< the caller asked to stop
  kResource,     ///< this machine ran out of memory or threads; the input may be good
  kInternal,     ///< a mistake of this library
};

/// Offset of an Error which is not tied to a place in a file.
inline constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

/// Part of an Error which happened in the file that the user named.
inline constexpr std::uint32_t kMainPart = ~std::uint32_t{0};

/// Part of an Error which happened to the output, not to the input.
inline constexpr std::uint32_t kOutputPart = kMainPart - 1;

/// Why an operation failed, and where in the file.
struct Error {
  ErrorCode code = ErrorCode::kCorrupt;
  std::uint64_t offset = kNoOffset;  ///< byte offset in the file at which the problem was noticed
  std::string_view what;             ///< static text: structure and cause, e.g. "perf: SAMPLE: ..."
  int os_error = 0;                  ///< errno, when the operating system gave one
  std::uint32_t part = kMainPart;    ///< N: in `data.N` of a perf directory; or kOutputPart
};

/// The error as one line for a person: `data.3: offset 4096: perf: SAMPLE: ... (No such file or
/// directory)`, as far as known. It does not name the file, and is not escaped.
[[nodiscard]] std::string message(const Error& error);

namespace detail {

/// What a Result holds. A union rather than a std::variant, which takes longer to compile; copied
/// as bytes where a value may be.
template <typename T, bool kIsBytes = std::is_trivially_copyable_v<T>>
struct ResultState {
  explicit ResultState(T given) : value(std::move(given)) {}
  explicit ResultState(const Error& given) : error(given), failed(true) {}

  union {
    T value;
    Error error;
  };
  bool failed = false;
};

template <typename T>
struct ResultState<T, false> {
  explicit ResultState(T given) : value(std::move(given)) {}
  explicit ResultState(const Error& given) : error(given), failed(true) {}
  ResultState(ResultState&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : failed(other.failed) {
    take(std::move(other));
  }
  ResultState(const ResultState& other) requires std::is_copy_constructible_v<T>
      : failed(other.failed) {
    take(other);
  }
  ResultState& operator=(ResultState other) noexcept {
    static_assert(std::is_nothrow_move_constructible_v<T>, "a half-made value would be left");
    this->~ResultState();
    failed = other.failed;
    take(std::move(other));
    return *this;
  }
  ~ResultState() {
    if (!failed) {
      value.~T();
    }
  }

  // Begins the life of the side that `other` has.
  template <typename Other>
  void take(Other&& other) {
    if (failed) {
      new (&error) Error(other.error);
    } else {
      new (&value) T(std::forward<Other>(other).value);
    }
  }

  union {
    T value;
    Error error;
  };
  bool failed = false;
};

}  // namespace detail

/// Either a value or an Error. Reading the wrong side is a programming error (assert). Owns the
/// value; as thread-safe as that is. An Error holds no memory, so passing one on cannot fail.
/// Moved from, it is still what it was, with a value that is moved from.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::move(value)) {}  // NOLINT(google-explicit-constructor): implicit on purpose
  Result(Error error)
      : state_(error) {}  // NOLINT(google-explicit-constructor): implicit on purpose

  [[nodiscard]] bool has_value() const { return !state_.failed; }
  explicit operator bool() const { return has_value(); }

  /// The value; of a temporary it is moved out. Not of a failure.
  T& value() & {
    assert(has_value());
    return state_.value;
  }
  const T& value() const& {
    assert(has_value());
    return state_.value;
  }
  T&& value() && {
    assert(has_value());
    return std::move(state_.value);
  }
  // As value().
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Why there is no value. Not of a success.
  [[nodiscard]] const Error& error() const {
    assert(!has_value());
    return state_.error;
  }

 private:
  detail::ResultState<T> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error)  // NOLINT(google-explicit-constructor): implicit on purpose
      : error_(error), failed_(true) {}

  [[nodiscard]] bool has_value() const { return !failed_; }
  explicit operator bool() const { return !failed_; }
  /// Not of a success.
  [[nodiscard]] const Error& error() const {
    assert(failed_);
    return error_;
  }

 private:
  Error error_{};
  bool failed_ = false;
};

/// What a call returns that has nothing to give but may fail.
using Status = Result<void>;

}  // namespace stackpack
