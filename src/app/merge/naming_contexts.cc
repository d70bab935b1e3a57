#include "app/merge/naming_contexts.h"

#include <algorithm>

namespace stackpack::app {

const FrameRebaser::Context& NamingContexts::find(std::uint32_t pid, std::uint64_t time_ns) {
  if (last_ != nullptr && last_->context.pid == pid && time_ns >= last_->from_ns &&
      time_ns < last_->until_ns) {
    return last_->context;
  }
  Latest& latest = latest_[pid];
  last_ = &latest;
  if (time_ns >= latest.from_ns && time_ns < latest.until_ns) {
    return latest.context;
  }
  const Symbols::Epoch user = symbols_.epoch(pid, time_ns);
  const Symbols::Epoch kernel = symbols_.epoch(kKernelPid, time_ns);
  latest.from_ns = time_ns;
  latest.until_ns = std::min(user.valid_until, kernel.valid_until);
  latest.context.pid = pid;
  latest.context.time_ns = time_ns;
  const auto number_of = [this, &latest](const Key& key) {
    const std::uint32_t number = numbers_.number(key);
    if (number == contexts_.size()) {
      contexts_.push_back(latest.context);
    }
    return number;
  };
  latest.context.kernel = number_of({kKernelPid, 0, kernel.number});
  latest.context.user = number_of({pid, user.number, kernel.number});
  if (kernel_in_processes_) {
    latest.context.kernel = latest.context.user;
  }
  contexts_[latest.context.user] = latest.context;
  return latest.context;
}

void NamingContexts::forget() {
  latest_.clear();
  last_ = nullptr;
  numbers_.clear();
  contexts_.clear();
}

}  // namespace stackpack::app
