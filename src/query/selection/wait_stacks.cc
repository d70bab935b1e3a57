#include "query/selection/wait_stacks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "bytes/utf8.h"
#include "capture/synthetic_frames.h"
#include "core/sort_rows.h"
#include "query/selection/file_name.h"

namespace stackpack::query {

namespace {

using capture::SyntheticFrames;

constexpr std::string_view kSuffix = " (READIED_BY)";

constexpr Error kTooManyStacks{
    ErrorCode::kUsage, kNoOffset,
    "more callstacks of waits and wakers than fit: --longer-than leaves short waits out"};

std::string hexadecimal_of(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

// Of code without a name as exports have it: where it is in its image.
std::string unnamed(const Frame& frame, const CodeLocation& location) {
  const std::uint64_t back = location.use == AddressUse::kReturn ? 1 : 0;
  return location.module == nullptr ? hexadecimal_of(frame.address - back)
                                    : std::string(file_name_of(*location.module)) + "+" +
                                          hexadecimal_of(location.offset - back);
}

}  // namespace

std::size_t WaitStacks::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = (std::uint64_t{key.stack} << 32 | key.waker_stack) * 0x9E37'79B9'7F4A'7C15U;
  hash ^= (hash >> 29) ^ (std::uint64_t{key.who} << 8 | key.waker);
  return static_cast<std::size_t>(hash * 0xD6E8'FEB8'6659'FD93U);
}

WaitStacks::WaitStacks(const Reader& reader, WaitDetail detail, const CaptureView& view)
    : reader_(reader), detail_(detail), first_(view.stack_count), threads_(view) {}

WaitStacks::Key WaitStacks::key_of(const WaitInterval& row) const {
  Key key{row.stack, kNoStack, 0, 0};
  if (detail_ == WaitDetail::kByReason) {
    key.who = row.reason;
    return key;
  }
  const bool hinted = (row.flags & kWaitHint) != 0;
  key.waker = hinted ? 0 : static_cast<std::uint32_t>(row.waker_kind);
  if (hinted || row.waker_kind != WakerKind::kThread) {
    return key;
  }
  key.waker_stack = detail_ == WaitDetail::kWakers ? row.waker_stack : kNoStack;
  const std::uint32_t thread = threads_.find(row.pid, row.waker, row.to_ns);
  const bool is_known = thread != WakerThreads::kNone;
  key.who = is_known ? thread : row.waker;
  key.waker = is_known ? key.waker : kUnnamed;
  return key;
}

bool WaitStacks::is_joint(const Key& key) const {
  return detail_ != WaitDetail::kWakers || key.waker != 0;
}

Status WaitStacks::note(const WaitInterval& row) {
  const Key key = key_of(row);
  if (!is_joint(key)) {
    return {};
  }
  const auto number = static_cast<std::uint32_t>(stacks_.size());
  if (numbers_.try_emplace(key, number).second) {
    if (stacks_.size() == kMostStacks || kNoStack - first_ <= kMostStacks) {
      return kTooManyStacks;
    }
    stacks_.push_back({key, row.to_ns, 0, 0, 0});
  }
  return {};
}

std::string WaitStacks::title_of(const Key& key, const std::vector<std::string>& reasons) const {
  if (detail_ == WaitDetail::kByReason) {
    const std::string& reason = reasons[key.who];
    return reason.empty() ? "[no reason]" : reason;
  }
  if (key.waker == kUnnamed) {
    return key.who == kUnknownId ? "[a thread that exits]" : std::to_string(key.who);
  }
  switch (static_cast<WakerKind>(key.waker)) {
    case WakerKind::kThread: {
      const WakerThreads::Row& thread = threads_[key.who];
      const std::string tid = std::to_string(thread.tid);
      return thread.name.empty() ? tid : thread.name + " (" + tid + ")";
    }
    case WakerKind::kInterrupt:
      return "[interrupt]";
    case WakerKind::kDeferred:
      return "[dpc]";
    case WakerKind::kNone:
      break;
  }
  return "[not recorded]";
}

std::uint32_t WaitStacks::pid_of(const Key& key) const {
  return key.waker == static_cast<std::uint32_t>(WakerKind::kThread) ? threads_[key.who].pid
                                                                     : kUnknownId;
}

Status WaitStacks::finish(const std::vector<std::string>& reasons, CaptureView& view) {
  for (JointStack& stack : stacks_) {
    const auto number = static_cast<std::uint32_t>(labels_.size());
    const auto [known, fresh] =
        label_numbers_.try_emplace(bytes::valid_utf8(title_of(stack.key, reasons)), number);
    if (fresh) {
      labels_.push_back(known->first);
    }
    stack.label = known->second;
  }
  if (detail_ == WaitDetail::kWakers) {
    if (const Status added = add_wakers(); !added) {
      return added;
    }
    add_names(view);
  }
  view.stack_count = stack_count();
  return {};
}

// Addresses from the end of the range, as an imported profile has its own from the beginning. The
// byte before each is nobody's, since callers are looked up there.
std::uint64_t WaitStacks::address_of(std::string_view text) {
  const std::uint64_t address =
      SyntheticFrames::kFirstAddress + SyntheticFrames::kMostNames - 1 - 2 * names_.size();
  const auto known = names_.find(text);
  return known != names_.end() ? known->second : names_.emplace(text, address).first->second;
}

void WaitStacks::add_frames(const Symbols& symbols, std::span<const Frame> frames,
                            JointStack& stack) {
  symbols.locate_stack(frames, pid_of(stack.key), stack.time_ns, locations_);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    inlined_.clear();
    symbols.expand(locations_[i], inlined_);
    if (inlined_.empty()) {
      frames_.push_back(
          {FrameMode::kUnknown, address_of(bytes::valid_utf8(unnamed(frames[i], locations_[i])) +
                                           std::string(kSuffix))});
    }
    for (const InlineFrame& part : inlined_) {
      frames_.push_back(
          {FrameMode::kUnknown, address_of(bytes::valid_utf8(part.name) + std::string(kSuffix))});
    }
  }
}

Status WaitStacks::add_wakers() {
  const Result<std::unique_ptr<const Symbols>> symbols = Symbols::load(reader_);
  if (!symbols) {
    return symbols.error();
  }
  std::vector<StackId> ids;
  std::vector<std::size_t> at;
  const auto end_stack = [this](JointStack& stack) {
    frames_.push_back({FrameMode::kUnknown, address_of("READIED BY " + labels_[stack.label])});
    stack.frames = frames_.size() - stack.first_frame;
  };
  for (std::size_t i = 0; i < stacks_.size(); ++i) {
    stacks_[i].first_frame = frames_.size();
    if (stacks_[i].key.waker_stack == kNoStack) {
      end_stack(stacks_[i]);
    } else {
      ids.push_back(stacks_[i].key.waker_stack);
      at.push_back(i);
    }
  }
  const Status read =
      reader_.callstacks(ids, [&](std::size_t position, std::span<const Frame> frames) {
        JointStack& stack = stacks_[at[position]];
        stack.first_frame = frames_.size();
        add_frames(**symbols, frames, stack);
        end_stack(stack);
        return frames_.size() <= kMostFrames;
      });
  if (read && (frames_.size() > kMostFrames || names_.size() > SyntheticFrames::kMostNames / 4)) {
    return kTooManyStacks;
  }
  return read;
}

void WaitStacks::add_names(CaptureView& view) const {
  std::vector<Function> functions;
  for (const auto& [text, address] : names_) {
    Function function;
    function.owner = FunctionOwner::kKernel;
    function.start = address;
    function.size = 1;
    function.name = static_cast<std::uint32_t>(view.names.texts.size());
    view.names.texts.add(text);
    functions.push_back(function);
  }
  core::sort_rows(functions,
                  [](const Function& a, const Function& b) { return a.start < b.start; });
  const auto place =
      std::find_if(view.names.functions.begin(), view.names.functions.end(), [](const Function& f) {
        return f.owner > FunctionOwner::kKernel ||
               (f.owner == FunctionOwner::kKernel &&
                f.start >= SyntheticFrames::kFirstAddress + SyntheticFrames::kMostNames);
      });
  view.names.functions.insert(place, functions.begin(), functions.end());
  view.metadata.push_back({std::string(kSyntheticFramesKey), "1"});
}

StackId WaitStacks::id_of(const WaitInterval& row) const {
  const auto found = numbers_.find(key_of(row));
  return found == numbers_.end() ? row.stack : first_ + found->second;
}

std::string_view WaitStacks::label_of(StackId stack) const {
  return stack < first_ || stack >= stack_count() ? std::string_view()
                                                  : labels_[stacks_[stack - first_].label];
}

Status WaitStacks::callstacks(
    std::span<const StackId> ids,
    const std::function<bool(std::size_t, std::span<const Frame>)>& visit) const {
  std::vector<StackId> recorded;
  std::vector<std::size_t> at;
  std::vector<Frame> joint;
  bool goes_on = true;
  const auto give = [&](std::size_t position, std::span<const Frame> frames) {
    const StackId id = ids[position];
    if (id < first_) {
      return goes_on = visit(position, frames);
    }
    const JointStack& stack = stacks_[id - first_];
    const auto waker = std::span(frames_).subspan(stack.first_frame, stack.frames);
    joint.assign(waker.begin(), waker.end());
    joint.insert(joint.end(), frames.begin(), frames.end());
    return goes_on = visit(position, joint);
  };
  for (std::size_t i = 0; i < ids.size() && goes_on; ++i) {
    const bool is_joint = ids[i] >= first_ && ids[i] < stack_count();
    const StackId stack = is_joint ? stacks_[ids[i] - first_].key.stack : ids[i];
    if (is_joint && stack == kNoStack) {
      give(i, {});
    } else {
      recorded.push_back(stack);
      at.push_back(i);
    }
  }
  return goes_on ? reader_.callstacks(recorded,
                                      [&](std::size_t position, std::span<const Frame> frames) {
                                        return give(at[position], frames);
                                      })
                 : Status{};
}

}  // namespace stackpack::query
