// Writes traces that name more of something than any real one: write_etl_floods NAME FILE.
// Without arguments: lists the names.
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "support/etl_writer.h"

namespace stackpack::test {
namespace {

using Frames = EtlWriter::Frames;

constexpr std::uint64_t kKernel = 0xFFFFF80000000000;
constexpr std::uint64_t kUser = 0x7FF600000000;
constexpr etl::Guid kProvider = etl::make_guid(0x11111111, 0x2222, 0x3333, 0x4444, 0x555555555555);
constexpr std::uint32_t kSystem = 4;  // a process whose threads have no user halves

std::uint64_t clock_of(std::uint64_t event) {
  return 2'000'000 + 10 * event;
}

// Keys that are never defined, in each of the three spaces.
void open_keys(EtlWriter& out) {
  constexpr std::uint64_t kKeys = 500'000;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const std::uint64_t clock = clock_of(3 * i);
    out.key_reference(0, clock, clock, kSystem, 7, i, true);
    out.key_reference(0, clock + 1, clock, 5, 8, i, false);
    out.provider(0, clock + 2, kProvider, 12, 1, 0, 7, 5, TestBytes(), {out.key_item(0, i)});
  }
}

// Few keys, but each kernel key with each user key; in the end they are defined.
void pairs(EtlWriter& out) {
  constexpr std::uint64_t kKeys = 1'100;
  std::uint64_t clock = clock_of(0);
  for (std::uint64_t kernel = 0; kernel < kKeys; ++kernel) {
    for (std::uint64_t user = 0; user < kKeys; ++user, clock += 10) {
      out.key_reference(0, clock + 1, clock, 5, 7, kernel, true);
      out.key_reference(0, clock + 2, clock, 5, 7, user, false);
    }
  }
  for (std::uint64_t key = 0; key < kKeys; ++key, clock += 10) {
    out.key_definition(0, clock, key, {kKernel + key});
    if (key % 8 == 0) {
      out.key_definition(0, clock + 1, key, {kUser + key});
    }
  }
}

// Kernel halves that are known and wait for user halves that are not.
void defined_halves(EtlWriter& out) {
  constexpr std::uint64_t kKeys = 150'000;
  Frames frames(100, kKernel + 1);
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const std::uint64_t clock = clock_of(i);
    out.key_reference(0, clock, clock, 5, 7, i, true);
    out.key_reference(0, clock + 1, clock, 5, 7, 99, false);
    frames[0] = kKernel + i % 5000;
    out.key_definition(0, clock + 2, i, frames);
  }
}

// Kernel halves with frames, of a few threads that never leave the kernel.
void deep_halves(EtlWriter& out) {
  Frames frames(1'000, kKernel + 1);
  for (std::uint64_t i = 0; i < 15'000; ++i) {
    frames[0] = kKernel + i % 5000;
    out.stack(0, clock_of(i), clock_of(i), 5, static_cast<std::uint32_t>(10 + i % 20), frames);
  }
}

// A kernel half that waits in each of many threads, and they are named by Thread events, too.
void threads(EtlWriter& out) {
  constexpr std::uint32_t kThreads = 1'000'000;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    const std::uint64_t clock = clock_of(i);
    out.thread(0, clock, 1, 5 + i % 1000, 100 + i);
    out.stack(0, clock + 1, clock, 5, 100 + i, {kKernel + i % 100});
  }
}

// Halves under match ids whose counterpart never comes.
void matches(EtlWriter& out) {
  for (std::uint32_t i = 0; i < 700'000; ++i) {
    out.provider(0, clock_of(i), kProvider, 12, 1, 0, 7, 5, TestBytes(),
                 {i % 2 == 0 ? out.stack_item(1 + i, {kUser + i % 50}) : out.key_item(1 + i, i)});
  }
}

void images(EtlWriter& out) {
  const std::string folder = "\\Device\\HarddiskVolume1\\" + std::string(100, 'f') + "\\";
  for (std::uint32_t i = 0; i < 300'000; ++i) {
    out.process(0, clock_of(i), 1, 1000 + i, 4, "p.exe", "p.exe");
    out.image(0, clock_of(i) + 1, 10, 1000 + i, kUser + (std::uint64_t{i} << 16), 4096,
              folder + std::to_string(i) + ".dll");
  }
}

// As many processors as there can be, each with several buffers.
void many_processors(EtlWriter& out) {
  for (std::uint32_t lap = 0; lap < 3; ++lap) {
    for (std::uint32_t i = 0; i < 65'536; ++i) {
      const auto processor = static_cast<std::uint16_t>(i);
      for (std::uint32_t event = 0; event < 12; ++event) {
        out.sample(processor, clock_of(lap * 20 + event), 7, kUser + i % 100);
      }
      out.flush(processor);
    }
  }
}

// A machine of many processors with large buffers.
void large_buffers(EtlWriter& out) {
  for (std::uint32_t event = 0; event < 50'000; ++event) {
    for (std::uint16_t processor = 0; processor < 128; ++processor) {
      out.sample(processor, clock_of(event), 7, kUser + event % 100);
    }
  }
}

