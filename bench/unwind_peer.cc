// Unwinds the dumps of a perf.data file by libunwind, for comparisons: unwind_peer CAPTURE
//   g++ -O2 -std=c++20 unwind_peer.cc -lunwind-x86_64 -lunwind -o unwind_peer
// Prints time, thread and the return addresses of each sample. x86-64, one process and its execs,
// images at the paths that were recorded: a tool for captures that one made oneself.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <libunwind-x86_64.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t*,
                                                  unw_proc_info_t*, int, void*);

namespace {

struct Image {
  const std::uint8_t* bytes = nullptr;
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;  // of .eh_frame_hdr
  std::uint64_t header_address = 0;
  std::vector<Elf64_Phdr> loads;
};

struct Mapping {
  std::uint64_t begin = 0, end = 0, offset = 0;
  std::string path;
};

struct Dump {
  std::uint64_t registers[24] = {};
  std::uint64_t sp = 0;
  const std::uint8_t* stack = nullptr;
  std::uint64_t size = 0;
};

std::map<std::uint32_t, std::map<std::uint64_t, Mapping>> g_maps;  // by pid, begin
std::map<std::string, Image> g_images;
std::uint32_t g_pid = 0;
Dump g_dump;

template <typename T>
T at(const std::uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

Image& image_of(const std::string& path) {
  const auto [entry, fresh] = g_images.try_emplace(path);
  Image& image = entry->second;
  const int file = fresh ? ::open(path.c_str(), O_RDONLY) : -1;
  struct stat status {};
  if (file < 0 || ::fstat(file, &status) != 0 || status.st_size < 64) {
    return image;
  }
  image.size = static_cast<std::uint64_t>(status.st_size);
  image.bytes = static_cast<const std::uint8_t*>(
      ::mmap(nullptr, image.size, PROT_READ, MAP_PRIVATE, file, 0));
  ::close(file);
  const auto header = at<Elf64_Ehdr>(image.bytes);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment =
        at<Elf64_Phdr>(image.bytes + header.e_phoff + i * std::uint64_t{header.e_phentsize});
    if (segment.p_type == PT_LOAD) {
      image.loads.push_back(segment);
    } else if (segment.p_type == PT_GNU_EH_FRAME) {
      image.header_offset = segment.p_offset;
      image.header_address = segment.p_vaddr;
    }
  }
  return image;
}

const Mapping* mapping_of(std::uint64_t address) {
  const auto& maps = g_maps[g_pid];
  auto after = maps.upper_bound(address);
  if (after == maps.begin()) {
    return nullptr;
  }
  const Mapping& mapping = std::prev(after)->second;
  return address < mapping.end ? &mapping : nullptr;
}

// Where the image's addresses are in the process, minus where they are in the file.
bool bias_of(const Mapping& mapping, const Image& image, std::uint64_t& bias) {
  for (const Elf64_Phdr& load : image.loads) {
    if ((load.p_flags & PF_X) != 0 && mapping.offset <= load.p_offset + load.p_filesz &&
        load.p_offset < mapping.offset + (mapping.end - mapping.begin)) {
      bias = mapping.begin - mapping.offset + load.p_offset - load.p_vaddr;
      return true;
    }
  }
  return false;
}

int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* info, int need,
                   void* argument) {
  const Mapping* const mapping = mapping_of(ip);
  if (mapping == nullptr) {
    return -UNW_ENOINFO;
  }
  const Image& image = image_of(mapping->path);
  std::uint64_t bias = 0;
  if (image.header_offset == 0 || !bias_of(*mapping, image, bias)) {
    return -UNW_ENOINFO;
  }
  const std::uint8_t* const header = image.bytes + image.header_offset;
  if (header[3] != 0x3B) {
    return -UNW_ENOINFO;
  }
  unw_dyn_info_t table{};
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.start_ip = mapping->begin;
  table.end_ip = mapping->end;
  table.u.rti.segbase = image.header_address + bias;
  table.u.rti.table_data = image.header_address + bias + 12;
  table.u.rti.table_len = at<std::uint32_t>(header + 8) * 8 / sizeof(unw_word_t);
  return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &table, info, need, argument);
}

