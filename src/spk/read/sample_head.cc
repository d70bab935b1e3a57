#include "spk/read/sample_head.h"

#include <algorithm>

#include "spk/format/column_codec.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

bool all_fit_ids(const std::vector<std::uint64_t>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](std::uint64_t value) { return value <= kMax32; });
}

}  // namespace

Status decode_sample_head(bytes::ByteCursor in, std::uint32_t samples, SampleHead& head) {
  const std::uint64_t count = read_varint(in);
  const std::uint64_t threads = read_varint(in);
  if (!in.ok() || count != samples || threads == 0 || threads > count) {
    return in.corrupt("spk: samples: head");
  }
  head.samples = samples;
  head.threads.clear();
  std::vector<std::uint64_t> pids;
  std::vector<std::uint64_t> tids;
  read_column(in, static_cast<std::size_t>(threads), pids);
  read_column(in, static_cast<std::size_t>(threads), tids);
  if (!in.ok() || in.remaining() != 0 || !all_fit_ids(pids) || !all_fit_ids(tids)) {
    return in.corrupt("spk: samples: threads");
  }
  std::uint64_t pid = 0;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    pid += pids[i];
    const ThreadKey thread{static_cast<std::uint32_t>(pid), static_cast<std::uint32_t>(tids[i])};
    if (pid > kMax32 || (i > 0 && thread <= head.threads.back())) {
      return in.corrupt("spk: samples: threads do not ascend");
    }
    head.threads.push_back(thread);
  }
  return {};
}

}  // namespace stackpack::spk
