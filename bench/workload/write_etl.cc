#include "workload/write_etl.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "bytes/byte_writer.h"
#include "support/lz_compressors.h"
#include "workload/capture_file.h"
#include "workload/xpress_writer.h"

namespace stackpack::bench {
namespace {

constexpr std::uint32_t kBufferSize = 64 << 10;
constexpr std::size_t kBufferHeader = 0x48;
constexpr std::uint32_t kHeaderBufferPacked = 0x200;  // the header buffer of a compressed file
constexpr std::uint16_t kFlagWideProcessor = 0x20;
constexpr std::uint16_t kFlagCompressed = 0x40;
constexpr std::uint16_t kTypeHeader = 4;

// Events: version and flags of the marker, then (type, group).
constexpr std::uint32_t kSystem64 = 0xc002'0002;
constexpr std::uint32_t kPerfInfo64 = 0xc011'0002;
constexpr std::size_t kSystemHeader = 0x20;
constexpr std::size_t kPerfInfoHeader = 0x10;
struct Kind {
  std::uint8_t type;
  std::uint8_t group;
};
constexpr Kind kLogHeader{0, 0};
constexpr Kind kThreadDcStart{3, 5};
constexpr Kind kContextSwitch{36, 5};
constexpr Kind kReadyThread{50, 5};
constexpr Kind kSampledProfile{46, 15};
constexpr Kind kStackWalk{32, 24};

// The log file header, 64-bit form.
constexpr std::size_t kLogHeaderSize = 0x118;
constexpr std::size_t kBuffersWrittenAt = kBufferHeader + kSystemHeader + 0x24;
constexpr std::uint64_t kClockFrequency = 160'000'000;
constexpr std::uint64_t kStartTime = 132'404'548'306'000'000;  // FILETIME
constexpr std::uint32_t kModeCompressed = 0x0400'0000;
constexpr std::uint64_t kFirstClock = 1000;
constexpr std::uint64_t kIdleTid = 0;

// The compression that the header buffer names.
constexpr std::uint32_t state_of(EtlPacking packing) {
  switch (packing) {
    case EtlPacking::kLznt1:
      return 2;
    case EtlPacking::kXpress:
      return 3;
    case EtlPacking::kXpressHuffman:
      return 4;
    case EtlPacking::kNone:
      break;
  }
  return 0;
}

constexpr std::size_t padded(std::size_t size) {
  return (size + 7) / 8 * 8;
}

class EtlFile {
 public:
  EtlFile(const std::string& path, EtlPacking packing)
      : file_(path), packing_(packing), compress_(packing != EtlPacking::kNone) {
    put_header_buffer();
    for (const std::uint32_t tid : workload_threads()) {
      put_thread(tid);
    }
  }

  void add(const Observation& seen);
  bool close();

 private:
  struct Processor {
    bytes::ByteWriter events;  // of the open buffer
    std::uint64_t clock = kFirstClock;
  };

  void put_header_buffer();
  void put_thread(std::uint32_t tid);
  bytes::ByteWriter& room(std::uint32_t cpu, std::size_t event_size);
  void flush(std::uint32_t cpu);
  void pack(std::span<const std::byte> events);
  void put_buffer_header(bytes::ByteWriter& out, std::uint32_t size, std::uint32_t saved,
                         std::uint16_t cpu, std::uint16_t flags, std::uint16_t type,
                         std::uint32_t state);
  void put_perf_info(bytes::ByteWriter& out, Kind kind, std::size_t payload, std::uint64_t clock);
  void put_stack(Processor& processor, std::uint32_t cpu, std::uint64_t event_clock,
                 std::uint32_t tid, std::span<const std::uint64_t> addresses);

