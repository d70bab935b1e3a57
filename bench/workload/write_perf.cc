#include "workload/write_perf.h"

#include <string_view>

#include "bytes/byte_writer.h"
#include "workload/capture_file.h"

namespace stackpack::bench {
namespace {

constexpr std::uint64_t kHeaderSize = 104;
constexpr std::uint32_t kAttrSize = 112;
constexpr std::uint64_t kAttrEntrySize = kAttrSize + 16;  // and where its ids are
constexpr std::uint64_t kDataOffset = kHeaderSize + kAttrEntrySize;

// perf_event_attr
constexpr std::uint32_t kTypeSoftware = 1;
constexpr std::uint64_t kConfigCpuClock = 0;
constexpr std::uint64_t kFrequency = 8192;
constexpr std::uint64_t kPeriodNs = 122'070;
// PERF_SAMPLE_IP, TID, TIME, CALLCHAIN, CPU, PERIOD
constexpr std::uint64_t kSampleType = 1 | 2 | 4 | 0x20 | 0x80 | 0x100;
constexpr std::uint64_t kFlagFreq = std::uint64_t{1} << 10;
constexpr std::uint64_t kFlagSampleIdAll = std::uint64_t{1} << 18;

// Records
constexpr std::uint32_t kComm = 3;
constexpr std::uint32_t kSample = 9;
constexpr std::uint32_t kFinishedRound = 68;
constexpr std::uint16_t kMiscKernel = 1;
constexpr std::uint16_t kMiscUser = 2;
constexpr std::size_t kRecordHeader = 8;
constexpr std::size_t kTrailer = 24;  // tid, time, cpu
constexpr std::size_t kCommText = 16;
constexpr std::uint64_t kContextKernel = ~std::uint64_t{127};  // -128
constexpr std::uint64_t kContextUser = ~std::uint64_t{511};    // -512

constexpr std::uint64_t kRound = 4096;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

void put_header(bytes::ByteWriter& out, std::uint32_t type, std::uint16_t misc, std::size_t size) {
  out.write(type);
  out.write(misc);
  out.write(static_cast<std::uint16_t>(size));
}

void put_comm(bytes::ByteWriter& out, std::uint32_t tid) {
  put_header(out, kComm, 0, kRecordHeader + 8 + kCommText + kTrailer);
  out.write(kWorkloadPid);
  out.write(tid);
  std::string name = "thread-" + std::to_string(tid);
  name.resize(kCommText, '\0');
  out.write_text(name);
  out.write(kWorkloadPid);
  out.write(tid);
  out.write(std::uint64_t{0});  // time
  out.write(std::uint64_t{0});  // cpu
}

void put_sample(bytes::ByteWriter& out, const Observation& seen) {
  const std::size_t kernel = seen.kernel_frames;
  const std::size_t depth = seen.addresses.size();
  const std::size_t entries = depth + (kernel > 0 ? 1 : 0) + (kernel < depth ? 1 : 0);
  put_header(out, kSample, kernel > 0 ? kMiscKernel : kMiscUser,
             kRecordHeader + 6 * sizeof(std::uint64_t) + entries * sizeof(std::uint64_t));
  out.write(depth > 0 ? seen.addresses.front() : 0);
  out.write(kWorkloadPid);
  out.write(seen.tid);
  out.write(seen.time_ns);
  out.write(std::uint64_t{seen.cpu});
  out.write(kPeriodNs);
  out.write(std::uint64_t{entries});
  if (kernel > 0) {
    out.write(kContextKernel);
    out.write_bytes(std::as_bytes(seen.addresses.first(kernel)));
  }
  if (kernel < depth) {
    out.write(kContextUser);
    out.write_bytes(std::as_bytes(seen.addresses.subspan(kernel)));
  }
}

void put_file_header(bytes::ByteWriter& out, std::uint64_t data_size) {
  out.write_text("PERFILE2");
  out.write(kHeaderSize);
  out.write(kAttrEntrySize);
  out.write(kHeaderSize);  // attributes: offset, size
  out.write(kAttrEntrySize);
  out.write(kDataOffset);  // data: offset, size
  out.write(data_size);
  for (int i = 0; i < 6; ++i) {  // no event types, no features
    out.write(std::uint64_t{0});
  }
  out.write(kTypeSoftware);
  out.write(kAttrSize);
  out.write(kConfigCpuClock);
  out.write(kFrequency);
  out.write(kSampleType);
  out.write(std::uint64_t{0});  // read_format
  out.write(kFlagFreq | kFlagSampleIdAll);
  while (out.size() < kDataOffset) {
    out.write(std::uint64_t{0});
  }
}

}  // namespace

bool write_perf(const WorkloadOptions& options, const std::string& path) {
  CaptureFile file(path);
  bytes::ByteWriter out;
  put_file_header(out, 0);
  for (const std::uint32_t tid : workload_threads()) {
    put_comm(out, tid);
  }
  std::uint64_t samples = 0;
  generate_workload(options, [&](const Observation& seen) {
    put_sample(out, seen);
    if (++samples % kRound == 0) {
      put_header(out, kFinishedRound, 0, kRecordHeader);
    }
    if (out.size() >= kBufferBytes) {
      file.append(out.bytes());
      out.clear();
    }
  });
  put_header(out, kFinishedRound, 0, kRecordHeader);
  file.append(out.bytes());
  out.clear();
  put_file_header(out, file.size() - kDataOffset);
  file.overwrite(0, out.bytes());
  return file.close();
}

}  // namespace stackpack::bench
