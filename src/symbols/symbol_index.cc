#include "symbols/symbol_index.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "capture/rebased_addresses.h"
#include "capture/synthetic_frames.h"

namespace stackpack::symbols {

namespace {

constexpr int kMaxForks = 64;  // how far a look-up climbs from child to parent

std::uint64_t order_of_time(std::uint64_t time_ns) {
  return time_ns == kUnknownTime ? 0 : time_ns;
}

}  // namespace

NamingEpochs::NamingEpochs(std::span<const Process> processes, std::span<const Module> modules,
                           const RangeIndex<Function>& functions) {
  for (const Process& process : processes) {
    if (process.start_ns != kUnknownTime) {
      boundaries_.emplace_back(process.pid, process.start_ns);
    }
  }
  for (const Module& module : modules) {
    if (module.start_ns != kUnknownTime) {
      boundaries_.emplace_back(module.pid, module.start_ns);
    }
    if (module.end_ns < kUnknownTime - 1) {  // the last time at which it is there
      boundaries_.emplace_back(module.pid, module.end_ns + 1);
    }
  }
  functions.each_shared([this](const Function& function) {
    if (function.born_ns != kUnknownTime && function.owner != FunctionOwner::kImage) {
      boundaries_.emplace_back(function.pid, function.born_ns);
    }
  });
  std::sort(boundaries_.begin(), boundaries_.end());
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  boundaries_.shrink_to_fit();
}

Symbols::Epoch NamingEpochs::find(std::uint32_t pid, std::uint64_t time_ns) const {
  const auto after =
      std::upper_bound(boundaries_.begin(), boundaries_.end(), std::pair(pid, time_ns));
  Symbols::Epoch epoch;
  epoch.number = static_cast<std::uint64_t>(after - boundaries_.begin());
  if (after != boundaries_.end() && after->first == pid) {
    epoch.valid_until = after->second;
  }
  return epoch;
}

std::vector<std::uint32_t> first_rows_of(std::span<const Module> modules) {
  // Path, base in a merged file, build id. Mappings of one file share its names; in a merged file
  // a row is an image, and one path without a build id may be several.
  using Identity = std::tuple<std::string_view, std::uint64_t, std::span<const std::uint8_t>>;
  const auto before = [](const Identity& a, const Identity& b) {
    const auto first = std::tie(std::get<0>(a), std::get<1>(a));
    const auto second = std::tie(std::get<0>(b), std::get<1>(b));
    if (first != second) {
      return first < second;
    }
    const auto& x = std::get<2>(a);
    const auto& y = std::get<2>(b);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  std::map<Identity, std::uint32_t, decltype(before)> known(before);
  std::vector<std::uint32_t> rows;
  rows.reserve(modules.size());
  for (const Module& module : modules) {
    const auto row = static_cast<std::uint32_t>(rows.size());
    const bool merged = capture::RebasedAddresses::in_range(module.base);
    rows.push_back(known.try_emplace({module.path, merged ? module.base : 0, module.build_id}, row)
                       .first->second);
  }
  return rows;
}

bool is_of_kernel(const Function& function) {
  constexpr std::uint64_t kNoAddressOfProcesses = std::uint64_t{1} << 63;
  return function.owner == FunctionOwner::kKernel ||
         (function.owner == FunctionOwner::kProcess && function.start >= kNoAddressOfProcesses &&
          !capture::RebasedAddresses::in_range(function.start));
}

bool has_kernel_in_processes(const Names& names) {
  return std::any_of(names.functions.begin(), names.functions.end(), [](const Function& function) {
    return function.owner == FunctionOwner::kProcess && is_of_kernel(function);
  });
}

SymbolIndex::SymbolIndex(std::span<const Process> processes, std::span<const Module> modules,
                         const Names& names, const Facts& facts)
    : processes_(processes),
      modules_(modules),
      names_(names),
      facts_(facts),
      first_rows_(first_rows_of(modules)),
      lives_(processes),
      map_(processes, modules),
      functions_(names.functions, first_rows_),
      lines_(names.lines, first_rows_),
      epochs_(processes, modules, functions_),
      entries_(names, modules, first_rows_),
      any_functions_(!names.functions.empty()),
      kernel_in_processes_(has_kernel_in_processes(names)) {}

// Of all functions that ever had the address, the one born last at or before the time; if there is
// none, the one born first. Of several born together, the last row.
const Function* SymbolIndex::function_at(const Place& place, std::uint64_t time_ns) const {
  const Function* const latest = functions_.last_until(place.owner, place.address, time_ns);
  return latest != nullptr ? latest : functions_.first(place.owner, place.address);
}

bool SymbolIndex::name_at(const Place& place, std::uint64_t time_ns, CodeLocation& location) const {
  const Function* const function = function_at(place, time_ns);
  if (function == nullptr) {
    return false;
  }
  location.function = function;
  location.function_offset = place.address - function->start;
  location.name = names_.texts[function->name];
  location.linkage =
      names_.texts[function->linkage == kNoText ? function->name : function->linkage];
  if (function->source != FunctionSource::kPdb) {
    // A PDB says where a function is written and has the lines of its code, if they are any.
    location.file = names_.texts[function->file];
    location.line = function->line;
  }
  // Not one of other code that had these bytes.
  const CodeLine* const line = lines_.last_of(place.owner, place.address, function->born_ns + 1);
  if (line != nullptr) {
    location.file = names_.texts[line->file];
    location.line = line->line;
    location.inlined = line->inlined;
  }
  return true;
}

// As images are found: in the process, then in those that it was forked from, at that time.
bool SymbolIndex::name_in_process(std::uint64_t address, std::uint32_t pid, std::uint64_t time_ns,
                                  CodeLocation& location) const {
  for (int forks = 0; forks < kMaxForks && pid != kKernelPid; ++forks) {
    const std::uint32_t row = lives_.find(pid, time_ns).row;
    const Process* const process = row == capture::kNoRow ? nullptr : &processes_[row];
    const std::uint64_t life = process == nullptr ? kUnknownTime : process->start_ns;
    if (name_at({{FunctionOwner::kProcess, pid, life}, address}, time_ns, location)) {
      return true;
    }
    if (process == nullptr || !process->inherits_mappings) {
      return false;
    }
    time_ns = order_of_time(process->start_ns);
    pid = process->parent_pid;
  }
  return false;
}

void SymbolIndex::name_in_image(std::uint64_t offset, CodeLocation& location) const {
  const auto row = static_cast<std::uint32_t>(location.module - modules_.data());
  name_at({{FunctionOwner::kImage, first_rows_[row], kUnknownTime}, offset}, 0, location);
}

void SymbolIndex::expand(const CodeLocation& location, std::vector<InlineFrame>& frames) const {
  if (location.name.empty() && location.has_address) {
    return;
  }
  std::string_view file = location.file;
  std::uint32_t line = location.line;
  // Rows refer to earlier ones: this ends.
  for (std::uint32_t at = location.inlined; at < names_.inlined.size();) {
    const InlinedCall& call = names_.inlined[at];
    const std::uint32_t linkage = call.linkage == kNoText ? call.name : call.linkage;
    // One without a name would break the chain: what is inside belongs to the one around.
    if (call.name != kNoText) {
      frames.push_back({names_.texts[call.name], names_.texts[linkage], file, line});
    }
    file = names_.texts[call.call_file];
    line = call.call_line;
    at = call.parent;
  }
  frames.push_back({location.name, location.linkage, file, line});
}

bool SymbolIndex::stands_for_name(const Frame& frame) const {
  return facts_.synthetic_frames && frame.mode == FrameMode::kUnknown &&
         (capture::SyntheticFrames::in_range(frame.address) ||
          capture::RebasedAddresses::is_name(frame.address));
}

bool SymbolIndex::is_name(const Module& module) const {
  return facts_.synthetic_frames && module.size == 1 && module.build_id.empty();
}

// Whether `frame` was interrupted in `callee`'s favour, or is where a signal handler returns to,
// though nobody called it from there.
bool SymbolIndex::was_not_called(const Frame& frame, const Frame& callee, std::uint32_t pid,
                                 std::uint64_t time_ns) const {
  const bool kernel = frame.mode == FrameMode::kKernel || frame.mode == FrameMode::kGuestKernel;
  const auto kind_of = [kernel](const CodeLocation& location) {
    return location.function == nullptr ? EntryKind::kNone : entry_kind(location.linkage, kernel);
  };
  const EntryKind entered = kind_of(locate_before(callee, pid, time_ns, 0));
  if (entered == EntryKind::kInterrupt || (entered == EntryKind::kSignalReturn && facts_.unwound)) {
    return true;
  }
  const CodeLocation own = locate_before(frame, pid, time_ns, 0);
  if (entered == EntryKind::kThunk) {
    // Its function may not be named yet, because nobody asked for this byte.
    return own.function != nullptr ? own.function_offset == 0
                                   : locate_before(frame, pid, time_ns, 1).function != nullptr;
  }
  return own.function_offset == 0 && kind_of(own) == EntryKind::kSignalReturn;
}

// The location of the byte `back` bytes before the address of a frame.
CodeLocation SymbolIndex::locate_before(const Frame& frame, std::uint32_t pid,
                                        std::uint64_t time_ns, std::uint64_t back) const {
  CodeLocation location;
  const Frame wanted{frame.mode, frame.address - back};
  location.use = back == 0 ? AddressUse::kExact : AddressUse::kReturn;
  location.has_address = !stands_for_name(frame);
  const auto hit = map_.find(pid, time_ns, wanted);
  if (hit && is_name(modules_[hit->module])) {
    location.has_address = false;
    location.name = modules_[hit->module].path;
    location.linkage = location.name;
  } else if (hit) {
    location.module = &modules_[hit->module];
    location.offset = hit->offset + back;
  }
  if (!any_functions_) {
    return location;
  }
  const bool of_any = frame.mode == FrameMode::kUnknown;
  const bool of_kernel = frame.mode == FrameMode::kKernel || of_any;
  const bool may_be_user =
      frame.mode == FrameMode::kUser || of_any || (kernel_in_processes_ && of_kernel);
  const bool may_be_kernel = of_kernel || capture::RebasedAddresses::is_name(wanted.address);
  const Place kernel{{FunctionOwner::kKernel, kKernelPid, kUnknownTime}, wanted.address};
  const bool named = (may_be_user && name_in_process(wanted.address, pid, time_ns, location)) ||
                     (may_be_kernel && name_at(kernel, time_ns, location));
  if (!named && location.module != nullptr && location.offset >= back) {
    name_in_image(location.offset - back, location);
  }
  location.function_offset += location.function != nullptr ? back : 0;
  return location;
}

// No call can be before the first byte of an image, or of a function that nothing is before: an
// address there is no return address.
CodeLocation SymbolIndex::locate(const Frame& frame, std::uint32_t pid, std::uint64_t time_ns,
                                 AddressUse use) const {
  if (use == AddressUse::kExact || frame.address == 0 || !facts_.return_addresses ||
      stands_for_name(frame)) {
    return locate_before(frame, pid, time_ns, 0);
  }
  const CodeLocation before = locate_before(frame, pid, time_ns, 1);
  if (before.function != nullptr || (before.module != nullptr && !any_functions_)) {
    return before;
  }
  const CodeLocation exact = locate_before(frame, pid, time_ns, 0);
  const bool begins_function =
      facts_.may_be_interrupted && exact.function != nullptr && exact.function_offset == 0;
  const bool begins_image =
      before.module == nullptr && (exact.module != nullptr || !exact.has_address);
  return begins_function || begins_image ? exact : before;
}

}  // namespace stackpack::symbols
