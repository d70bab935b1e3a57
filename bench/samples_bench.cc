// Benchmark "samples": the sample stream in three codings, blocks of 65,536 samples each packed
// with the same level of zstd. Rows and events keep time, thread, cpu, event and callstack id; ours
// keeps process, weight, origin and flags as well. What is decoded is compared with what was
// encoded.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <unordered_map>
#include <vector>

#include "benchmarks.h"
#include "codec/zstd_codec.h"
#include "stopwatch.h"
#include "stored_input.h"

namespace stackpack::bench {
namespace {

constexpr std::size_t kBlockSamples = 65'536;
constexpr int kLevel = spk::WriterOptions{}.level;
using Bytes = std::vector<std::byte>;

template <typename Number>
void put(Bytes& bytes, Number value, std::size_t width = sizeof(Number)) {
  const std::size_t at = bytes.size();
  bytes.resize(at + width);
  std::memcpy(&bytes[at], &value, width);
}

class Cursor {
 public:
  explicit Cursor(const Bytes& bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  std::uint64_t take(std::size_t width) {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes_[at_], width);
    at_ += width;
    return value;
  }

 private:
  const Bytes& bytes_;
  std::size_t at_ = 0;
};

// The fields that rows and events keep.
bool same_fields(const StoredSample& a, const StoredSample& b) {
  return a.time_ns == b.time_ns && a.tid == b.tid && a.cpu == b.cpu && a.event == b.event &&
         a.stack == b.stack;
}

// 24 bytes each: time, thread, cpu, event, callstack.
void encode_rows(std::span<const StoredSample> samples, Bytes& bytes) {
  for (const StoredSample& sample : samples) {
    put(bytes, sample.time_ns);
    put(bytes, sample.tid);
    put(bytes, sample.cpu);
    put(bytes, sample.event);
    put(bytes, sample.stack);
  }
}

void decode_rows(const Bytes& bytes, std::vector<StoredSample>& samples) {
  for (Cursor in(bytes); !in.done();) {
    StoredSample& sample = samples.emplace_back();
    sample.time_ns = in.take(8);
    sample.tid = static_cast<std::uint32_t>(in.take(4));
    sample.cpu = static_cast<std::uint32_t>(in.take(4));
    sample.event = static_cast<std::uint32_t>(in.take(4));
    sample.stack = static_cast<StackId>(in.take(4));
  }
}

// A stream of events, each of which is a change. A code of one byte each, then its operand:
//   0-3 time goes on (operand of 1, 2, 4, 8 bytes), 4 cpu, 5 thread, 6 event kind,
//   8-11 sample: callstack id minus the thread's last one (1, 2, 3, 4 bytes, signed),
//   12 sample with the thread's last callstack.
// A cpu remembers its thread. The state starts afresh with each block.
struct EventState {
  std::uint64_t time = 0;
  std::uint32_t cpu = 0;
  std::uint32_t event = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> thread_of_cpu;
  std::unordered_map<std::uint32_t, StackId> stack_of_thread;
};
constexpr std::array<std::size_t, 4> kTimeWidths = {1, 2, 4, 8};

bool fits(std::int64_t value, std::size_t width) {
  const std::int64_t bound = std::int64_t{1} << (8 * width - 1);
  return value >= -bound && value < bound;
}

void put_code(Bytes& bytes, unsigned code) {
  bytes.push_back(static_cast<std::byte>(code));
}

void encode_events(std::span<const StoredSample> samples, Bytes& bytes) {
  EventState state;
  for (const StoredSample& sample : samples) {
    const std::uint64_t passed = sample.time_ns - state.time;
    if (passed != 0) {
      unsigned code = 0;
      while (code < 3 && (passed >> (8 * kTimeWidths[code])) != 0) {
        ++code;
      }
      put_code(bytes, code);
      put(bytes, passed, kTimeWidths[code]);
      state.time = sample.time_ns;
    }
    if (sample.cpu != state.cpu) {
      put_code(bytes, 4);
      put(bytes, sample.cpu);
      state.cpu = sample.cpu;
    }
    std::uint32_t& thread = state.thread_of_cpu[sample.cpu];
    if (thread != sample.tid) {
      put_code(bytes, 5);
      put(bytes, sample.tid);
      thread = sample.tid;
    }
    if (sample.event != state.event) {
      put_code(bytes, 6);
      put(bytes, sample.event, 1);
      state.event = sample.event;
    }
    StackId& last = state.stack_of_thread[sample.tid];
    const std::int64_t step = std::int64_t{sample.stack} - std::int64_t{last};
    if (step == 0) {
      put_code(bytes, 12);
    } else {
      std::size_t width = 1;
      while (width < 4 && !fits(step, width)) {
        ++width;
      }
      put_code(bytes, static_cast<unsigned>(7 + width));
      put(bytes, sample.stack - last, width);
    }
    last = sample.stack;
  }
}

StackId widen(std::uint64_t step, std::size_t width) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * width - 1);
  return static_cast<StackId>((step ^ sign) - sign);
}