int access_memory(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void*) {
  if (write != 0) {
    return -UNW_EINVAL;
  }
  if (address >= g_dump.sp && address - g_dump.sp + 8 <= g_dump.size) {
    *value = at<std::uint64_t>(g_dump.stack + (address - g_dump.sp));
    return 0;
  }
  // Tables are read through the address space of the process, of all segments of the image.
  for (const auto& [begin, mapping] : g_maps[g_pid]) {
    const Image& image = image_of(mapping.path);
    std::uint64_t bias = 0;
    if (!bias_of(mapping, image, bias)) {
      continue;
    }
    for (const Elf64_Phdr& load : image.loads) {
      const std::uint64_t inside = address - bias - load.p_vaddr;
      if (inside < load.p_filesz && load.p_filesz - inside >= 8) {
        *value = at<std::uint64_t>(image.bytes + load.p_offset + inside);
        return 0;
      }
    }
  }
  return -UNW_EINVAL;
}

// perf's order of registers: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8-r15.
int access_register(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void*) {
  constexpr int kPerf[17] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
  if (write != 0 || number < 0 || number > 16) {
    return -UNW_EBADREG;
  }
  *value = g_dump.registers[kPerf[number]];
  return 0;
}

void read_sample(const std::uint8_t* p, std::uint64_t type, std::uint64_t user_registers,
                 unw_addr_space_t space) {
  std::uint32_t tid = 0;
  std::uint64_t time = 0;
  const auto word = [&p] {
    const auto value = at<std::uint64_t>(p);
    p += 8;
    return value;
  };
  if (type & 1 << 16) word();
  if (type & 1) word();
  if (type & 2) {
    g_pid = at<std::uint32_t>(p);
    tid = at<std::uint32_t>(p + 4);
    word();
  }
  if (type & 4) time = word();
  if (type & 8) word();
  if (type & 64) word();
  if (type & 512) word();
  if (type & 128) word();
  if (type & 256) word();
  if (type & 32) p += 8 * word();
  g_dump = {};
  if (word() == 0) return;  // no user registers
  for (int i = 0; i < 64; ++i) {
    if (user_registers >> i & 1) g_dump.registers[i < 24 ? i : 23] = word();
  }
  const std::uint64_t size = word();
  g_dump.stack = p;
  p += size;
  g_dump.size = size == 0 ? 0 : word();
  g_dump.sp = g_dump.registers[7];
  std::printf("%llu %u", static_cast<unsigned long long>(time), tid);
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, space, nullptr) == 0) {
    for (int depth = 0; depth < 20'000; ++depth) {
      unw_word_t ip = 0;
      if (unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0) break;
      std::printf(" %llx", static_cast<unsigned long long>(ip));
      if (unw_step(&cursor) <= 0) break;
    }
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  std::ifstream in(argv[1], std::ios::binary);
  std::vector<std::uint8_t> file((std::istreambuf_iterator<char>(in)), {});
  const std::uint8_t* const data = file.data();
  const auto attrs = at<std::uint64_t>(data + 24);
  const auto begin = at<std::uint64_t>(data + 40);
  const auto end = begin + at<std::uint64_t>(data + 48);
  const auto type = at<std::uint64_t>(data + attrs + 24);
  const auto user_registers = at<std::uint64_t>(data + attrs + 80);
  unw_accessors_t accessors{};
  accessors.find_proc_info = find_proc_info;
  accessors.put_unwind_info = [](unw_addr_space_t, unw_proc_info_t*, void*) {};
  accessors.get_dyn_info_list_addr = [](unw_addr_space_t, unw_word_t*, void*) {
    return -UNW_ENOINFO;
  };
  accessors.access_mem = access_memory;
  accessors.access_reg = access_register;
  accessors.access_fpreg = [](unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) {
    return -UNW_EINVAL;
  };
  accessors.resume = [](unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; };
  accessors.get_proc_name = [](unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) {
    return -UNW_EINVAL;
  };
  const unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
  for (std::uint64_t offset = begin; offset + 8 <= end;) {
    const std::uint8_t* const record = data + offset;
    const auto kind = at<std::uint32_t>(record);
    const auto size = at<std::uint16_t>(record + 6);
    if (size < 8) break;
    if (kind == 10 && !(at<std::uint16_t>(record + 4) & 1 << 13)) {
      const auto start = at<std::uint64_t>(record + 16);
      const auto bytes = at<std::uint64_t>(record + 24);
      g_maps[at<std::uint32_t>(record + 8)][start] = {start, start + bytes,
                                                      at<std::uint64_t>(record + 32),
                                                      reinterpret_cast<const char*>(record + 72)};
    } else if (kind == 3 && at<std::uint16_t>(record + 4) & 1 << 13) {
      g_maps[at<std::uint32_t>(record + 8)].clear();
    } else if (kind == 9) {
      read_sample(record + 8, type, user_registers, space);
    }
    offset += size;
  }
  return 0;
}
