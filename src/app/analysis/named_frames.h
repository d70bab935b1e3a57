#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/symbols.h"

namespace stackpack::app {

/// An address that samples of a process have, and that has a name.
struct NamedFrame {
  std::uint32_t pid = kUnknownId;  ///< unknown: an address of the kernel
  Frame frame;
  CodeLocation location;
};

/// Visits each (pid, address, name) once, by pid, then address.
/// Memory: proportional to the distinct (pid, address).
Status visit_named_frames(const Reader& reader,
                          const std::function<Status(const NamedFrame&)>& visit);

}  // namespace stackpack::app
