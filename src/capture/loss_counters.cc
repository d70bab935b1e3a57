#include "capture/loss_counters.h"

namespace stackpack::capture {

namespace {

LossCounter& find_or_make(std::map<std::string, LossCounter, std::less<>>& counters,
                          std::string_view name, LossKind kind) {
  auto found = counters.find(name);
  if (found == counters.end()) {
    LossCounter fresh;
    fresh.name = std::string(name);
    fresh.kind = kind;
    found = counters.emplace(fresh.name, fresh).first;
  }
  return found->second;
}

}  // namespace

void LossCounters::add(std::string_view name, LossKind kind, std::uint64_t count,
                       std::uint64_t offset) {
  LossCounter& counter = find_or_make(counters_, name, kind);
  if (count != 0 && (counter.count == 0 || offset < counter.first_offset)) {
    counter.first_offset = offset;
  }
  counter.count += count;
}

void LossCounters::set(std::string_view name, LossKind kind, std::uint64_t count,
                       std::uint64_t offset) {
  LossCounter& counter = find_or_make(counters_, name, kind);
  counter.count = count;
  counter.first_offset = count == 0 ? kUnknownTime : offset;
}

std::uint64_t LossCounters::count(std::string_view name) const {
  const auto found = counters_.find(name);
  return found == counters_.end() ? 0 : found->second.count;
}

bool LossCounters::any_loss() const {
  for (const auto& [name, counter] : counters_) {
    if (counter.kind != LossKind::kNotice && counter.count != 0) {
      return true;
    }
  }
  return false;
}

std::vector<LossCounter> LossCounters::sorted() const {
  std::vector<LossCounter> result;
  result.reserve(counters_.size());
  for (const auto& [name, counter] : counters_) {
    result.push_back(counter);
  }
  return result;
}

}  // namespace stackpack::capture
