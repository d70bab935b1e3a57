// The model of a capture: what a source emits, what a .spk file keeps, what a reader gives back.
//
// Nothing here knows a capture format. Times are nanoseconds of the capture's own clock; the
// metadata key "clock.wall_offset_ns", when present, is what to add to get nanoseconds since 1970.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stackpack {

/// The privilege level in which an address was running.
enum class FrameMode : std::uint8_t {
  kUnknown = 0,
  kKernel = 1,
  kUser = 2,
  kHypervisor = 3,
  kGuest = 4,  ///< guest, kernel or user not known
  kGuestKernel = 5,
  kGuestUser = 6,
};
inline constexpr unsigned kFrameModeCount = 7;

/// The letter of a mode in text listings: ? k u h g G U.
constexpr char mode_letter(FrameMode mode) {
  constexpr char kLetters[kFrameModeCount + 1] = "?kuhgGU";
  const auto index = static_cast<unsigned>(mode);
  return index < kFrameModeCount ? kLetters[index] : '?';
}

/// One entry of a callstack. Two frames are equal when mode and address are equal. The order
/// (mode first, then address) is the canonical order of children in a .spk file.
struct Frame {
  FrameMode mode = FrameMode::kUnknown;
  std::uint64_t address = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a rewritten < for a pointer
  friend auto operator<=>(const Frame&, const Frame&) = default;
};

/// Where the callstack of a sample comes from.
enum class StackOrigin : std::uint8_t {
  kNone = 0,      ///< no callstack and no instruction pointer
  kIpOnly = 1,    ///< no recorded chain; a one-frame callstack made of the instruction pointer
  kRecorded = 2,  ///< a recorded chain with at least one frame
  kUnwound = 3,   ///< its user part was unwound from a dump of registers and stack memory
};
inline constexpr unsigned kStackOriginCount = 4;

/// Whether a callstack is more than an instruction pointer: recorded, or unwound from a dump.
constexpr bool has_chain(StackOrigin origin) {
  return origin == StackOrigin::kRecorded || origin == StackOrigin::kUnwound;
}

/// Rank of a callstack among all callstacks of a file in canonical order: 0 .. unique-1.
using StackId = std::uint32_t;
inline constexpr StackId kNoStack = ~StackId{0};

inline constexpr std::uint32_t kUnknownId = ~std::uint32_t{0};    ///< pid, tid or cpu not recorded
inline constexpr std::uint64_t kUnknownTime = ~std::uint64_t{0};  ///< start or end not known

/// Bits of Sample::flags.
enum SampleFlags : std::uint8_t {
  kSampleEmptyChain = 1,   ///< a chain field was recorded, with no frame in it
  kSampleIdle = 2,         ///< taken in the idle thread of a processor
  kSampleStackDump = 4,    ///< registers and stack memory were dumped for a later unwinder
  kSampleOrphanStack = 8,  ///< recorded stack whose event was not found
  kSampleIncomplete = 16,  ///< a part of the stack is known to be missing
  kSampleSameRecord = 32,  ///< its record gave the sample before it, too: counters of a group
};

/// One observation. `event` indexes the event table of the capture.
struct Sample {
  std::uint64_t time_ns = 0;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint32_t cpu = kUnknownId;
  std::uint32_t event = 0;
  std::uint64_t weight = 1;  ///< the recorded period; 1 when the event records none
  StackOrigin origin = StackOrigin::kNone;
  std::uint8_t flags = 0;

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// A sample as read back from a .spk file.
struct StoredSample : Sample {
  StackId stack = kNoStack;

  friend bool operator==(const StoredSample&, const StoredSample&) = default;
};

/// Samples of one callstack, event, process and origin: what a file without samples keeps of them.
struct StackCount {
  StackId stack = kNoStack;
  std::uint32_t event = 0;
  std::uint32_t pid = kUnknownId;
  StackOrigin origin = StackOrigin::kNone;
  std::uint64_t samples = 0;
  std::uint64_t weight = 0;
};

/// What was counted or traced when samples were taken.
struct Event {
  std::string name;         ///< as the ecosystem spells it: cpu-clock, PerfInfo/SampledProfile, ...
  bool has_weight = false;  ///< Sample::weight is a recorded period

  friend bool operator==(const Event&, const Event&) = default;
};

/// One life of a process: pids are reused, and each use has an entry. An exec ends one entry and
/// begins the next, since it replaces the name and every mapping.
struct Process {
  std::uint32_t pid = kUnknownId;
  std::uint32_t parent_pid = kUnknownId;
  std::uint64_t start_ns = kUnknownTime;  ///< unknown: alive when the capture began
  std::uint64_t end_ns = kUnknownTime;    ///< unknown: alive when the capture ended
  bool inherits_mappings = false;  ///< forked: the parent's mappings of start_ns are its own, too
  std::string name;
  std::string command_line;

