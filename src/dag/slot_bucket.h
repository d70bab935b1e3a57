#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stackpack::dag {

/// Slots that are looked at together: a cache line of them.
inline constexpr std::size_t kBucketSlots = 16;

#ifdef __SSE2__

/// Which of the slots at `bucket` (aligned to a line) are `wanted` in the bits of `mask`: bit i for
/// slot i.
inline std::uint32_t equal_slots(const std::uint32_t* bucket, std::uint32_t wanted,
                                 std::uint32_t mask) {
  const auto* const lines = static_cast<const __m128i*>(static_cast<const void*>(bucket));
  const __m128i wanted4 = _mm_set1_epi32(static_cast<int>(wanted));
  const __m128i mask4 = _mm_set1_epi32(static_cast<int>(mask));
  const auto equal4 = [&](std::size_t i) {
    return _mm_cmpeq_epi32(_mm_and_si128(_mm_load_si128(lines + i), mask4), wanted4);
  };
  const __m128i low = _mm_packs_epi32(equal4(0), equal4(1));
  const __m128i high = _mm_packs_epi32(equal4(2), equal4(3));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}

#else

inline std::uint32_t equal_slots(const std::uint32_t* bucket, std::uint32_t wanted,
                                 std::uint32_t mask) {
  std::uint32_t equal = 0;
  for (std::size_t i = 0; i < kBucketSlots; ++i) {
    equal |= ((bucket[i] & mask) == wanted ? 1U : 0U) << i;
  }
  return equal;
}

#endif

}  // namespace stackpack::dag