  CaptureFile file_;
  EtlPacking packing_;
  bool compress_;
  std::uint64_t sequence_ = 0;
  std::uint64_t first_time_ns_ = 0;
  std::array<Processor, kWorkloadCpus> processors_;
  std::map<std::uint32_t, std::uint64_t> thread_clock_;  // last clock of each thread
  std::vector<std::byte> packed_;
};

void EtlFile::put_buffer_header(bytes::ByteWriter& out, std::uint32_t size, std::uint32_t saved,
                                std::uint16_t cpu, std::uint16_t flags, std::uint16_t type,
                                std::uint32_t state) {
  out.write(size);
  out.write(saved);
  out.write(saved);             // current offset
  out.write(std::uint32_t{0});  // reference count
  out.write(std::uint64_t{0});  // time stamp
  out.write(sequence_++);
  out.write(std::uint64_t{0});  // clock
  out.write(cpu);
  out.write(std::uint16_t{0});  // logger
  out.write(state);
  out.write(saved);  // offset
  out.write(flags);
  out.write(type);
  out.write(std::uint64_t{0});
  out.write(std::uint64_t{0});
}

void put_system_event(bytes::ByteWriter& out, Kind kind, std::size_t payload, std::uint32_t tid,
                      std::uint64_t clock) {
  out.write(kSystem64);
  out.write(static_cast<std::uint16_t>(kSystemHeader + payload));
  out.write(kind.type);
  out.write(kind.group);
  out.write(tid);
  out.write(tid == kIdleTid ? 0U : kWorkloadPid);
  out.write(clock);
  out.write(std::uint64_t{0});  // kernel and user time
}

void EtlFile::put_header_buffer() {
  bytes::ByteWriter out;
  const std::uint32_t size = compress_ ? kHeaderBufferPacked : kBufferSize;
  const auto saved =
      static_cast<std::uint32_t>(padded(kBufferHeader + kSystemHeader + kLogHeaderSize + 4));
  put_buffer_header(out, size, saved, 0, kFlagWideProcessor, kTypeHeader, state_of(packing_));
  put_system_event(out, kLogHeader, kLogHeaderSize + 4, 0, kFirstClock);
  const std::size_t start = out.size();
  out.write(kBufferSize);
  out.write_bytes(std::as_bytes(
      std::span<const std::uint8_t>(compress_ ? std::array<std::uint8_t, 4>{10, 0, 2, 0}
                                              : std::array<std::uint8_t, 4>{10, 0, 1, 5})));
  out.write(std::uint32_t{19041});                     // build
  out.write(kWorkloadCpus);                            // processors
  out.write(kStartTime + std::uint64_t{100'000'000});  // end time
  out.write(std::uint32_t{156'250});                   // timer resolution
  out.write(std::uint32_t{0});                         // most MiB
  out.write(compress_ ? kModeCompressed | 1U : 1U);
  out.write(std::uint32_t{0});     // buffers written: set at the end
  out.write(std::uint32_t{1});     // start buffers
  out.write(std::uint32_t{8});     // pointer size
  out.write(std::uint32_t{0});     // events lost
  out.write(std::uint32_t{2600});  // MHz
  while (out.size() < start + 0x100) {
    out.write(std::uint32_t{0});
  }
  out.write(kClockFrequency);
  out.write(kStartTime);
  out.write(std::uint32_t{1});  // clock: performance counter
  out.write(std::uint32_t{0});  // buffers lost
  out.write(std::uint32_t{0});  // two empty names
  out.pad_to_multiple_of(8);
  while (out.size() < size) {
    out.write(std::uint8_t{0xff});
  }
  file_.append(out.bytes());
}

// Makes sure that an event fits the open buffer, and begins it.
bytes::ByteWriter& EtlFile::room(std::uint32_t cpu, std::size_t event_size) {
  Processor& processor = processors_[cpu];
  if (kBufferHeader + processor.events.size() + padded(event_size) > kBufferSize) {
    flush(cpu);
  }
  return processor.events;
}

void EtlFile::pack(std::span<const std::byte> events) {
  switch (packing_) {
    case EtlPacking::kLznt1:
      packed_ = test::compress_lznt1(events);
      break;
    case EtlPacking::kXpressHuffman:
      packed_ = test::compress_xpress_huffman(events);
      break;
    default:
      xpress_compress(events, packed_);
  }
}

void EtlFile::flush(std::uint32_t cpu) {
  bytes::ByteWriter& events = processors_[cpu].events;
  if (events.size() == 0) {
    return;
  }
  const auto saved = static_cast<std::uint32_t>(kBufferHeader + events.size());
  const auto processor = static_cast<std::uint16_t>(cpu);
  bytes::ByteWriter out;
  if (compress_) {
    pack(events.bytes());
  }
  if (compress_ && packed_.size() < events.size()) {
    put_buffer_header(out, static_cast<std::uint32_t>(kBufferHeader + packed_.size()), saved,
                      processor, kFlagWideProcessor | kFlagCompressed, 0, 0);
    out.write_bytes(packed_);
  } else {
    put_buffer_header(out, kBufferSize, saved, processor, kFlagWideProcessor, 0, 0);
    out.write_bytes(events.bytes());
    while (out.size() < kBufferSize) {
      out.write(std::uint8_t{0xff});
    }
  }
  file_.append(out.bytes());
  events.clear();
}

void EtlFile::put_thread(std::uint32_t tid) {
  constexpr std::size_t kPayload = 72;
  bytes::ByteWriter& out = room(0, kSystemHeader + kPayload);
  put_system_event(out, kThreadDcStart, kPayload, tid, ++processors_[0].clock);
  out.write(kWorkloadPid);
  out.write(tid);
  for (int i = 0; i < 8; ++i) {  // stacks, affinity, start address, environment block, ...
    out.write(std::uint64_t{0});
  }
  out.pad_to_multiple_of(8);
}

void EtlFile::put_perf_info(bytes::ByteWriter& out, Kind kind, std::size_t payload,
                            std::uint64_t clock) {
  out.write(kPerfInfo64);
  out.write(static_cast<std::uint16_t>(kPerfInfoHeader + payload));
  out.write(kind.type);
  out.write(kind.group);
  out.write(clock);
}

void EtlFile::put_stack(Processor& processor, std::uint32_t cpu, std::uint64_t event_clock,
                        std::uint32_t tid, std::span<const std::uint64_t> addresses) {
  if (addresses.empty()) {
    return;
  }
  const std::size_t payload = 16 + addresses.size_bytes();
  bytes::ByteWriter& out = room(cpu, kPerfInfoHeader + payload);
  put_perf_info(out, kStackWalk, payload, ++processor.clock);
  out.write(event_clock);
  out.write(kWorkloadPid);
  out.write(tid);
  out.write_bytes(std::as_bytes(addresses));
}

void EtlFile::add(const Observation& seen) {
  first_time_ns_ = first_time_ns_ == 0 ? seen.time_ns : first_time_ns_;
  Processor& processor = processors_[seen.cpu];
  // 16 ticks per 100 ns. A clock never goes back on a processor, and a thread has one event and its
  // stacks after it before it has the next, wherever it runs.
  std::uint64_t& thread_clock = thread_clock_[seen.tid];
  const std::uint64_t clock = std::max({processor.clock + 1, thread_clock + 1,
                                        (seen.time_ns - first_time_ns_) * 16 / 100 + kFirstClock});
  processor.clock = clock;
  thread_clock = clock + 3;

  switch (seen.cause) {
    case Cause::kClock: {
      bytes::ByteWriter& out = room(seen.cpu, kPerfInfoHeader + 16);
      put_perf_info(out, kSampledProfile, 16, clock);
      out.write(seen.addresses.front());
      out.write(seen.tid);
      out.write(std::uint16_t{1});  // count
      out.write(std::uint16_t{0});
      break;
    }
    case Cause::kSwitch: {
      bytes::ByteWriter& out = room(seen.cpu, kPerfInfoHeader + 24);
      put_perf_info(out, kContextSwitch, 24, clock);
      out.write(seen.tid);                              // new thread
      out.write(static_cast<std::uint32_t>(kIdleTid));  // old thread
      out.write(std::uint64_t{0});
      out.write(std::uint64_t{0});
      break;
    }
    case Cause::kWakeUp: {
      bytes::ByteWriter& out = room(seen.cpu, kPerfInfoHeader + 8);
      put_perf_info(out, kReadyThread, 8, clock);
      out.write(seen.tid);
      out.write(std::uint32_t{0});
      break;
    }
  }
  put_stack(processor, seen.cpu, clock, seen.tid, seen.addresses.first(seen.kernel_frames));
  put_stack(processor, seen.cpu, clock, seen.tid, seen.addresses.subspan(seen.kernel_frames));
}

bool EtlFile::close() {
  for (std::uint32_t cpu = 0; cpu < kWorkloadCpus; ++cpu) {
    flush(cpu);
  }
  bytes::ByteWriter count;
  count.write(static_cast<std::uint32_t>(sequence_));
  file_.overwrite(kBuffersWrittenAt, count.bytes());
  return file_.close();
}

}  // namespace

bool write_etl(const WorkloadOptions& options, const std::string& path, EtlPacking packing) {
  EtlFile file(path, packing);
  generate_workload(options, [&](const Observation& seen) { file.add(seen); });
  return file.close();
}

}  // namespace stackpack::bench
