#include "workload/write_perf.h"

#include <functional>
#include <string_view>
#include <unordered_map>

#include "bytes/byte_writer.h"
#include "workload/capture_file.h"

namespace stackpack::bench {
namespace {

constexpr std::uint64_t kHeaderSize = 104;
constexpr std::uint32_t kAttrSize = 112;
constexpr std::uint64_t kAttrEntrySize = kAttrSize + 16;  // and where its ids are
constexpr std::uint64_t kDataOffset = kHeaderSize + kAttrEntrySize;
constexpr std::uint64_t kStreamHeaderSize = 16;

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
constexpr std::uint32_t kExit = 4;
constexpr std::uint32_t kFork = 7;
constexpr std::uint32_t kSample = 9;
constexpr std::uint32_t kHeaderAttr = 64;
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

// What sample_id_all adds to a record that is no sample.
void put_trailer(bytes::ByteWriter& out, std::uint32_t tid, std::uint64_t time_ns) {
  out.write(kWorkloadPid);
  out.write(tid);
  out.write(time_ns);
  out.write(std::uint64_t{0});  // cpu
}

void put_comm(bytes::ByteWriter& out, std::uint32_t tid, std::uint64_t time_ns) {
  put_header(out, kComm, 0, kRecordHeader + 8 + kCommText + kTrailer);
  out.write(kWorkloadPid);
  out.write(tid);
  std::string name = "thread-" + std::to_string(tid);
  name.resize(kCommText, '\0');
  out.write_text(name);
  put_trailer(out, tid, time_ns);
}

// FORK or EXIT of a thread of the program.
void put_task(bytes::ByteWriter& out, std::uint32_t type, std::uint32_t tid,
              std::uint64_t time_ns) {
  put_header(out, type, 0, kRecordHeader + 24 + kTrailer);
  out.write(kWorkloadPid);
  out.write(kWorkloadPid);  // its parent
  out.write(tid);
  out.write(kWorkloadPid);  // the thread that started it
  out.write(time_ns);
  put_trailer(out, tid, time_ns);
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

void put_attr(bytes::ByteWriter& out) {
  const std::size_t end = out.size() + kAttrSize;
  out.write(kTypeSoftware);
  out.write(kAttrSize);
  out.write(kConfigCpuClock);
  out.write(kFrequency);
  out.write(kSampleType);
  out.write(std::uint64_t{0});  // read_format
  out.write(kFlagFreq | kFlagSampleIdAll);
  while (out.size() < end) {
    out.write(std::uint64_t{0});
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
  put_attr(out);
  out.write(std::uint64_t{0});  // its ids: offset, size
  out.write(std::uint64_t{0});
}

void put_stream_header(bytes::ByteWriter& out) {
  out.write_text("PERFILE2");
  out.write(kStreamHeaderSize);
  put_header(out, kHeaderAttr, 0, kRecordHeader + kAttrSize);
  put_attr(out);
}

void pass_on(bytes::ByteWriter& out, CaptureFile& file) {
  file.append(out.bytes());
  out.clear();
}

// The records of a workload, in the order in which they are written.
class Recorder {
 public:
  Recorder(const WorkloadOptions& options, bytes::ByteWriter& out) : options_(options), out_(out) {}

  /// `full` takes what is written when that is a buffer full.
  void record(const std::function<void()>& full) {
    for (const std::uint32_t tid : workload_threads()) {
      put_comm(out_, tid, 0);
    }
    std::uint64_t samples = 0;
    generate_workload(options_, [&](const Observation& seen) {
      put_sample(out_, options_.thread_life == 0 ? seen : renamed(seen));
      if (++samples % kRound == 0) {
        put_header(out_, kFinishedRound, 0, kRecordHeader);
      }
      if (out_.size() >= kBufferBytes) {
        full();
      }
    });
    put_header(out_, kFinishedRound, 0, kRecordHeader);
  }

 private:
  struct Life {
    std::uint32_t tid = 0;
    std::uint32_t left = 0;
  };

  // A thread of the pool ends after some observations, and another one takes its work over.
  Observation renamed(Observation seen) {
    Life& life = lives_[seen.tid];
    if (life.left == 0) {
      if (life.tid != 0) {
        put_task(out_, kExit, life.tid, seen.time_ns);
      }
      life = {next_tid_++, options_.thread_life};
      put_task(out_, kFork, life.tid, seen.time_ns);
      put_comm(out_, life.tid, seen.time_ns);
    }
    --life.left;
    seen.tid = life.tid;
    return seen;
  }

  WorkloadOptions options_;
  bytes::ByteWriter& out_;
  std::unordered_map<std::uint32_t, Life> lives_;
  std::uint32_t next_tid_ = 100'000;
};

}  // namespace

bool write_perf(const WorkloadOptions& options, const std::string& path) {
  CaptureFile file(path);
  bytes::ByteWriter out;
  put_file_header(out, 0);
  Recorder(options, out).record([&] { pass_on(out, file); });
  pass_on(out, file);
  put_file_header(out, file.size() - kDataOffset);
  file.overwrite(0, out.bytes());
  return file.close();
}

bool write_perf_stream(const WorkloadOptions& options, const std::string& path) {
  CaptureFile file(path);
  bytes::ByteWriter out;
  put_stream_header(out);
  Recorder(options, out).record([&] { pass_on(out, file); });
  pass_on(out, file);
  return file.close();
}

}  // namespace stackpack::bench
