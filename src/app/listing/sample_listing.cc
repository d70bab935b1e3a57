#include "app/listing/sample_listing.h"

#include <algorithm>
#include <vector>

#include "app/listing/selected_samples.h"

namespace stackpack::app {

namespace {

constexpr std::size_t kSamplesAtOnce = 4096;

using Visit = std::function<Status(const StoredSample&, std::span<const Frame>)>;

// Decodes the distinct stacks of a few thousand samples in one go, then walks the samples. Pages
// are loaded once per group instead of once per sample.
class FrameGroup {
 public:
  explicit FrameGroup(const Reader& reader) : reader_(reader) {}

  Status visit(std::span<const StoredSample> samples, const Visit& visit) {
    const Status loaded = load(samples);
    if (!loaded) {
      return loaded;
    }
    for (const StoredSample& sample : samples) {
      const Status visited = visit(sample, frames_of(sample.stack));
      if (!visited) {
        return visited;
      }
    }
    return {};
  }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  Status load(std::span<const StoredSample> samples) {
    ids_.clear();
    for (const StoredSample& sample : samples) {
      if (sample.stack != kNoStack) {
        ids_.push_back(sample.stack);
      }
    }
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    ranges_.assign(ids_.size(), {});
    frames_.clear();
    return reader_.callstacks(ids_, [this](std::size_t position, std::span<const Frame> frames) {
      ranges_[position] = {frames_.size(), frames.size()};
      frames_.insert(frames_.end(), frames.begin(), frames.end());
      return true;
    });
  }

  [[nodiscard]] std::span<const Frame> frames_of(StackId stack) const {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), stack);
    if (found == ids_.end() || *found != stack) {
      return {};
    }
    const Range& range = ranges_[static_cast<std::size_t>(found - ids_.begin())];
    return std::span(frames_).subspan(range.begin, range.size);
  }

  const Reader& reader_;
  std::vector<StackId> ids_;
  std::vector<Range> ranges_;
  std::vector<Frame> frames_;
};

}  // namespace

Status visit_samples_with_frames(const Reader& reader, const SampleFilter& filter,
                                 const Visit& visit) {
  FrameGroup group(reader);
  std::vector<StoredSample> part;
  Status visited;
  if (filter.empty()) {
    const Status read = reader.samples({}, [&](std::span<const StoredSample> block) {
      while (!block.empty() && visited) {
        const auto some = block.first(std::min(block.size(), kSamplesAtOnce));
        visited = group.visit(some, visit);
        block = block.subspan(some.size());
      }
      return visited.has_value();
    });
    return read ? visited : read;
  }
  return visit_selected(reader, filter, [&](std::span<const query::SelectedSample> block) {
    part.assign(block.begin(), block.end());
    return group.visit(part, visit);
  });
}

}  // namespace stackpack::app
