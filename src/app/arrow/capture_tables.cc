#include "app/arrow/capture_tables.h"

#include <charconv>
#include <string>
#include <utility>

#include "app/arrow/callstack_walk.h"
#include "app/merge/merge_input.h"
#include "bytes/utf8.h"
#include "capture/source_identity.h"

namespace stackpack::app {

namespace {

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole =
      !text.empty() && parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

Result<MergedSource> source_of(const Reader& reader, const query::CaptureView& view) {
  const Statistics& statistics = reader.statistics();
  MergedSource source;
  source.kind = view.source_kind;
  source.fingerprint = reader.fingerprint();
  source.id = capture::identity_of(view.metadata).value_or(MergedSource::Hash{});
  source.functions = view.names.functions.size();
  source.host = view.fact("host.name");
  source.command_line = view.fact("command_line");
  source.wall_offset_ns = number_in(view.fact(query::kWallOffsetKey));
  take_figures(source, statistics);
  const auto range = reader.time_range();
  if (!range) {
    return range.error();
  }
  if (*range) {
    // As in a merged file: wall time where it is known.
    source.start_ns =
        (*range)->from_ns + static_cast<std::uint64_t>(source.wall_offset_ns.value_or(0));
  }
  return source;
}

void make_texts_valid(MergedSource& source) {
  for (std::string* const text :
       {&source.kind, &source.fingerprint, &source.host, &source.command_line}) {
    *text = bytes::valid_utf8(*text);
  }
}

}  // namespace

Status CaptureTables::load_view() {
  if (view_ && symbols_) {
    return {};
  }
  auto view = query::view_of(*reader_);
  if (!view) {
    return view.error();
  }
  view_ = std::move(*view);
  symbols_ = std::make_unique<symbols::SymbolIndex>(view_->processes, view_->modules, view_->names,
                                                    view_->address_facts());
  return {};
}

Status CaptureTables::load_stacks() {
  const Status loaded = load_view();
  if (!loaded || stacks_) {
    return loaded;
  }
  auto stacks = std::make_unique<CallstackNumbers>(*view_, *symbols_);
  const Status built = stacks->build(*reader_, *view_);
  if (built) {
    stacks_ = std::move(stacks);
  }
  return built;
}

Status CaptureTables::load_frames() {
  const Status loaded = load_stacks();
  if (!loaded || frames_) {
    return loaded;
  }
  auto frames = std::make_unique<FrameRows>(*view_, *symbols_);
  CallstackWalk walk(*reader_, *stacks_,
                     [&frames](const symbols::MappingContext& place, const Frame& frame,
                               AddressUse use, std::vector<std::uint32_t>& numbers) {
                       frames->add(place, frame, use, numbers);
                       return true;
                     });
  const Status walked = walk.advance([](std::span<const CallstackNode>) { return true; });
  if (walked) {
    frames_ = std::move(frames);
  }
  return walked;
}

Result<const query::CaptureView*> CaptureTables::view() {
  const std::lock_guard lock(mutex_);
  const Status loaded = load_view();
  return loaded ? Result<const query::CaptureView*>(&*view_)
                : Result<const query::CaptureView*>(loaded.error());
}

Result<const CallstackNumbers*> CaptureTables::stacks() {
  const std::lock_guard lock(mutex_);
  const Status loaded = load_stacks();
  return loaded ? Result<const CallstackNumbers*>(stacks_.get())
                : Result<const CallstackNumbers*>(loaded.error());
}

Result<const FrameRows*> CaptureTables::frames() {
  const std::lock_guard lock(mutex_);
  const Status loaded = load_frames();
  return loaded ? Result<const FrameRows*>(frames_.get())
                : Result<const FrameRows*>(loaded.error());
}

Result<const std::vector<MergedSource>*> CaptureTables::sources() {
  using Sources = Result<const std::vector<MergedSource>*>;
  const std::lock_guard lock(mutex_);
  if (const Status loaded = load_view(); !loaded) {
    return Sources(loaded.error());
  }
  if (!sources_) {
    Result<std::vector<MergedSource>> rows = reader_->sources();
    if (!rows) {
      return Sources(rows.error());
    }
    if (rows->empty()) {
      Result<MergedSource> own = source_of(*reader_, *view_);
      if (!own) {
        return Sources(own.error());
      }
      rows->push_back(std::move(*own));
    }
    for (MergedSource& source : *rows) {
      make_texts_valid(source);
    }
    sources_ = std::move(*rows);
  }
  return Sources(&*sources_);
}

Result<const std::vector<WaitInterval>*> CaptureTables::intervals() {
  using Intervals = Result<const std::vector<WaitInterval>*>;
  const std::lock_guard lock(mutex_);
  if (!intervals_) {
    std::vector<WaitInterval> rows;
    const Status read = reader_->intervals({}, [&rows](std::span<const WaitInterval> block) {
      rows.insert(rows.end(), block.begin(), block.end());
      return true;
    });
    if (!read) {
      return Intervals(read.error());
    }
    intervals_ = std::move(rows);
  }
  return Intervals(&*intervals_);
}

Result<const Branches*> CaptureTables::branches() {
  const std::lock_guard lock(mutex_);
  if (!branches_) {
    Result<Branches> rows = reader_->branches();
    if (!rows) {
      return Result<const Branches*>(rows.error());
    }
    branches_ = std::move(*rows);
  }
  return Result<const Branches*>(&*branches_);
}

}  // namespace stackpack::app
