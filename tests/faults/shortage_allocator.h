// Memory and threads that run out at a chosen moment, for the whole program that links
// shortage_allocator.cc: the C library's allocator included, so that other libraries see it, too.
#pragma once

#include <cstdint>

namespace stackpack::test {

enum class Shortage : std::uint8_t { kMemory, kThreads };

/// From now on the request number `nth` (from 1 on) for memory or a thread is refused, and, when
/// `stays`, all later ones. `nth` 0: none, they are counted only.
void begin_shortage(Shortage what, std::uint64_t nth, bool stays);

/// Everything is granted again. Result: how many requests there were.
std::uint64_t end_shortage();

}  // namespace stackpack::test
