#include "app/symbolize/caller_check.h"

#include <algorithm>
#include <array>
#include <optional>

#include "unwind/call_site.h"

namespace stackpack::app {

namespace {

constexpr std::uint16_t kX64 = 62;       // EM_X86_64
constexpr std::uint16_t kAarch64 = 183;  // EM_AARCH64

std::optional<unwind::Machine> machine_of(std::uint16_t elf_machine) {
  switch (elf_machine) {
    case kX64:
      return unwind::Machine::kX64;
    case kAarch64:
      return unwind::Machine::kAarch64;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool CallerCheck::speaks_against() const {
  constexpr std::size_t kFewest = 8;
  constexpr std::size_t kShare = 4;
  return looked_at >= kFewest && after_calls < looked_at / kShare;
}

CallerCheck check_callers(io::ByteSource& file, std::uint16_t machine,
                          std::span<const std::uint64_t> before_returns) {
  constexpr std::size_t kMost = 256;
  CallerCheck check;
  const std::optional<unwind::Machine> known = machine_of(machine);
  if (!known) {
    return check;
  }
  check.looked_at = std::min(kMost, before_returns.size());
  for (std::size_t i = 0; i < check.looked_at; ++i) {
    const std::uint64_t last = before_returns[i * before_returns.size() / check.looked_at];
    const auto length =
        static_cast<std::size_t>(std::min<std::uint64_t>(last, unwind::kMostCallBytes - 1)) + 1;
    std::array<std::byte, unwind::kMostCallBytes> code{};
    const std::span<std::byte> into = std::span(code).first(length);
    const Result<std::size_t> read = file.read_at(last + 1 - length, into);
    if (read && *read == length && unwind::ends_with_call(*known, into)) {
      ++check.after_calls;
    }
  }
  return check;
}

}  // namespace stackpack::app