void decode_events(const Bytes& bytes, std::vector<StoredSample>& samples) {
  EventState state;
  for (Cursor in(bytes); !in.done();) {
    const std::uint64_t code = in.take(1);
    if (code < 4) {
      state.time += in.take(kTimeWidths[code]);
    } else if (code == 4) {
      state.cpu = static_cast<std::uint32_t>(in.take(4));
    } else if (code == 5) {
      state.thread_of_cpu[state.cpu] = static_cast<std::uint32_t>(in.take(4));
    } else if (code == 6) {
      state.event = static_cast<std::uint32_t>(in.take(1));
    } else {
      StoredSample& sample = samples.emplace_back();
      sample.time_ns = state.time;
      sample.cpu = state.cpu;
      sample.event = state.event;
      sample.tid = state.thread_of_cpu[state.cpu];
      StackId& last = state.stack_of_thread[sample.tid];
      last += code == 12 ? 0 : widen(in.take(code - 7), static_cast<std::size_t>(code - 7));
      sample.stack = last;
    }
  }
}

struct Coding {
  const char* name;
  void (*encode)(std::span<const StoredSample>, Bytes&);
  void (*decode)(const Bytes&, std::vector<StoredSample>&);
  Times encoding;
  Times decoding;
  std::uint64_t raw = 0;
  std::uint64_t packed = 0;
};

struct Block {
  Bytes frame;
  std::size_t raw = 0;
};

bool run_coding(Coding& coding, const std::vector<StoredSample>& all) {
  const std::span<const StoredSample> samples(all);
  std::vector<Block> blocks;
  coding.raw = 0;
  coding.packed = 0;
  codec::ZstdCompressor zstd(kLevel);
  Bytes bytes;
  const ProcessStopwatch encoding;
  for (std::size_t begin = 0; begin < samples.size(); begin += kBlockSamples) {
    bytes.clear();
    coding.encode(samples.subspan(begin, std::min(kBlockSamples, samples.size() - begin)), bytes);
    Block& block = blocks.emplace_back();
    block.raw = bytes.size();
    if (!zstd.compress(bytes, block.frame)) {
      return false;
    }
    coding.raw += bytes.size();
    coding.packed += block.frame.size();
  }
  coding.encoding.add(encoding.nanoseconds());

  codec::ZstdDecompressor unzstd;
  std::vector<StoredSample> decoded;
  double decoding = 0;
  std::size_t at = 0;
  for (const Block& block : blocks) {
    const ProcessStopwatch watch;
    bytes.resize(block.raw);
    decoded.clear();
    if (!unzstd.decompress(block.frame, bytes)) {
      return false;
    }
    coding.decode(bytes, decoded);
    decoding += watch.nanoseconds();
    if (!std::equal(decoded.begin(), decoded.end(), samples.begin() + static_cast<long>(at),
                    samples.begin() + static_cast<long>(at + decoded.size()), same_fields)) {
      return false;
    }
    at += decoded.size();
  }
  coding.decoding.add(decoding);
  return at == samples.size();
}

bool run_ours(Coding& coding, const StoredInput& input) {
  const SpkFile file = write_file(input, kLevel, Samples::kWritten);
  if (file.bytes.empty()) {
    return false;
  }
  coding.encoding.add(file.samples_ns);
  coding.raw = file.raw_bytes("samples") + file.raw_bytes("sample_index");
  coding.packed = file.statistics.sample_stream_bytes;
  const auto reader = file.open(1);
  std::size_t at = 0;
  bool same = true;
  double comparing = 0;
  const ProcessStopwatch watch;
  const Status read = reader->samples({}, [&](std::span<const StoredSample> samples) {
    const ProcessStopwatch compare;
    same = same &&
           std::equal(samples.begin(), samples.end(), input.samples.begin() + static_cast<long>(at),
                      input.samples.begin() + static_cast<long>(at + samples.size()));
    at += samples.size();
    comparing += compare.nanoseconds();
    return same;
  });
  coding.decoding.add(watch.nanoseconds() - comparing);
  return read && same && at == input.samples.size();
}

}  // namespace

bool bench_samples(const Settings& settings) {
  const StoredInput& input = stored_input(settings);
  std::vector<Coding> codings = {
      {"rows of 24 bytes", encode_rows, decode_rows, {}, {}, 0, 0},
      {"delta events", encode_events, decode_events, {}, {}, 0, 0},
      {"ours", nullptr, nullptr, {}, {}, 0, 0},
  };
  for (unsigned round = 0; round < settings.repeat; ++round) {
    for (Coding& coding : codings) {
      const bool right =
          coding.encode == nullptr ? run_ours(coding, input) : run_coding(coding, input.samples);
      if (!right) {
        return false;
      }
    }
  }
  const auto samples = static_cast<double>(input.samples.size());
  std::printf("%-18s %10s %10s %11s %11s\n", "per sample", "raw B", "zstd B", "encode ns",
              "decode ns");
  for (const Coding& coding : codings) {
    std::printf("%-18s %10.2f %10.2f %11.1f %11.1f\n", coding.name,
                static_cast<double>(coding.raw) / samples,
                static_cast<double>(coding.packed) / samples, coding.encoding.least() / samples,
                coding.decoding.least() / samples);
  }
  std::printf("zstd level %d, its time included\n", kLevel);
  return true;
}

}  // namespace stackpack::bench
