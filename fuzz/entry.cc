#include <cstddef>
#include <cstdint>
#include <span>

namespace stackpack::fuzz {
void STACKPACK_FUZZ_BODY(std::span<const std::byte> data);
}  // namespace stackpack::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stackpack::fuzz::STACKPACK_FUZZ_BODY(std::as_bytes(std::span(data, size)));
  return 0;
}
