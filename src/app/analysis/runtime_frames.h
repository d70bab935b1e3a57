// Frames of runtimes that lie between an event and the program's own code.
#pragma once

#include <cstdint>
#include <string_view>

namespace stackpack::app {

enum class RuntimeFrames : std::uint8_t {
  kNone,
  kDispatch,  ///< of an exception, from where it is thrown
  kWaiting,   ///< what threads wait in
};

/// Whether a function, by its name, is one of those.
bool is_runtime_frame(RuntimeFrames kind, std::string_view name);

}  // namespace stackpack::app
