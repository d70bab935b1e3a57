// A trace with every kind of kernel event that is kept, stored in testdata for the tests that
// compare all answers about a capture.
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/etl_reading.h"
#include "support/source_folder.h"

namespace stackpack::test {
namespace {

using Frames = EtlWriter::Frames;

/// Events of three processes with three threads each, one after the other.
class KernelTrace {
 public:
  KernelTrace(EtlWriter& out, unsigned pointer_size) : out_(out), pointer_size_(pointer_size) {}

  void write() {
    begin();
    for (turn_ = 0; turn_ < 40; ++turn_) {
      cpu_ = static_cast<std::uint16_t>(turn_ % 2);
      tid_ = 100 + turn_ % 9;
      pid_ = 40 + tid_ % 3;
      schedule();
      files();
      disk();
      memory();
      network();
    }
    end();
  }

 private:
  void begin() {
    for (std::uint32_t pid = 40; pid < 43; ++pid) {
      const std::string name = "app" + std::to_string(pid) + ".exe";
      out_.process(0, next(), 3, pid, 4, name, name + " --of C:\\Users\\alice\\work");
      out_.image(0, next(), 3, pid, 0x400000, 0x80000, "\\Device\\HarddiskVolume2\\" + name);
      out_.rsds(0, next(), pid, 0x400000, etl::Guid{}, pid, "C:\\build\\app.pdb");
    }
    for (std::uint32_t tid = 100; tid < 109; ++tid) {
      out_.thread(0, next(), 3, 40 + tid % 3, tid, "worker " + std::to_string(tid));
    }
    out_.volume(0, next(), "\\Device\\HarddiskVolume2\\", "C:\\");
    for (std::uint64_t file = 0; file < 5; ++file) {
      TestBytes name;
      out_.put_pointer(name, file_key(file));
      put_wide(name, "\\Device\\HarddiskVolume2\\data\\file" + std::to_string(file) + ".txt");
      add(4, file % 2 == 0 ? 0 : 32, 2, name);
    }
  }

  void end() {
    TestBytes name;
    out_.put_pointer(name, file_key(7));
    put_wide(name, "\\Device\\HarddiskVolume2\\late.txt");
    add(4, 36, 2, name);
    out_.image(0, next(), 2, 41, 0x400000, 0x80000, "\\Device\\HarddiskVolume2\\app41.exe");
    out_.thread(0, next(), 2, 41, 101, "worker 101");
    out_.process(0, next(), 2, 41, 4, "app41.exe", "app41.exe");
  }

  // The thread of this turn comes to its processor, is sampled, and wakes another.
  void schedule() {
    const std::uint32_t before = 100 + (turn_ + 7) % 9;
    TestBytes handover;
    handover.u32(tid_).u32(turn_ % 5 == 0 ? 0 : before).u32(0);
    handover.u8(static_cast<std::uint8_t>(turn_ % 41)).u8(turn_ % 2);
    handover.u8(static_cast<std::uint8_t>(1 + turn_ % 9)).u8(0).u32(0);
    out_.perf_info(cpu_, next(), 5, 36, 4, handover);
    stack();
    out_.sample(cpu_, next(), tid_, user_frame());
    stack();
    TestBytes ready;
    ready.u32(100 + (turn_ + 2) % 9).u8(1).u8(0).u8(turn_ % 3 == 0 ? 1 : 0).u8(0);
    add(5, 50, 2, ready);
  }

  void files() {
    const std::uint64_t request = 0x9000 + 16 * (turn_ % 11);
    TestBytes bytes;
    const std::uint8_t type = turn_ % 6 == 0 ? 64 : turn_ % 6 < 3 ? 67 : turn_ % 6 < 5 ? 68 : 73;
    if (type == 67 || type == 68) {
      bytes.u64(4096ULL * turn_);
    }
    out_.put_pointer(bytes, request);
    out_.put_pointer(bytes, 0xA000 + turn_ % 5);
    if (type != 64) {
      out_.put_pointer(bytes, file_key(turn_ % 8));
    }
    bytes.u32(tid_);
    bytes.u32(512 * (1 + turn_ % 4)).u32(turn_);
    if (type == 64) {
      bytes.u32(7);
      put_wide(bytes, "\\Device\\HarddiskVolume2\\made" + std::to_string(turn_ % 3));
    }
    add(4, type, 3, bytes);
    if (turn_ % 4 != 3) {  // one in four never ends
      TestBytes ended;
      out_.put_pointer(ended, request);
      out_.put_pointer(ended, 0);
      add(4, 76, 3, ended.u32(turn_ % 7 == 0 ? 0xC0000034U : 0));
    }
  }

