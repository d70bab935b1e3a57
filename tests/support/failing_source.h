// Sources and sinks that fail on demand.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "io/byte_source.h"
#include "support/collecting_sink.h"

namespace stackpack::test {

/// Bytes in memory whose read number `fail_at`, counted from 0, is an I/O error, as are all later
/// ones. Reads give at most `step` bytes when the source is a pipe.
class FailingSource final : public io::ByteSource {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  FailingSource(std::span<const std::byte> bytes, std::uint64_t fail_at, bool seekable = true,
                std::size_t step = ~std::size_t{0})
      : memory_(io::source_of_memory(bytes)), fail_at_(fail_at), seekable_(seekable), step_(step) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    return fails() ? injected() : memory_->read(into.first(std::min(into.size(), step_)));
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    if (!seekable_) {
      return Error{ErrorCode::kUnsupported, offset, "not seekable"};
    }
    return fails() ? injected() : memory_->read_at(offset, into);
  }
  [[nodiscard]] bool seekable() const override { return seekable_; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override {
    return seekable_ ? memory_->size() : std::nullopt;
  }

  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  bool fails() { return reads_++ >= fail_at_; }
  static Result<std::size_t> injected() {
    return Error{ErrorCode::kIo, kNoOffset, "injected", EIO};
  }

  std::unique_ptr<io::ByteSource> memory_;
  std::uint64_t fail_at_;
  bool seekable_;
  std::size_t step_;
  std::uint64_t reads_ = 0;
};

/// A sink whose call number `fail_at` of those that may fail is refused, as are all later ones.
class FailingSink final : public capture::CallstackSink {
 public:
  explicit FailingSink(std::uint64_t fail_at) : fail_at_(fail_at) {}

  std::uint32_t add_event(const Event& event) override { return into_.add_event(event); }
  void rename_event(std::uint32_t index, std::string_view name) override {
    into_.rename_event(index, name);
  }
  using capture::CallstackSink::add_sample;
  Status add_sample(const Sample& sample, const capture::StackView& stack,
                    capture::StackMemo /*memo*/) override {
    return fails() ? injected() : into_.add_sample(sample, stack);
  }
  capture::PendingStack open_pending() override { return into_.open_pending(); }
  Status add_pending_sample(const Sample& sample, capture::PendingStack pending,
                            const capture::StackView& fallback) override {
    return fails() ? injected() : into_.add_pending_sample(sample, pending, fallback);
  }
  Status resolve_pending(capture::PendingStack pending, const capture::StackView& stack) override {
    return fails() ? injected() : into_.resolve_pending(pending, stack);
  }
  capture::SystemRecorder& system() override { return into_.system(); }
  capture::LossCounters& losses() override { return into_.losses(); }

  [[nodiscard]] std::uint64_t calls() const { return calls_; }

 private:
  bool fails() { return calls_++ >= fail_at_; }
  static Status injected() { return Error{ErrorCode::kLimit, 4711, "the sink is full"}; }

  CollectingSink into_;
  std::uint64_t fail_at_;
  std::uint64_t calls_ = 0;
};

}  // namespace stackpack::test
