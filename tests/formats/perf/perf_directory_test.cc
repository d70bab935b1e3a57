// Captures that are directories: `perf record --threads`.
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "formats/perf/perf_source.h"
#include "perf_outcome.h"
#include "support/named_pipe.h"
#include "support/perf_writer.h"
#include "support/temporary_folder.h"

using namespace stackpack;
using test::kContextUser;
using test::PerfWriter;

namespace fs = std::filesystem;

namespace {

const PerfWriter kPartWriter;

void write_part(const test::ScratchDirectory& folder, const char* name,
                const std::vector<std::byte>& bytes) {
  std::ofstream file(folder.file(name), std::ios::binary);
  for (const std::byte byte : bytes) {
    file.put(static_cast<char>(byte));
  }
}

std::vector<std::byte> part_sample(std::uint64_t time, std::uint64_t address) {
  return kPartWriter.sample(1, 1, time, {kContextUser, address}).bytes;
}

// What open_directory says of a folder in which `make` has made the file at the path it is given.
template <typename Make>
Error refusal(const char* name, Make make) {
  const test::ScratchDirectory folder;
  if (std::string_view(name) != "data") {
    write_part(folder, "data", kPartWriter.file({test::TestAttr{}}, {}));
  }
  make(folder.file(name));
  const auto input = perf::open_directory(folder.file(""));
  REQUIRE_FALSE(input.has_value());
  return input.error();
}

}  // namespace

TEST_CASE("perf directory: the parts are read in the order of their numbers") {
  const test::ScratchDirectory folder;
  CHECK(perf::open_directory(folder.file("")).error().code == ErrorCode::kNotFound);
  write_part(folder, "data", kPartWriter.file({test::TestAttr{}}, {}));
  write_part(folder, "data.10", part_sample(3, 0x10));
  write_part(folder, "data.2", part_sample(9, 0x2));
  write_part(folder, "data.0", {});
  for (const char* other : {"data.old", "data.1x", "data.", "data.00", "data.02", "data.-1",
                            "data.4294967296", "xdata.1"}) {
    write_part(folder, other, part_sample(1, 0x3));
  }
  auto input = perf::open_directory(folder.file(""));
  REQUIRE(input.has_value());
  REQUIRE(input->parts.size() == 3);
  CHECK(input->parts[2].number == 10);
  const auto outcome = test::read_perf(*input);
  REQUIRE(outcome.sink->rows.size() == 2);
  CHECK(outcome.sink->rows[0].stack == "u2");
  CHECK(outcome.sink->rows[1].stack == "u10");
  CHECK(outcome.balanced());
}

// The perf tool reads 2 MiB of a file at a time, and the record with which that is full.
TEST_CASE("perf directory: without times, the files are read in turns") {
  constexpr std::uint64_t kEntries = 8000;  // of a callchain: 33 samples are more than 2 MiB
  const auto samples = [](std::uint64_t address, int count) {
    std::vector<std::uint64_t> chain(kEntries, address);
    chain.front() = kContextUser;
    test::TestBytes payload;
    payload.u64(address).u32(1).u32(1).u64(chain.size());
    for (const std::uint64_t entry : chain) {
      payload.u64(entry);
    }
    test::TestBytes all;
    for (int i = 0; i < count; ++i) {
      all.append(kPartWriter.record(perf::RecordType::kSample, 2, payload).bytes);
    }
    return all;
  };
  const test::ScratchDirectory folder;
  test::TestAttr attr;
  attr.sample_type &= ~perf::sample_bit::kTime;
  write_part(folder, "data", kPartWriter.file({attr}, {samples(0x9, 2)}));
  write_part(folder, "data.0", samples(0xa, 40).bytes);
  write_part(folder, "data.1", {});
  write_part(folder, "data.2", samples(0xb, 33).bytes);
  write_part(folder, "data.3", samples(0xc, 80).bytes);
  auto input = perf::open_directory(folder.file(""));
  REQUIRE(input.has_value());
  const auto outcome = test::read_perf(*input);
  REQUIRE(outcome.status.has_value());
  CHECK(outcome.balanced());
  std::vector<std::pair<char, int>> runs;
  for (const auto& row : outcome.sink->rows) {
    if (runs.empty() || runs.back().first != row.stack.back()) {
      runs.push_back({row.stack.back(), 0});
    }
    ++runs.back().second;
  }
  const std::vector<std::pair<char, int>> expected{{'9', 2},  {'a', 33}, {'b', 33},
                                                   {'c', 33}, {'a', 7},  {'c', 47}};
  CHECK(runs == expected);
}

