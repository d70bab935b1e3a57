#include "query/naming/stack_resolver.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace stackpack::query {

namespace {

constexpr std::size_t kCachedFrames = std::size_t{1} << 15;

}  // namespace

StackResolver::StackResolver(const SampleSelection& selection, LocationTable& locations,
                             StackTree& tree, bool folds_broken)
    : selection_(selection),
      locations_(locations),
      tree_(tree),
      cache_(kCachedFrames),
      folds_broken_(folds_broken) {
  if (folds_broken) {
    broken_.emplace(selection);
  }
}

std::uint32_t StackResolver::location_of(std::uint32_t context, const PlacedFrame& placed) {
  const Frame& frame = placed.frame;
  std::uint64_t hash = (frame.address ^ (std::uint64_t{context} << 40)) * 0x9E37'79B9'7F4A'7C15ULL;
  hash ^= static_cast<std::uint64_t>(frame.mode);
  CachedFrame& cached = cache_[(hash >> 32) & (kCachedFrames - 1)];
  if (cached.context != context || cached.placed != placed) {
    const MappingContext& mapping = selection_.contexts()[context];
    cached = {
        context,
        locations_.intern(mapping.pid, mapping.time_ns, frame, placed.use == AddressUse::kReturn),
        placed};
  }
  return cached.location;
}

// The node of all functions that a location stands for, below `node`.
Result<std::uint32_t> StackResolver::place_parts(std::uint32_t location, std::uint32_t node) {
  const auto parts =
      locations_.unfolds() ? locations_.parts(location) : std::span(&location, std::size_t{1});
  for (const std::uint32_t part : parts) {
    const Result<std::uint32_t> child = tree_.child(node, part);
    if (!child) {
      return child.error();
    }
    node = *child;
  }
  return node;
}

// What callstacks hang on whose outermost frames are left out.
Result<std::uint32_t> StackResolver::root_of(bool is_broken, std::uint32_t root) {
  return is_broken ? place_parts(locations_.name_alone(kBrokenRoot), root) : root;
}

Result<std::uint32_t> StackResolver::place(std::span<const Frame> leaf_first, std::uint32_t context,
                                           std::uint32_t root) {
  const MappingContext& mapping = selection_.contexts()[context];
  Status status;
  const std::size_t broken = broken_ ? broken_->count(leaf_first, context) : 0;
  if (is_broken_ != (broken != 0)) {
    is_broken_ = broken != 0;
    walk_.clear();
  }
  leaf_first = leaf_first.first(leaf_first.size() - broken);
  const Result<std::uint32_t> top = root_of(is_broken_, root);
  if (!top) {
    return top.error();
  }
  root = *top;
  const auto use_of = [&](std::size_t index) {
    return selection_.symbols().use_of(leaf_first, index, mapping.pid, mapping.time_ns);
  };
  const auto look_up = [&](const PlacedFrame& placed, std::size_t,
                           const std::uint32_t* caller) -> std::optional<std::uint32_t> {
    const Result<std::uint32_t> node =
        place_parts(location_of(context, placed), caller == nullptr ? root : *caller);
    if (!node) {
      status = node.error();
      return std::nullopt;
    }
    return *node;
  };
  if (!walk_.go_on(leaf_first, use_of, look_up)) {
    return status.error();
  }
  return leaf_first.empty() ? root : walk_.path().back().step;
}

void StackResolver::list_ids(std::span<const Request> requests,
                             std::span<const std::uint32_t> run) {
  ids_.clear();
  first_of_id_.clear();
  for (std::size_t i = 0; i < run.size(); ++i) {
    const StackId stack = requests[run[i]].stack;
    if (ids_.empty() || ids_.back() != stack) {
      ids_.push_back(stack);
      first_of_id_.push_back(i);
    }
  }
  first_of_id_.push_back(run.size());
}

bool StackResolver::is_shared() const {
  return selection_.view().parts && ids_.size() >= SharedPlacing::kManyStacks;
}

SharedPlacing& StackResolver::shared() {
  return shared_ ? *shared_ : shared_.emplace(selection_, folds_broken_);
}

