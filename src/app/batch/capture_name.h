#pragma once

#include <string_view>

namespace stackpack::app {

/// Whether a file of this name (without its folder) claims to be a capture: `*.perf.data`,
/// `perf.data*`, `*.etl`, `*.etl.zip`, `*.diagsession`, in any spelling of upper and lower case,
/// and perf data and traces with `.gz`, `.xz` or `.zst` at the end.
bool is_capture_name(std::string_view name);

}  // namespace stackpack::app
