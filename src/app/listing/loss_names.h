#pragma once

#include <string>
#include <vector>

namespace stackpack::app {

/// The names of all loss counters that a .spk file of this version may have, sorted. A file has
/// those that were counted.
std::vector<std::string> loss_names();

/// The names of all reasons for which bytes of a capture may be passed over, sorted.
std::vector<std::string> skip_reason_names();

}  // namespace stackpack::app
