// The input is what follows the header of a pipe; its first byte gives the byte order and the size
// of the steps in which it arrives. It must read the same in one piece and in steps.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/perf_fuzz_sink.h"

namespace stackpack::fuzz {

void perf_pipe(std::span<const std::byte> data);

namespace {

class SteppedSource final : public io::ByteSource {
 public:
  SteppedSource(std::span<const std::byte> bytes, std::size_t step) : rest_(bytes), step_(step) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    const std::size_t count = std::min({into.size(), rest_.size(), step_});
    std::copy_n(rest_.begin(), count, into.begin());
    rest_ = rest_.subspan(count);
    return count;
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> /*into*/) override {
    return Error{ErrorCode::kUnsupported, offset, "not seekable"};
  }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  std::span<const std::byte> rest_;
  std::size_t step_;
};

constexpr unsigned char kLittleHeader[] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2',
                                           16,  0,   0,   0,   0,   0,   0,   0};
constexpr unsigned char kBigHeader[] = {'2', 'E', 'L', 'I', 'F', 'R', 'E', 'P',
                                        0,   0,   0,   0,   0,   0,   0,   16};

}  // namespace

void perf_pipe(std::span<const std::byte> data) {
  if (data.empty()) {
    return;
  }
  const auto choice = static_cast<unsigned>(data.front());
  const auto header = std::as_bytes(std::span((choice & 1) != 0 ? kBigHeader : kLittleHeader));
  std::vector<std::byte> capture(header.begin(), header.end());
  capture.insert(capture.end(), data.begin() + 1, data.end());

  PerfFuzzSink whole;
  read_perf(io::source_of_memory(capture), capture.size(), whole);
  PerfFuzzSink stepped;
  read_perf(std::make_unique<SteppedSource>(capture, 1 + (choice >> 1) * 97), capture.size(),
            stepped);
  require(whole.samples == stepped.samples);
  require(whole.digest == stepped.digest);
}

}  // namespace stackpack::fuzz
