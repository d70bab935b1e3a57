#include "capture/name_times.h"

#include <algorithm>
#include <tuple>

namespace stackpack::capture {

void NameTimes::add(Id id, std::uint64_t time_ns, std::string_view name) {
  if (id.first == kUnknownId) {
    return;
  }
  auto& names = names_[id];
  if (const auto known = names.find(name); known != names.end()) {
    known->second = std::min(known->second, time_ns);
  } else {
    names.emplace(name, time_ns);
  }
}

void NameTimes::tell(SystemRecorder& system) const {
  for (const auto& [id, names] : names_) {
    const auto first =
        std::min_element(names.begin(), names.end(), [](const auto& a, const auto& b) {
          return std::tie(a.second, a.first) < std::tie(b.second, b.first);
        });
    for (auto name = names.begin(); name != names.end(); ++name) {
      const std::uint64_t time = name == first ? kUnknownTime : name->second;
      if (id.second == kUnknownId) {
        // Another name is another entry of the table, as after an exec.
        system.process_named(id.first, time, name->first, name != first);
      } else {
        system.thread_named(id.first, id.second, time, name->first);
      }
    }
  }
}

}  // namespace stackpack::capture
