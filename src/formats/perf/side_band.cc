#include "formats/perf/side_band.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "capture/field_recorder.h"
#include "capture/memory_name.h"
#include "formats/perf/namespace_values.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/record_sizes.h"
#include "formats/perf/switch_events.h"

namespace stackpack::perf {

namespace {

constexpr std::size_t kBuildIdBytes = 20;
// A bit of a mapping's protection that simpleperf adds: its path is that of a symbol file.
constexpr std::uint32_t kJitSymbolFile = 0x4000;

std::uint64_t known_time(std::uint64_t time) {
  return time != 0 ? time : kUnknownTime;
}

std::vector<std::uint8_t> read_build_id(bytes::ByteCursor& in, std::uint64_t size) {
  const std::span<const std::byte> raw = in.read_bytes(kBuildIdBytes);
  std::vector<std::uint8_t> id;
  for (const std::byte byte :
       raw.first(static_cast<std::size_t>(std::min<std::uint64_t>(size, raw.size())))) {
    id.push_back(static_cast<std::uint8_t>(byte));
  }
  const bool blank = std::all_of(id.begin(), id.end(), [](std::uint8_t byte) { return byte == 0; });
  return blank ? std::vector<std::uint8_t>() : id;
}

// The kernel's own mapping is called after the symbol that its file offset refers to.
bool is_kernel_image(std::string_view name) {
  return name.starts_with("[kernel.kallsyms]") || name.starts_with("[guest.kernel.kallsyms");
}

std::string_view image_name(std::string_view name) {
  return is_kernel_image(name) ? name.substr(0, name.find(']') + 1) : name;
}

// Keeps the symbol after which the kernel's own mapping is called, and its address, which the
// record has in place of a file offset: with them, symbols of the kernel can be relocated.
void note_kernel_reference(std::string_view name, std::uint64_t address,
                           capture::SystemRecorder& system) {
  const std::size_t end = name.find(']');
  const std::string_view symbol = end == std::string_view::npos ? "" : name.substr(end + 1);
  if (symbol.empty()) {
    return;
  }
  constexpr std::string_view kGuestImage = "[guest.kernel.kallsyms";
  std::string key = "kernel.";
  if (name.starts_with(kGuestImage)) {
    // After the dot, the process of the virtual machine.
    const std::string_view machine = name.substr(kGuestImage.size(), end - kGuestImage.size());
    key = "guest_kernel" + std::string(machine) + ".";
  }
  std::array<char, 16> digits{};
  char* const end_of_digits =
      std::to_chars(digits.data(), digits.data() + digits.size(), address, 16).ptr;
  system.metadata(key + "reference_symbol", symbol);
  system.metadata(key + "reference_address", "0x" + std::string(digits.data(), end_of_digits));
}

}  // namespace

Status SideBand::convert(const Record& record) {
  const AttrTable::Row* row = context_.attrs.of_other(record.payload);
  if (row == nullptr) {
    context_.reject(record, skip::kUnknownEventId);
    return {};
  }
  const KernelRecord read = read_kernel_record(record.type, record.payload, *row);
  if (read.fit == RecordFit::kNone ||
      !convert_body(record, read.body, context_.time_of_record(read.trailer.time_ns))) {
    context_.reject(record, skip::kBadRecords);
    return {};
  }
  if (read.fit == RecordFit::kOverlong) {
    context_.damage(loss::kOverlongRecords, 1, record.offset);
  }
  return context_.switches != nullptr && !context_.attrs.without_times()
             ? context_.switches->of_record(record, read.body, read.trailer)
             : Status();
}

bool SideBand::convert_body(const Record& record, bytes::ByteCursor body, std::uint64_t time_ns) {
  switch (static_cast<RecordType>(record.type)) {
    case RecordType::kComm:
      return convert_comm(body, record.misc, time_ns);
    case RecordType::kFork:
      return convert_fork(body);
    case RecordType::kExit:
      return convert_exit(body);
    case RecordType::kMmap:
    case RecordType::kMmap2:
      return convert_mmap(record, body, time_ns);
    case RecordType::kKsymbol:
      return convert_ksymbol(body, time_ns);
    case RecordType::kLost:
    case RecordType::kLostSamples:
    case RecordType::kThrottle:
    case RecordType::kUnthrottle:
      return convert_losses(record, body);
    case RecordType::kAux:
      return convert_aux(record, body);
    case RecordType::kCgroup:
      return convert_control_group(record, body);
    case RecordType::kNamespaces:
      if (context_.namespaces != nullptr) {
        return context_.namespaces->add(body, time_ns);
      }
      context_.pass_over(record);
      return true;
    case RecordType::kSwitch:
    case RecordType::kSwitchCpuWide:
      if (context_.switches == nullptr) {
        context_.pass_over(record);
      }
      return true;
    default:
      context_.pass_over(record);
      return true;
  }
}

// u64 id, path.
bool SideBand::convert_control_group(const Record& record, bytes::ByteCursor body) {
  const auto id = body.read<std::uint64_t>();
  const std::string_view path = body.read_c_string();
  if (!body.ok()) {
    return false;
  }
  if (capture::FieldRecorder* const fields = context_.sink.sample_fields(); fields != nullptr) {
    if (!fields->control_groups().set_path(id, path)) {
      context_.notice(loss::kControlGroupsOverLimit, 1, record.offset);
    }
  } else {
    context_.pass_over(record);
  }
  return true;
}

// A piece of a hardware trace was written.
bool SideBand::convert_aux(const Record& record, bytes::ByteCursor body) {
  constexpr std::uint64_t kOverwritten = 2;  // a snapshot: earlier pieces were meant to go
  constexpr std::uint64_t kLost = 1 | 4 | 8;
  body.skip(8);  // offset
  const auto size = body.read<std::uint64_t>();
  const auto flags = body.read<std::uint64_t>();
  if (!body.ok()) {
    return false;
  }
  if ((flags & kLost) != 0) {
    context_.sink.losses().add(loss::kRecorderLostAux, LossKind::kRecorder, 1, record.offset);
  }
  if ((flags & kOverwritten) == 0) {
    context_.trace_bytes.announced += size;
  }
  context_.pass_over(record);
  return true;
}

bool SideBand::convert_comm(bytes::ByteCursor body, std::uint16_t misc, std::uint64_t time_ns) {
  const auto pid = body.read<std::uint32_t>();
  const auto tid = body.read<std::uint32_t>();
  const std::string_view name = body.read_c_string();
  if (!body.ok()) {
    return false;
  }
  capture::SystemRecorder& system = context_.sink.system();
  if ((misc & kMiscCommExec) != 0) {
    context_.begin_epoch(pid);
  }
  if (pid == tid) {
    system.process_named(pid, time_ns, name, (misc & kMiscCommExec) != 0);
  }
  system.thread_named(pid, tid, time_ns, name);
  return true;
}

bool SideBand::convert_fork(bytes::ByteCursor body) {
  const auto pid = body.read<std::uint32_t>();
  const auto parent_pid = body.read<std::uint32_t>();
  const auto tid = body.read<std::uint32_t>();
  const auto parent_tid = body.read<std::uint32_t>();
  const std::uint64_t time_ns = context_.time_of_record(known_time(body.read<std::uint64_t>()));
  if (!body.ok()) {
    return false;
  }
  capture::SystemRecorder& system = context_.sink.system();
  if (pid == tid && pid != parent_pid) {
    context_.begin_epoch(pid);
    system.process_started(pid, parent_pid, time_ns, true);
  }
  system.thread_started(pid, tid, time_ns, {parent_pid, parent_tid});
  return true;
}

bool SideBand::convert_exit(bytes::ByteCursor body) {
  const auto pid = body.read<std::uint32_t>();
  body.skip(4);  // parent
  const auto tid = body.read<std::uint32_t>();
  body.skip(4);  // parent's thread
  const std::uint64_t time_ns = known_time(body.read<std::uint64_t>());
  if (!body.ok()) {
    return false;
  }
  // Without times nothing ends here: samples of before may follow, from the buffers of other
  // processors.
  if (time_ns != kUnknownTime && !context_.attrs.without_times()) {
    context_.sink.system().thread_ended(pid, tid, time_ns);
    if (pid == tid) {
      context_.sink.system().process_ended(pid, time_ns);
    }
  }
  return true;
}

bool SideBand::convert_mmap(const Record& record, bytes::ByteCursor body, std::uint64_t time_ns) {
  Module module;
  module.pid = body.read<std::uint32_t>();  // kKernelPid is -1, as in the record
  body.skip(4);                             // tid
  module.base = body.read<std::uint64_t>();
  module.size = body.read<std::uint64_t>();
  module.file_offset = body.read<std::uint64_t>();
  std::uint32_t protection = 0;
  if (static_cast<RecordType>(record.type) == RecordType::kMmap2) {
    if ((record.misc & kMiscMmapBuildId) != 0) {
      const auto size = body.read<std::uint8_t>();
      body.skip(3);
      module.build_id = read_build_id(body, size);
      module.build_id_kind = module.build_id.empty() ? BuildIdKind::kNone : BuildIdKind::kGnu;
    } else {
      module.file.device_major = body.read<std::uint32_t>();
      module.file.device_minor = body.read<std::uint32_t>();
      module.file.inode = body.read<std::uint64_t>();
      module.file.generation = body.read<std::uint64_t>();
    }
    protection = body.read<std::uint32_t>();
    body.skip(4);  // flags
  }
  const std::string_view name = body.read_c_string();
  if (!body.ok()) {
    return false;
  }
  if ((record.misc & kMiscMapsCut) != 0) {
    context_.sink.losses().add(loss::kRecorderCutMaps, LossKind::kRecorder, 1, record.offset);
  }
  if ((record.misc & kMiscMmapData) != 0) {  // holds no code
    context_.notice(kDataMappingsNotKept, 1, record.offset);
    context_.move_record(record, skip::kRecordsNotKept);
    return true;
  }
  module.start_ns = time_ns;
  if ((protection & kJitSymbolFile) != 0 &&
      !context_.jit_mappings.add(name, {module.pid, module.base, module.size, time_ns})) {
    context_.notice(loss::kJitMappingsForgotten, 1, record.offset);
  }
  module.path = std::string(image_name(name));
  if (capture::is_memory_name(module.path)) {
    module.file = {};
  }
  if (is_kernel_image(name)) {
    note_kernel_reference(name, module.file_offset, context_.sink.system());
    module.file_offset = 0;
  }
  context_.begin_epoch(module.pid);
  context_.sink.system().module_mapped(module);
  return true;
}

bool SideBand::convert_ksymbol(bytes::ByteCursor body, std::uint64_t time_ns) {
  constexpr std::uint16_t kUnregister = 1;
  constexpr std::uint16_t kBpfProgram = 1;
  Module module;
  module.pid = kKernelPid;
  module.base = body.read<std::uint64_t>();
  module.size = body.read<std::uint32_t>();
  const auto kind = body.read<std::uint16_t>();
  const auto flags = body.read<std::uint16_t>();
  const std::string_view name = body.read_c_string();
  if (!body.ok()) {
    return false;
  }
  const bool ends = (flags & kUnregister) != 0;
  context_.begin_epoch(kKernelPid);
  capture::FunctionFact fact;
  fact.owner = FunctionOwner::kKernel;
  fact.start = module.base;
  fact.size = module.size;
  fact.news = ends                      ? capture::FunctionNews::kEnds
              : time_ns != kUnknownTime ? capture::FunctionNews::kBegins
                                        : capture::FunctionNews::kExists;
  fact.time_ns = time_ns;
  fact.source = kind == kBpfProgram ? FunctionSource::kBpf : FunctionSource::kKsymbol;
  fact.name = name;
  context_.sink.system().functions().add(fact);
  if (ends) {
    context_.sink.system().module_unmapped(kKernelPid, module.base, time_ns);
    return true;
  }
  module.start_ns = time_ns;
  module.path = std::string(name);
  context_.sink.system().module_mapped(module);
  return true;
}

bool SideBand::convert_losses(const Record& record, bytes::ByteCursor body) {
  capture::LossCounters& losses = context_.sink.losses();
  switch (static_cast<RecordType>(record.type)) {
    case RecordType::kLost: {
      body.skip(8);  // event id
      const auto lost = body.read<std::uint64_t>();
      losses.add(loss::kRecorderLostEvents, LossKind::kRecorder, lost, record.offset);
      break;
    }
    case RecordType::kLostSamples: {
      const auto lost = body.read<std::uint64_t>();
      if ((record.misc & kMiscFiltered) != 0) {
        context_.notice(loss::kSamplesFiltered, lost, record.offset);
      } else {
        losses.add(loss::kRecorderLostSamples, LossKind::kRecorder, lost, record.offset);
      }
      break;
    }
    case RecordType::kThrottle:
      context_.notice(loss::kThrottle, 1, record.offset);
      break;
    default:
      context_.notice(loss::kUnthrottle, 1, record.offset);
      break;
  }
  return body.ok();
}

bool SideBand::convert_build_id(bytes::ByteCursor body, std::uint16_t misc) {
  body.skip(4);  // pid: -1, or that of the virtual machine
  const std::size_t start = body.position();
  body.skip(kBuildIdBytes);
  const auto size = body.read<std::uint8_t>();
  body.skip(3);
  const std::string_view name = body.read_c_string();
  if (!body.ok()) {
    return false;
  }
  bytes::ByteCursor id = body;
  id.seek(start);
  const std::vector<std::uint8_t> build_id =
      read_build_id(id, (misc & kMiscBuildIdSize) != 0 ? size : kBuildIdBytes);
  if (!build_id.empty()) {
    context_.sink.system().build_id_of_path(image_name(name), BuildIdKind::kGnu, build_id);
  }
  return true;
}

}  // namespace stackpack::perf
