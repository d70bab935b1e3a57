#include "app/unwind/image_unwinder.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/unwind/missing_images.h"
#include "app/unwind/recorded_here.h"

namespace stackpack::app {

namespace {

namespace loss = capture::unwind_loss;

// Of the ends of walks, the counter of each.
constexpr std::array<std::string_view, unwind::kWalkEnds> kCounterNames = {
    "",
    loss::kDumpTooShort,
    loss::kDumpCut,
    loss::kOtherStack,
    loss::kNoMapping,
    loss::kNoImage,
    loss::kNoTable,
    loss::kBadTable,
    loss::kLostRegister,
    loss::kNoProgress,
    loss::kTooDeep,
};

}  // namespace

AddressSpaces::AddressSpaces(std::span<const Process> processes, std::span<const Module> modules,
                             std::span<const std::pair<std::uint32_t, std::uint64_t>> changes)
    : boundaries_(changes.begin(), changes.end()) {
  for (const Process& process : processes) {
    boundaries_.emplace_back(process.pid, 0);
    if (process.start_ns != kUnknownTime) {
      boundaries_.emplace_back(process.pid, process.start_ns);
    }
  }
  for (const Module& module : modules) {
    if (module.pid == kKernelPid) {
      continue;
    }
    boundaries_.emplace_back(module.pid, 0);
    if (module.start_ns != kUnknownTime) {
      boundaries_.emplace_back(module.pid, module.start_ns);
    }
    if (module.end_ns < kUnknownTime - 1) {  // the last time at which it is there
      boundaries_.emplace_back(module.pid, module.end_ns + 1);
    }
  }
  std::sort(boundaries_.begin(), boundaries_.end());
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  boundaries_.shrink_to_fit();
}

std::uint32_t AddressSpaces::find(std::uint32_t pid, std::uint64_t time_ns) {
  Recent& recent = recent_[pid % kRecent];
  if (recent.pid == pid && recent.from_ns <= time_ns && time_ns < recent.until_ns) [[likely]] {
    return recent.space;
  }
  const auto after =
      std::upper_bound(boundaries_.begin(), boundaries_.end(), std::pair(pid, time_ns));
  if (after == boundaries_.begin() || (after - 1)->first != pid) {
    return kNone;
  }
  const bool bounded = after != boundaries_.end() && after->first == pid;
  recent = {pid, static_cast<std::uint32_t>(after - boundaries_.begin()), (after - 1)->second,
            bounded ? after->second : ~std::uint64_t{0}};
  return recent.space;
}

void ImageUnwinder::begin(capture::SystemTables tables) {
  tables_ = std::move(tables);
  map_.emplace(tables_.processes, tables_.modules);
  const RecordingTimes times =
      times_of_recording(last_time_of(tables_), tables_.metadata, capture_);
  believe_this_machine(places_, tables_.metadata, times);
  run_time_code_.emplace(tables_, places_, times);
  spaces_.emplace(tables_.processes, tables_.modules, run_time_code_->reuses());
  images_.emplace(tables_.modules, places_);
}

void ImageUnwinder::count(Counter& counter, std::uint64_t offset) {
  counter.first_offset = counter.count == 0 ? offset : counter.first_offset;
  ++counter.count;
}

unwind::StackWalker& ImageUnwinder::walker(capture::DumpMachine machine) {
  std::optional<unwind::StackWalker>& walker = walkers_[static_cast<std::size_t>(machine)];
  if (!walker) {
    walker.emplace(
        machine == capture::DumpMachine::kX64 ? unwind::Machine::kX64 : unwind::Machine::kAarch64,
        [this](std::uint32_t /*space*/, std::uint64_t address) { return find_code(address); },
        [this](std::uint32_t /*space*/, std::uint64_t address) { return follows_call(address); });
  }
  return *walker;
}

unwind::CodePlace ImageUnwinder::find_code(std::uint64_t address) {
  using Kind = unwind::CodePlace::Kind;
  unwind::CodePlace place;
  const std::optional<capture::ModuleMap::Hit> hit =
      map_->find(pid_, time_ns_, {FrameMode::kUser, address});
  if (!hit) {
    return find_run_time_code(address, place);
  }
  place.image = images_->image_of(hit->module);
  const ImageStore::Image& image = images_->open(place.image);
  switch (image.state) {
    case ImageStore::State::kUnopened:
    case ImageStore::State::kMissing:
      place.kind = Kind::kNoImage;
      return place;
    case ImageStore::State::kNoCode:
      place.kind = Kind::kNoFile;
      return find_run_time_code(address, place);
    case ImageStore::State::kNotElf:
      place.kind = Kind::kNoFile;
      return place;
    case ImageStore::State::kReady:
      break;
  }
  const unwind::ElfLayout& layout = image.tables->layout();
  if (layout.machine != machine_) {
    place.kind = Kind::kNoFile;
    return place;
  }
  const std::optional<std::uint64_t> in_file = layout.address_of(hit->offset);
  if (!in_file) {
    place.kind = Kind::kNotCode;
    return place;
  }
  place.kind = Kind::kImage;
  place.address = *in_file;
  place.tables = image.tables.get();
  return place;
}

unwind::CodePlace ImageUnwinder::find_run_time_code(std::uint64_t address,
                                                    unwind::CodePlace otherwise) {
  // Numbers of pieces come after those of images.
  constexpr std::uint32_t kFirstPiece = std::uint32_t{1} << 31;
  const std::optional<RunTimeCode::Piece> piece =
      run_time_code_->find(pid_, time_ns_, address, machine_);
  if (!piece) {
    return otherwise;
  }
  return {unwind::CodePlace::Kind::kImage, kFirstPiece + piece->number, address, piece->tables};
}

bool ImageUnwinder::follows_call(std::uint64_t address) {
  const std::optional<capture::ModuleMap::Hit> hit =
      map_->find(pid_, time_ns_, {FrameMode::kUser, address - 1});
  return hit && images_->follows_call(images_->image_of(hit->module), hit->offset + 1, machine_);
}

capture::UnwoundStack ImageUnwinder::unwind(const capture::ThreadDump& dump) {
  const bool is_x86 = dump.machine == capture::DumpMachine::kX64;
  machine_ = is_x86 ? unwind::Machine::kX64 : unwind::Machine::kAarch64;
  pid_ = dump.pid;
  time_ns_ = dump.time_ns;
  unwind::ThreadState thread;
  static_assert(unwind::kRegisters == capture::ThreadDump::kRegisters);
  thread.registers.values = dump.registers;
  thread.registers.known = dump.known_registers;
  const unsigned stack_pointer = unwind::traits_of(machine_).stack_pointer;
  thread.memory = unwind::StackMemory(dump.registers[stack_pointer], dump.stack,
                                      std::min(dump.loaded, dump.stack.size()), &dump.load);
  thread.filled = dump.filled;
  thread.in_kernel = dump.in_kernel;
  unwind::StackWalker& walker = this->walker(dump.machine);
  const unwind::WalkEnd end = walker.walk(spaces_->find(dump.pid, dump.time_ns), thread);
  if (end != unwind::WalkEnd::kRoot) {
    count(ends_[static_cast<std::size_t>(end)], dump.offset);
    if (end == unwind::WalkEnd::kNoImage) {
      ++images_->image(find_code(walker.last_lookup()).image).samples;
    }
  }
  return {walker.frames(), end == unwind::WalkEnd::kRoot};
}

void ImageUnwinder::pass_over(std::string_view loss, std::uint64_t offset) {
  count(passed_over_.try_emplace(std::string(loss)).first->second, offset);
}

std::uint64_t ImageUnwinder::samples_without_build_id() const {
  std::uint64_t samples = 0;
  for (const ImageStore::Image& image :
       images_ ? images_->images() : std::span<const ImageStore::Image>()) {
    samples += image.build_id.empty() ? image.samples : 0;
  }
  return samples;
}

unwind::WalkCounts ImageUnwinder::counts() const {
  unwind::WalkCounts sum;
  for (const std::optional<unwind::StackWalker>& walker : walkers_) {
    if (walker) {
      const unwind::WalkCounts& part = walker->counts();
      sum.walks += part.walks;
      sum.frames += part.frames;
      sum.frame_pointer_steps += part.frame_pointer_steps;
      sum.space_hits += part.space_hits;
      sum.image_hits += part.image_hits;
      sum.decoded += part.decoded;
    }
  }
  return sum;
}

void ImageUnwinder::finish(capture::CallstackSink& sink) {
  capture::LossCounters& losses = sink.losses();
  for (std::size_t end = 1; end < ends_.size(); ++end) {
    if (ends_[end].count != 0) {
      losses.add(kCounterNames[end], LossKind::kNotice, ends_[end].count, ends_[end].first_offset);
    }
  }
  for (const auto& [name, counter] : passed_over_) {
    losses.add(name, LossKind::kNotice, counter.count, counter.first_offset);
  }
  if (const std::uint64_t steps = counts().frame_pointer_steps; steps != 0) {
    losses.add(loss::kFramePointerSteps, LossKind::kNotice, steps);
  }
  if (const std::uint64_t refused = symbolize::refused_entries(places_); refused != 0) {
    losses.add(loss::kBundleRefused, LossKind::kNotice, refused);
  }
  note_missing_images(images_->images(), sink.system());
}

std::vector<std::string> perf_cache_folders() {
  const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return home == nullptr || *home == '\0' ? std::vector<std::string>()
                                          : std::vector{std::string(home) + "/.debug"};
}

}  // namespace stackpack::app