TEST_CASE("perf directory: what is no file is refused, and nobody waits for it") {
  for (const char* name : {"data", "data.3"}) {
    CAPTURE(name);
    const Error fifo =
        refusal(name, [](const std::string& path) { REQUIRE(test::make_named_pipe(path)); });
    CHECK(fifo.code == ErrorCode::kUnsupported);
    const Error directory =
        refusal(name, [](const std::string& path) { fs::create_directory(path); });
    CHECK(directory.code == ErrorCode::kUnsupported);
    const Error device =
        refusal(name, [](const std::string& path) { fs::create_symlink("/dev/zero", path); });
    CHECK(device.code == ErrorCode::kUnsupported);
    const Error loop =
        refusal(name, [name](const std::string& path) { fs::create_symlink(name, path); });
    CHECK(loop.code == ErrorCode::kIo);
    CHECK(loop.os_error == ELOOP);
    for (const Error& error : {fifo, directory, device, loop}) {
      CHECK(error.part == (std::string_view(name) == "data" ? Error{}.part : 3U));
    }
  }
  const Error gone =
      refusal("data", [](const std::string& path) { fs::create_symlink("nowhere", path); });
  CHECK(gone.code == ErrorCode::kNotFound);
}

TEST_CASE("perf directory: an error while a part is read names the part") {
  const test::ScratchDirectory folder;
  write_part(folder, "data", kPartWriter.file({test::TestAttr{}}, {}));
  write_part(folder, "data.0", part_sample(1, 0x1));
  write_part(folder, "data.7", part_sample(2, 0x2));
  auto input = perf::open_directory(folder.file(""));
  REQUIRE(input.has_value());
  REQUIRE(input->parts.size() == 2);
  fs::remove(folder.file("data.7"));
  const auto outcome = test::read_perf(*input);
  REQUIRE_FALSE(outcome.status.has_value());
  CHECK(outcome.status.error().part == 7);
  CHECK(outcome.status.error().code == ErrorCode::kNotFound);
  CHECK(outcome.sink->rows.size() == 1);
}

TEST_CASE("perf directory: progress counts the files before a part") {
  const test::ScratchDirectory folder;
  const auto main = kPartWriter.file({test::TestAttr{}}, {});
  write_part(folder, "data", main);
  const auto part = part_sample(1, 0x1);
  write_part(folder, "data.0", part);
  write_part(folder, "data.1", part);
  auto input = perf::open_directory(folder.file(""));
  REQUIRE(input.has_value());
  std::atomic<std::uint64_t> done{0};
  perf::ReadOptions options;
  options.control.bytes_done = &done;
  const auto outcome = test::read_perf(*input, options);
  REQUIRE(outcome.status.has_value());
  CHECK(done.load() >= main.size() + part.size());
  CHECK(done.load() <= main.size() + 2 * part.size());
}

TEST_CASE("perf directory: a part is read from start to end, or at an offset") {
  const test::ScratchDirectory folder;
  write_part(folder, "data", kPartWriter.file({test::TestAttr{}}, {}));
  write_part(folder, "data.5", test::TestBytes().text("0123456789").bytes);
  const auto input = perf::open_directory(folder.file(""));
  REQUIRE(input.has_value());
  REQUIRE(input->parts.size() == 1);
  io::ByteSource& part = *input->parts[0].source;
  CHECK(part.seekable());
  CHECK(part.size() == 10);
  std::vector<std::byte> bytes(6);
  CHECK(part.read(bytes).value() == 6);
  CHECK(bytes[5] == std::byte{'5'});
  CHECK(part.read(bytes).value() == 4);
  CHECK(bytes[3] == std::byte{'9'});
  CHECK(part.read(bytes).value() == 0);
  CHECK(part.read_at(2, bytes).value() == 6);
  CHECK(bytes[0] == std::byte{'2'});
  fs::remove(folder.file("data.5"));
  CHECK_FALSE(part.read(bytes).has_value());
}
