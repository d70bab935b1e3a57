// Records of perf.data: the numbers of the format, and one record as every stage passes it on.
//
// Source: linux/perf_event.h (perf_event_open(2)) for the kernel's records, which have types below
// 64; perf.data-file-format.txt of the perf tool for its own records, from 64 on. Names follow
// those of the headers: kMmap2 is PERF_RECORD_MMAP2.
#pragma once

#include <cstdint>
#include <string_view>

#include "bytes/byte_cursor.h"

namespace stackpack::perf {

class PartialRecord;

enum class RecordType : std::uint32_t {
  kMmap = 1,
  kLost = 2,
  kComm = 3,
  kExit = 4,
  kThrottle = 5,
  kUnthrottle = 6,
  kFork = 7,
  kRead = 8,
  kSample = 9,
  kMmap2 = 10,
  kAux = 11,
  kItraceStart = 12,
  kLostSamples = 13,
  kSwitch = 14,
  kSwitchCpuWide = 15,
  kNamespaces = 16,
  kKsymbol = 17,
  kBpfEvent = 18,
  kCgroup = 19,
  kTextPoke = 20,
  kAuxOutputHwId = 21,
  kCallchainDeferred = 22,

  kHeaderAttr = 64,
  kHeaderEventType = 65,
  kHeaderTracingData = 66,
  kHeaderBuildId = 67,
  kFinishedRound = 68,
  kIdIndex = 69,
  kAuxtraceInfo = 70,
  kAuxtrace = 71,
  kAuxtraceError = 72,
  kThreadMap = 73,
  kCpuMap = 74,
  kStatConfig = 75,
  kStat = 76,
  kStatRound = 77,
  kEventUpdate = 78,
  kTimeConv = 79,
  kHeaderFeature = 80,
  kCompressed = 81,
  kFinishedInit = 82,
  kCompressed2 = 83,
  kBpfMetadata = 84,
  kSchedstatCpu = 85,
  kSchedstatDomain = 86,

  kSimpleperfEventId = 32774,
  kSimpleperfTracingData = 32777,
};

/// Whether `type` is one of the kernel's records, of a type that we know.
constexpr bool is_known_kernel_record(std::uint32_t type) {
  return type >= static_cast<std::uint32_t>(RecordType::kMmap) &&
         type <= static_cast<std::uint32_t>(RecordType::kCallchainDeferred);
}

/// Whether `type` is one of the perf tool's records, of a type that we know.
constexpr bool is_known_tool_record(std::uint32_t type) {
  return type >= static_cast<std::uint32_t>(RecordType::kHeaderAttr) &&
         type <= static_cast<std::uint32_t>(RecordType::kSchedstatDomain);
}

/// Whether `type` is one of the records of Android's simpleperf. The high half of their size is
/// where others have `misc`.
constexpr bool is_simpleperf_record(std::uint32_t type) {
  constexpr std::uint32_t kFirst = 32769;
  constexpr std::uint32_t kLast = 32778;
  return type >= kFirst && type <= kLast;
}

constexpr bool is_known_record(std::uint32_t type) {
  return is_known_kernel_record(type) || is_known_tool_record(type);
}

/// Bits of `misc` in a record header.
inline constexpr std::uint16_t kMiscCpuModeMask = 7;
inline constexpr std::uint16_t kMiscMapsCut = 1U << 12;      // MMAP, MMAP2: their list is not whole
inline constexpr std::uint16_t kMiscMmapData = 1U << 13;     // MMAP, MMAP2: not executable
inline constexpr std::uint16_t kMiscCommExec = 1U << 13;     // COMM: because of an exec
inline constexpr std::uint16_t kMiscMmapBuildId = 1U << 14;  // MMAP2: a build id, not an inode
inline constexpr std::uint16_t kMiscBuildIdSize = 1U << 15;  // BUILD_ID: byte 20 is its length
inline constexpr std::uint16_t kMiscFiltered = 1U << 15;     // LOST_SAMPLES: a filter refused them

inline constexpr std::size_t kRecordHeaderBytes = 8;
inline constexpr std::size_t kMaxRecordBytes = 65535;

struct RecordHeader {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::uint16_t size = 0;  ///< with these 8 bytes
};

/// The next 8 bytes of `in` as a record header.
inline RecordHeader read_record_header(bytes::ByteCursor& in) {
  RecordHeader header;
  header.type = in.read<std::uint32_t>();
  header.misc = in.read<std::uint16_t>();
  header.size = in.read<std::uint16_t>();
  return header;
}

/// One record. `payload` is what follows the header, fenced; it is valid during the call only.
/// `offset` is where the record, or the compressed record around it, begins in its file.
struct Record {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  bool compressed =
      false;  ///< came out of a compressed record: has no bytes of its own in the file
  std::uint64_t offset = 0;
  bytes::ByteCursor payload;
  PartialRecord* partial = nullptr;  ///< says which bytes of the payload are there; all without one
};

}  // namespace stackpack::perf
