// Records a program with the kernel's own callchain (by frame pointers) and with registers and a
// dump of the stack in the same sample: on a program that keeps frame pointers everywhere, the
// chain is what unwinding the dump must give.
//
//   chain_recorder OUT.data HERTZ DUMP_BYTES PROGRAM...
//
// Exit status 77: this machine does not allow it.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t kRingBytes = std::size_t{8} << 20;
constexpr int kSkipped = 77;

struct Ring {
  perf_event_mmap_page* page = nullptr;
  const unsigned char* data = nullptr;
  std::uint64_t id = 0;
  int descriptor = -1;
};

perf_event_attr attributes(unsigned hertz, unsigned dump_bytes) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.freq = 1;
  attr.sample_freq = hertz;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
                     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = 0xFF0FFF;  // all general registers of x86-64
  attr.sample_stack_user = dump_bytes;
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.sample_id_all = 1;
  attr.build_id = 1;
  attr.watermark = 1;
  attr.wakeup_watermark = 1U << 20;
  return attr;
}

Ring open_ring(perf_event_attr& attr, pid_t pid, int cpu) {
  Ring ring;
  ring.descriptor =
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
  if (ring.descriptor < 0) {
    std::perror("perf_event_open");
    std::exit(kSkipped);
  }
  void* const memory =
      ::mmap(nullptr, kRingBytes + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring.descriptor, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::exit(kSkipped);
  }
  ring.page = static_cast<perf_event_mmap_page*>(memory);
  ring.data = static_cast<const unsigned char*>(memory) + 4096;
  ::ioctl(ring.descriptor, PERF_EVENT_IOC_ID, &ring.id);
  return ring;
}

std::uint64_t drain(std::vector<Ring>& rings, std::FILE* out) {
  std::uint64_t written = 0;
  for (Ring& ring : rings) {
    const std::uint64_t head = __atomic_load_n(&ring.page->data_head, __ATOMIC_ACQUIRE);
    std::uint64_t tail = ring.page->data_tail;
    while (tail < head) {
      const std::uint64_t at = tail % kRingBytes;
      const std::uint64_t size = head - tail < kRingBytes - at ? head - tail : kRingBytes - at;
      written += std::fwrite(ring.data + at, 1, size, out);
      tail += size;
    }
    __atomic_store_n(&ring.page->data_tail, tail, __ATOMIC_RELEASE);
  }
  return written;
}

struct FileHead {
  char magic[8];
  std::uint64_t size, attr_size, attrs_at, attrs_size, data_at, data_size, types_at, types_size;
  std::uint64_t features[4];
};

void write_head(std::FILE* out, const perf_event_attr& attr, const std::vector<Ring>& rings,
                std::uint64_t data_bytes) {
  FileHead head{};
  std::memcpy(head.magic, "PERFILE2", sizeof head.magic);
  head.size = sizeof head;
  head.attr_size = sizeof attr + 16;
  head.attrs_at = sizeof head + rings.size() * 8;
  head.attrs_size = head.attr_size;
  head.data_at = head.attrs_at + head.attrs_size;
  head.data_size = data_bytes;
  std::rewind(out);
  std::fwrite(&head, sizeof head, 1, out);
  for (const Ring& ring : rings) {
    std::fwrite(&ring.id, sizeof ring.id, 1, out);
  }
  const std::uint64_t ids[2] = {sizeof head, rings.size() * 8};
  std::fwrite(&attr, sizeof attr, 1, out);
  std::fwrite(ids, sizeof ids, 1, out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("chain_recorder OUT.data HERTZ DUMP_BYTES PROGRAM...\n", stderr);
    return 1;
  }
  int start[2];
  if (::pipe(start) != 0) {
    return 1;
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    char byte = 0;
    ::close(start[1]);
    if (::read(start[0], &byte, 1) == 1) {
      ::execv(argv[4], argv + 4);
    }
    ::_exit(127);
  }
  ::close(start[0]);
  perf_event_attr attr = attributes(static_cast<unsigned>(std::atoi(argv[2])),
                                    static_cast<unsigned>(std::atoi(argv[3])));
  std::vector<Ring> rings;
  std::vector<pollfd> polled;
  for (int cpu = 0; cpu < static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)); ++cpu) {
    rings.push_back(open_ring(attr, pid, cpu));
    polled.push_back({rings.back().descriptor, POLLIN, 0});
  }
  std::FILE* const out = std::fopen(argv[1], "wb");
  if (out == nullptr) {
    return 1;
  }
  write_head(out, attr, rings, 0);
  std::uint64_t bytes = 0;
  int status = 0;
  if (::write(start[1], "x", 1) != 1) {
    return 1;
  }
  do {
    ::poll(polled.data(), polled.size(), 20);
    bytes += drain(rings, out);
  } while (::waitpid(pid, &status, WNOHANG) == 0);
  bytes += drain(rings, out);
  write_head(out, attr, rings, bytes);
  return std::fclose(out) == 0 && status == 0 ? 0 : 1;
}
