#include "io/this_machine.h"

// Captures of Windows are named by identities of images; nothing here has more to say.
namespace stackpack::io {

std::string host_name() {
  return {};
}

std::vector<std::byte> running_kernel_notes() {
  return {};
}

std::optional<std::int64_t> wall_offset_of_monotonic() {
  return std::nullopt;
}

std::uint64_t monotonic_now() {
  return 0;
}

bool is_of_root_or_us(int /*descriptor*/) {
  return false;
}

std::optional<std::int64_t> made_at(int /*descriptor*/) {
  return std::nullopt;
}

std::optional<std::uint32_t> pid_inside(std::uint32_t /*pid*/) {
  return std::nullopt;
}

}  // namespace stackpack::io
