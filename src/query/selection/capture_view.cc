#include "query/selection/capture_view.h"

#include "capture/time_resolution.h"

namespace stackpack::query {

std::string_view CaptureView::fact(std::string_view key) const {
  for (const MetadataEntry& entry : metadata) {
    if (entry.key == key) {
      return entry.value;
    }
  }
  return {};
}

symbols::SymbolIndex::Facts CaptureView::address_facts() const {
  return {fact(kSyntheticFramesKey) == "1", has_return_addresses(), unwound,
          source_kind != "nettrace"};
}

std::string control_group_title(const ControlGroup& group) {
  return group.path.empty() ? "cgroup " + std::to_string(group.id) : group.path;
}

bool CaptureView::aggregated() const {
  return fact(kAggregatedKey) == "1";
}

bool CaptureView::has_times() const {
  return has_samples && !capture::has_no_times(metadata);
}

}  // namespace stackpack::query