  void disk() {
    const std::uint64_t request = 0xB000 + 16 * (turn_ % 3);
    const auto type = static_cast<std::uint8_t>(turn_ % 5 == 4 ? 14 : 10 + turn_ % 2);
    TestBytes begun;
    out_.put_pointer(begun, request);
    add(1, type == 14 ? 15 : static_cast<std::uint8_t>(type + 2), 3, begun.u32(tid_));
    TestBytes bytes;
    bytes.u32(turn_ % 2).u32(0);
    if (type == 14) {
      bytes.u64(700 + turn_);
      out_.put_pointer(bytes, request);
    } else {
      bytes.u32(8192 + turn_).u32(0).u64(65536ULL * turn_);
      out_.put_pointer(bytes, file_key(turn_ % 6));
      out_.put_pointer(bytes, request);
      bytes.u64(3000 + 17 * turn_);
    }
    add(1, type, 3, bytes.u32(tid_));
  }

  void memory() {
    TestBytes range;
    out_.put_pointer(range, 0x10000 + 0x1000 * (turn_ % 12));
    out_.put_pointer(range, 0x3000 + turn_ % 2);
    add(2, turn_ % 3 == 2 ? 99 : 98, 2, range.u32(pid_).u32(turn_ % 3 == 2 ? 0x8000 : 0x3000));
    TestBytes fault;
    fault.u64(clock_ > 900 ? clock_ - 900 : 0).u64(8192ULL * turn_);
    out_.put_pointer(fault, 0x70000 + turn_);
    out_.put_pointer(fault, file_key(turn_ % 5));
    add(2, 32, 2, fault.u32(tid_).u32(4096));
    TestBytes block;
    out_.put_pointer(block, 0xAA);
    const std::uint64_t address = 0x5000 + 0x100 * (turn_ % 9);
    if (turn_ % 4 == 3) {
      out_.put_pointer(block, address);
      add(16, 36, 2, block.u32(2));
      return;
    }
    if (turn_ % 4 == 2) {
      out_.put_pointer(block, address + 0x40);
      out_.put_pointer(block, address);
    }
    out_.put_pointer(block, 100 + turn_);
    out_.put_pointer(block, turn_ % 4 == 2 ? 60 : address);
    add(16, turn_ % 4 == 2 ? 34 : 33, 2, block.u32(2));
  }

  void network() {
    const bool wide = turn_ % 3 == 0;
    const bool received = turn_ % 2 == 0;
    TestBytes bytes;
    bytes.u32(pid_).u32(1400 + turn_).zeros(wide ? 32 : 8);
    bytes.u8(0x1F).u8(0x90).u8(static_cast<std::uint8_t>(turn_)).u8(0x50);
    const auto type = static_cast<std::uint8_t>((wide ? 26 : 10) + (received ? 1 : 0));
    add(turn_ % 4 == 0 ? 8 : 6, type, 2, bytes.zeros(16));
  }

  void add(std::uint8_t group, std::uint8_t type, std::uint8_t version, const TestBytes& payload) {
    out_.system(cpu_, next(), group, type, version, tid_, pid_, payload);
    stack();
  }

  void stack() {
    const std::uint64_t event = clock_;
    const std::uint64_t high = pointer_size_ == 4 ? 0x80000000 : 0xFFFFF80080000000;
    if (turn_ % 3 != 1) {
      out_.stack(cpu_, next(), event, pid_, tid_, {high + 0x1000 + turn_ % 13, high + 0x2000});
    }
    out_.stack(cpu_, next(), event, pid_, tid_, {user_frame(), 0x411000 + turn_ % 3, 0x410000});
  }

  std::uint64_t next() { return clock_ += 37; }
  std::uint64_t user_frame() const { return 0x412000 + 16 * (turn_ % 17); }
  static std::uint64_t file_key(std::uint64_t file) { return 0xC000 + 64 * file; }

  EtlWriter& out_;
  unsigned pointer_size_;
  std::uint64_t clock_ = 2'000'000;
  std::uint16_t cpu_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t tid_ = 100;
  std::uint32_t pid_ = 40;
};

}  // namespace

// With STACKPACK_REWRITE_TESTDATA set, they are made anew.
TEST_CASE("the stored files of kernel events are what the writer makes, and lose nothing") {
  for (const unsigned pointer_size : {4U, 8U}) {
    CAPTURE(pointer_size);
    EtlOptions options;
    options.pointer_size = pointer_size;
    options.buffer_size = 4096;
    const auto made =
        make_etl(options, [&](EtlWriter& out) { KernelTrace(out, pointer_size).write(); });
    const std::string path =
        source_folder() + "/testdata/kernel.x" + (pointer_size == 4 ? "86" : "64") + ".etl";
    if (std::getenv("STACKPACK_REWRITE_TESTDATA") != nullptr) {
      const std::vector<char> text(reinterpret_cast<const char*>(made.data()),  // NOLINT: for it
                                   reinterpret_cast<const char*>(made.data()) + made.size());
      std::ofstream(path, std::ios::binary)
          .write(text.data(), static_cast<std::streamsize>(text.size()));
    }
    const auto stored = read_test_file(path);
    CHECK(stored == made);
    const auto reading = read_etl(stored);
    REQUIRE_FALSE(reading->failed);
    CHECK(reading->summary.samples_with_stack >= 40);
    CHECK_FALSE(reading->sink.counters.any_loss());
  }
}

}  // namespace stackpack::test