// `run` is listed.
Status StackResolver::resolve_run(std::span<const Request> requests,
                                  std::span<const std::uint32_t> run,
                                  std::vector<std::uint32_t>& nodes) {
  walk_.clear();
  const Resolved resolved = [&](std::size_t position, std::uint32_t node) {
    for (std::size_t i = first_of_id_[position]; i < first_of_id_[position + 1]; ++i) {
      nodes[run[i]] = node;
    }
  };
  const Request& first = requests[run.front()];
  return is_shared() ? resolve_shared(first, resolved)
                     : resolve_ids(0, ids_.size(), first, resolved);
}

Status StackResolver::resolve_ids(std::size_t begin, std::size_t end, const Request& first,
                                  const Resolved& resolved) {
  Status status;
  const Status read = selection_.view().callstacks(
      std::span(ids_).subspan(begin, end - begin),
      [&](std::size_t position, std::span<const Frame> frames) {
        const Result<std::uint32_t> node = place(frames, first.context, first.root);
        if (!node) {
          status = node.error();
          return false;
        }
        resolved(begin + position, *node);
        return true;
      });
  return read ? status : read;
}

Status StackResolver::resolve_shared(const Request& first, const Resolved& resolved) {
  std::vector<std::uint32_t> path;  // nodes, root first
  return shared().each(
      ids_, first.context,
      [&](const PlacedFrame& placed) { return location_of(first.context, placed); },
      [&](const DivergingStack& stack) -> Status {
        Result<std::uint32_t> node = root_of(stack.is_broken, first.root);
        path.resize(stack.shared);
        node = node && !path.empty() ? path.back() : node;
        for (std::size_t i = 0; i < stack.frames.size() && node; ++i) {
          node = place_parts(stack.frames[i], *node);
          if (node) {
            path.push_back(*node);
          }
        }
        if (!node) {
          return node.error();
        }
        resolved(stack.position, *node);
        return {};
      },
      [&](std::size_t begin, std::size_t end) { return resolve_ids(begin, end, first, resolved); });
}

void StackResolver::put_in_order(std::span<const Request> requests) {
  order_.resize(requests.size());
  std::iota(order_.begin(), order_.end(), 0U);
  const auto place = [&](std::uint32_t index) {
    const Request& request = requests[index];
    return std::tuple(request.context, request.root, request.stack);
  };
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
}

// Requests without a callstack have the highest id: they follow the run, or are all there is.
std::span<const std::uint32_t> StackResolver::run_from(std::size_t begin,
                                                       std::span<const Request> requests) const {
  const Request& first = requests[order_[begin]];
  std::size_t end = begin;
  while (end < order_.size()) {
    const Request& request = requests[order_[end]];
    if (request.context != first.context || request.root != first.root ||
        request.stack == kNoStack) {
      break;
    }
    ++end;
  }
  return std::span(order_).subspan(begin, end - begin);
}

void StackResolver::begin(std::span<const Request> requests) {
  has_begun_ = false;
  if (requests.size() < SharedPlacing::kManyStacks) {
    return;
  }
  put_in_order(requests);
  list_ids(requests, run_from(0, requests));
  has_begun_ = is_shared();
  if (has_begun_) {
    shared().begin(ids_, requests[order_.front()].context);
  }
}

Status StackResolver::resolve(std::span<const Request> requests,
                              std::vector<std::uint32_t>& nodes) {
  nodes.assign(requests.size(), StackTree::kRoot);
  if (!has_begun_) {
    put_in_order(requests);
  }
  for (std::size_t at = 0; at < order_.size();) {
    const auto run = run_from(at, requests);
    if (run.empty()) {
      nodes[order_[at]] = requests[order_[at]].root;
      ++at;
      continue;
    }
    if (!std::exchange(has_begun_, false)) {
      list_ids(requests, run);
    }
    if (const Status status = resolve_run(requests, run, nodes); !status) {
      return status;
    }
    at += run.size();
  }
  return {};
}

}  // namespace stackpack::query
