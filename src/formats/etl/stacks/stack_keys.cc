#include "formats/etl/stacks/stack_keys.h"

namespace stackpack::etl {

StackPart StackKeys::refer(KeySpace space, std::uint64_t key) {
  ++undefined_references_;
  OpenKey open{key, kNoPart, static_cast<std::uint32_t>(space)};
  if (const StackPart known = open_.find(open).part; known != kNoPart) {
    parts_.change(known, [](Part& part) {
      ++part.uses;
      ++part.references;
    });
    return known;
  }
  // An open generation is itself a use: later references must find it, whatever became of the
  // earlier ones.
  Part fresh;
  fresh.uses = 2;
  fresh.references = 1;
  open.part = parts_.add(fresh);
  open_.put(open);
  return open.part;
}

void StackKeys::give_frames(Part& part, std::span<const std::uint64_t> frames) {
  part.frame_count = static_cast<std::uint32_t>(frames.size());
  part.defined = 1;
  if (frames.size() > kMostPooledFrames || (free_in_pool_.empty() && pool_.size() == kMostPooled)) {
    part.frames = frames_.add(std::as_bytes(frames));
    return;
  }
  if (free_in_pool_.empty()) {
    pool_.emplace_back();
    free_in_pool_.push_back(pool_.size());
  }
  part.pooled = free_in_pool_.back();
  free_in_pool_.pop_back();
  pool_[part.pooled - 1].assign(frames.begin(), frames.end());
}

void StackKeys::forget_frames(const Part& part) {
  if (part.pooled != 0) {
    free_in_pool_.push_back(part.pooled);
  } else {
    frames_.remove(part.frames);
  }
}

StackPart StackKeys::hold(std::span<const std::uint64_t> frames) {
  Part part;
  part.uses = 1;
  give_frames(part, frames);
  return parts_.add(part);
}

StackPart StackKeys::define(KeySpace space, std::uint64_t key,
                            std::span<const std::uint64_t> frames) {
  const OpenKey open = open_.take({key, kNoPart, static_cast<std::uint32_t>(space)});
  if (!open.used()) {
    return kNoPart;
  }
  Part part = parts_.get(open.part);
  undefined_references_ -= part.references;
  part.references = 0;
  give_frames(part, frames);
  parts_.set(open.part, part);
  return open.part;  // with the use that the open generation had
}

void StackKeys::add_use(StackPart number) {
  parts_.change(number, [](Part& part) { ++part.uses; });
}

void StackKeys::release(StackPart number) {
  if (number == kNoPart) {
    return;
  }
  Part part = parts_.get(number);
  if (--part.uses != 0) {
    parts_.set(number, part);
    return;
  }
  forget_frames(part);
  parts_.remove(number);
}

void StackKeys::append_frames(StackPart number, std::vector<std::uint64_t>& frames) const {
  const Part part = parts_.get(number);
  if (part.pooled != 0) {
    const std::vector<std::uint64_t>& pooled = pool_[part.pooled - 1];
    frames.insert(frames.end(), pooled.begin(), pooled.end());
    return;
  }
  const std::size_t before = frames.size();
  frames.resize(before + part.frame_count);
  frames_.read(part.frames, std::as_writable_bytes(std::span(frames).subspan(before)));
}

}  // namespace stackpack::etl