// Buffers that are nothing but headers, after the others.
void append_small_buffers(std::ostream& out) {
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    TestBytes head;
    head.u32(72).u32(72).u32(72).u32(0).u64(0).u64(1000 + i).u64(0);
    head.u16(static_cast<std::uint16_t>(i % 4)).u16(0).u32(0).u32(72).u16(0x20).u16(0).zeros(16);
    for (const std::byte byte : head.bytes) {
      out.put(static_cast<char>(byte));
    }
  }
}

// Threads, keys, pairs, halves with frames and matches on many processors with large buffers.
void everything(EtlWriter& out) {
  Frames frames(300, kKernel + 1);
  for (std::uint32_t i = 0; i < 250'000; ++i) {
    const std::uint64_t clock = clock_of(i);
    const auto processor = static_cast<std::uint16_t>(i % 64);
    const std::uint32_t tid = 100 + i;
    frames[0] = kKernel + i;
    if (i % 8 == 0) {
      out.stack(processor, clock + 1, clock, 5, tid, frames);
    } else {
      out.key_reference(processor, clock + 1, clock, 5, tid, i, true);
    }
    out.key_reference(processor, clock + 2, clock, 5, tid, i % 5000, false);
    out.provider(processor, clock + 3, kProvider, 12, 1, 0, 7, 5, TestBytes(),
                 {out.stack_item(1 + i, {kUser + i % 50})});
    out.sample(processor, clock + 5, tid, kUser + i);
  }
}

void method(EtlWriter& out, std::uint64_t number, std::uint64_t start, std::uint32_t size) {
  constexpr etl::Guid kRuntime = etl::make_guid(0xe13c0d23, 0xccbc, 0x4e12, 0x931b, 0xd9cc2eee27e4);
  TestBytes payload;
  payload.u64(number).u64(9).u64(start).u32(size).u32(0x06000001).u32(8);
  put_wide(payload, "Space.Class");
  put_wide(payload, "method" + std::to_string(number));
  put_wide(payload, "void (int32)");
  payload.u16(9);
  out.provider(0, clock_of(number), kRuntime, 143, 37, 1, 7, 5, payload);
}

// Methods, some of which occur in callstacks.
void methods(EtlWriter& out) {
  constexpr std::uint64_t kMethods = 1'000'000;
  for (std::uint64_t i = 0; i < kMethods; ++i) {
    method(out, i, kUser + 0x100 * i, 0x100);
    if (i % 20 == 0) {
      const std::uint64_t clock = clock_of(i) + 1;
      out.sample(0, clock, 7, kUser + 0x100 * i);
      out.stack(0, clock + 1, clock, 5, 7, {kUser + 0x100 * i, kUser + 0x80 * i});
    }
  }
}

// Methods that take each other's bytes: the same ones, and such that reach over many others.
void methods_over_methods(EtlWriter& out) {
  constexpr std::uint64_t kMethods = 400'000;
  for (std::uint64_t i = 0; i < kMethods; ++i) {
    method(out, i, i % 2 == 0 ? kUser : kUser + 0x10 * i, i % 2 == 0 ? 0x10 : 0x7000'0000);
    if (i % 1000 == 0) {
      const std::uint64_t clock = clock_of(i) + 1;
      out.sample(0, clock, 7, kUser);
      out.stack(0, clock + 1, clock, 5, 7, {kUser, kUser + 0x10 * i});
    }
  }
}

struct Flood {
  std::string_view name;
  std::function<void(EtlWriter&)> write;
  std::uint32_t buffer_size = 65536;
  std::function<void(std::ostream&)> append = nullptr;
};

const std::vector<Flood>& floods() {
  static const std::vector<Flood> all = {
      {"open-keys", open_keys},
      {"pairs", pairs},
      {"defined-halves", defined_halves},
      {"deep-halves", deep_halves},
      {"threads", threads},
      {"matches", matches},
      {"images", images},
      {"methods", methods},
      {"methods-over-methods", methods_over_methods},
      {"small-buffers", [](EtlWriter& out) { out.sample(0, clock_of(0), 7, kUser); }, 65536,
       append_small_buffers},
      {"many-processors", many_processors, 512},
      {"large-buffers", large_buffers, 1 << 20},
      {"everything", everything, 1 << 20},
  };
  return all;
}

int run(const std::vector<std::string>& arguments) {
  for (const Flood& flood : floods()) {
    if (arguments.empty()) {
      std::cout << flood.name << '\n';
    } else if (arguments.size() == 2 && arguments[0] == flood.name) {
      std::ofstream file(arguments[1], std::ios::binary);
      EtlOptions options;
      options.buffer_size = flood.buffer_size;
      EtlWriter writer(file, options);
      flood.write(writer);
      writer.finish();
      if (flood.append) {
        flood.append(file);
      }
      file.close();
      return file ? 0 : 1;
    }
  }
  return arguments.empty() ? 0 : 2;
}

}  // namespace
}  // namespace stackpack::test

int main(int argc, char** argv) {
  return stackpack::test::run({argv + 1, argv + argc});
}
