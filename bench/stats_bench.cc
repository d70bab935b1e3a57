// Benchmark "stats": open a file and read its statistics, from the system's cache and after the
// file was dropped from it. With --spk that file, else one made of the input.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "benchmarks.h"
#include "stopwatch.h"
#include "stored_input.h"

namespace stackpack::bench {
namespace {

bool open_once(const std::string& path, std::uint64_t samples, Times& times) {
  const WallStopwatch watch;
  const auto reader = Reader::open(path);
  const bool right = reader && (samples == 0 || (*reader)->statistics().samples.total == samples);
  times.add(watch.nanoseconds());
  return right;
}

// Asks the system to forget the file's pages.
void drop(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ::fsync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

bool measure(const std::string& path, std::uint64_t samples, unsigned repeat) {
  Times warm;
  Times cold;
  for (unsigned round = 0; round < 10 * repeat; ++round) {
    drop(path);
    if (!open_once(path, samples, cold) || !open_once(path, samples, warm)) {
      return false;
    }
  }
  std::printf("file of %.1f MB: warm %.3f ms (median %.3f), dropped %.3f ms (median %.3f), wall\n",
              static_cast<double>(std::filesystem::file_size(path)) * 1e-6, warm.least() * 1e-6,
              warm.median() * 1e-6, cold.least() * 1e-6, cold.median() * 1e-6);
  return true;
}

}  // namespace

bool bench_stats(const Settings& settings) {
  if (!settings.spk_path.empty()) {
    return measure(settings.spk_path, 0, settings.repeat);
  }
  const SpkFile file =
      write_file(stored_input(settings), spk::WriterOptions{}.level, Samples::kWritten);
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("stackpack-stats-" + std::to_string(::getpid()) + ".spk"))
                               .string();
  std::ofstream out(path, std::ios::binary);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): that is how streams write bytes
  out.write(reinterpret_cast<const char*>(file.bytes.data()),
            static_cast<std::streamsize>(file.bytes.size()));
  out.close();
  const bool right = !file.bytes.empty() && measure(path, 0, settings.repeat);
  std::filesystem::remove(path);
  return right;
}

}  // namespace stackpack::bench