  friend bool operator==(const Process&, const Process&) = default;
};

/// One life of a thread.
struct Thread {
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::uint64_t start_ns = kUnknownTime;
  std::uint64_t end_ns = kUnknownTime;
  std::string name;

  friend bool operator==(const Thread&, const Thread&) = default;
};

/// Identity of a binary, for finding its symbols elsewhere and later.
enum class BuildIdKind : std::uint8_t {
  kNone = 0,
  kGnu = 1,  ///< bytes of the NT_GNU_BUILD_ID note
  kPdb = 2,  ///< 16 bytes GUID as stored by Windows, then 4 bytes age, little-endian
};

/// Owner of a mapping that every process shares (kernel image, kernel module, BPF program).
inline constexpr std::uint32_t kKernelPid = ~std::uint32_t{0};

/// The file of a mapping, as the recorder's file system knew it. Two files that once had the same
/// path differ in it. An inode of 0: not recorded.
struct MappedFile {
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;
  std::uint64_t generation = 0;  ///< of the inode, which is used again; 0: not known

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a rewritten < for a pointer
  friend auto operator<=>(const MappedFile&, const MappedFile&) = default;
};

/// One mapped image during one time range in one process.
struct Module {
  std::uint32_t pid = kKernelPid;
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint64_t file_offset = 0;  ///< offset in the file that is mapped at `base`
  std::uint64_t start_ns = kUnknownTime;
  std::uint64_t end_ns = kUnknownTime;
  std::string path;
  BuildIdKind build_id_kind = BuildIdKind::kNone;
  std::vector<std::uint8_t> build_id;
  std::string debug_name;  ///< pdb file name, or empty
  MappedFile file{};       ///< kept where there is no build id

  friend bool operator==(const Module&, const Module&) = default;
};

/// Where the name of a function comes from.
enum class FunctionSource : std::uint8_t {
  kUnknown = 0,
  kClr = 1,         ///< method events of the .NET runtime
  kJScript = 2,     ///< method events of JScript or V8
  kKsymbol = 3,     ///< perf's records of kernel symbols
  kBpf = 4,         ///< the kernel's names of BPF programs
  kSimpleperf = 5,  ///< symbols in a capture of simpleperf
  kFolded = 6,      ///< an imported folded text: frames are names
  kPprof = 7,       ///< an imported pprof profile: frames are names
  kSymtab = 8,      ///< .symtab of an ELF file
  kDynsym = 9,      ///< .dynsym of an ELF file
  kMiniDebug = 10,  ///< .gnu_debugdata of an ELF file
  kDwarf = 11,
  kPdb = 12,
  kPeExport = 13,  ///< the export table of a PE file
  kKallsyms = 14,
  kPerfMap = 15,  ///< perf-PID.map
  kJitdump = 16,
  // Imported OpenTelemetry profiles, by the type of the frame (profile.frame.type); those of frames
  // without a type are unknown.
  kOtlpBeam = 17,
  kOtlpCPython = 18,
  kOtlpDotnet = 19,
  kOtlpGo = 20,
  kOtlpJvm = 21,
  kOtlpKernel = 22,
  kOtlpNative = 23,
  kOtlpPerl = 24,
  kOtlpPhp = 25,
  kOtlpRuby = 26,
  kOtlpRust = 27,
  kOtlpV8js = 28,
};
inline constexpr unsigned kFunctionSourceCount = 29;

/// Whose addresses the start of a function is one of.
enum class FunctionOwner : std::uint8_t {
  kProcess = 0,  ///< one life of a process: code that was made at run time
  kKernel = 1,   ///< every process: the kernel; names without addresses of imported profiles
  kImage = 2,    ///< a file, wherever it is mapped: the start is an offset in it
};

/// Who is to blame for a counted loss, and whether it is one.
enum class LossKind : std::uint8_t {
  kRecorder = 0,  ///< the recorder says that it lost data
  kDamage = 1,    ///< the input is damaged or not understood; something was not converted
  kNotice = 2,    ///< nothing was lost, but a reader of the numbers should know
};

/// A named counter with the first place where it was raised.
struct LossCounter {
  std::string name;  ///< lower-case words joined by '_', stable: a key in stats --json
  LossKind kind = LossKind::kDamage;
  std::uint64_t count = 0;
  std::uint64_t first_offset = ~std::uint64_t{0};  ///< byte offset in the capture, ~0 = not tied

  friend bool operator==(const LossCounter&, const LossCounter&) = default;
};

/// A free-form fact about the capture: host name, kernel release, command line, clock, ...
struct MetadataEntry {
  std::string key;
  std::string value;

  friend bool operator==(const MetadataEntry&, const MetadataEntry&) = default;
};

}  // namespace stackpack
