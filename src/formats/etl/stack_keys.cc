#include "formats/etl/stack_keys.h"

namespace stackpack::etl {

StackPart StackKeys::new_part() {
  if (free_.empty()) {
    parts_.emplace_back();
    return static_cast<StackPart>(parts_.size() - 1);
  }
  const StackPart part = free_.back();
  free_.pop_back();
  return part;
}

StackPart StackKeys::refer(KeySpace space, std::uint64_t key) {
  OpenKeys& open = open_[static_cast<std::size_t>(space)];
  const auto found = open.find(key);
  if (found != open.end()) {
    Part& part = parts_[found->second];
    ++part.uses;
    ++part.references;
    return found->second;
  }
  if (open.size() >= kMaxOpen) {
    ++refused_;
    return kNoPart;
  }
  const StackPart fresh = new_part();
  // An open generation is itself a use: later references must find it, whatever became of the
  // earlier ones.
  parts_[fresh].uses = 2;
  parts_[fresh].references = 1;
  open.emplace(key, fresh);
  return fresh;
}

StackPart StackKeys::hold(std::span<const std::uint64_t> frames) {
  const StackPart fresh = new_part();
  Part& part = parts_[fresh];
  part.frames.assign(frames.begin(), frames.end());
  part.uses = 1;
  part.defined = true;
  return fresh;
}

StackPart StackKeys::define(KeySpace space, std::uint64_t key,
                            std::span<const std::uint64_t> frames) {
  OpenKeys& open = open_[static_cast<std::size_t>(space)];
  const auto found = open.find(key);
  if (found == open.end()) {
    return kNoPart;
  }
  const StackPart number = found->second;
  open.erase(found);
  Part& part = parts_[number];
  part.frames.assign(frames.begin(), frames.end());
  part.defined = true;
  part.references = 0;
  return number;  // with the use that the open generation had
}

void StackKeys::release(StackPart number) {
  if (number == kNoPart) {
    return;
  }
  Part& part = parts_[number];
  if (--part.uses == 0) {
    part.frames.clear();
    part.defined = false;
    part.references = 0;
    free_.push_back(number);
  }
}

std::uint64_t StackKeys::undefined_references() const {
  std::uint64_t count = refused_;
  for (const OpenKeys& open : open_) {
    for (const auto& [key, part] : open) {
      count += parts_[part].references;
    }
  }
  return count;
}

}  // namespace stackpack::etl
