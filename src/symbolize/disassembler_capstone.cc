// What is declared of capstone is its public interface, the same in versions 4 and 5 but for the
// room that an instruction has for its bytes.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include <dlfcn.h>

#include "symbolize/disassembler.h"

namespace stackpack::symbolize {

namespace {

constexpr int kArchitectureArm64 = 1;
constexpr int kArchitectureX86 = 3;
constexpr int kMode64 = 8;
constexpr int kOptionSyntax = 1;
constexpr std::size_t kSyntaxAtt = 2;

// cs_insn: u32 id, u64 address, u16 size, bytes, mnemonic, operands, a pointer.
constexpr std::size_t kBytesAt = 18;
constexpr std::size_t kMnemonicBytes = 32;
constexpr std::size_t kOperandBytes = 160;

using Handle = std::size_t;
using VersionFunction = unsigned(int* major, int* minor);
using OpenFunction = int(int architecture, int mode, Handle* handle);
using CloseFunction = int(Handle* handle);
using OptionFunction = int(Handle handle, int type, std::size_t value);
using MallocFunction = void*(Handle handle);
using FreeFunction = void(void* instruction, std::size_t count);
using NextFunction = bool(Handle handle, const std::uint8_t** code, std::size_t* size,
                          std::uint64_t* address, void* instruction);

class Capstone final : public Disassembler {
 public:
  // False: it is not the library that is meant.
  bool bind(void* library) {
    const auto version = find<VersionFunction>(library, "cs_version");
    open_ = find<OpenFunction>(library, "cs_open");
    close_ = find<CloseFunction>(library, "cs_close");
    option_ = find<OptionFunction>(library, "cs_option");
    malloc_ = find<MallocFunction>(library, "cs_malloc");
    free_ = find<FreeFunction>(library, "cs_free");
    next_ = find<NextFunction>(library, "cs_disasm_iter");
    if (version == nullptr || open_ == nullptr || close_ == nullptr || option_ == nullptr ||
        malloc_ == nullptr || free_ == nullptr || next_ == nullptr) {
      return false;
    }
    int major = 0;
    int minor = 0;
    version(&major, &minor);
    constexpr std::size_t kOldRoom = 16;
    constexpr std::size_t kNewRoom = 24;
    mnemonic_at_ = kBytesAt + (major == 4 ? kOldRoom : kNewRoom);
    return major == 4 || major == 5;
  }

  [[nodiscard]] Result<std::vector<Instruction>> decode(const MachineCode& code) const override {
    Handle handle = 0;
    const bool is_x86 = code.machine == kMachineX86;
    if (!is_machine_known(code.machine) ||
        open_(is_x86 ? kArchitectureX86 : kArchitectureArm64, is_x86 ? kMode64 : 0, &handle) != 0) {
      return Error{ErrorCode::kUnsupported, kNoOffset, "code of another processor"};
    }
    if (is_x86) {
      option_(handle, kOptionSyntax, kSyntaxAtt);
    }
    void* const room = malloc_(handle);
    std::vector<Instruction> instructions;
    if (room != nullptr) {
      read(handle, room, code, instructions);
      free_(room, 1);
    }
    close_(&handle);
    if (room == nullptr) {
      return Error{ErrorCode::kResource, kNoOffset, "no memory for instructions"};
    }
    return instructions;
  }

 private:
  template <typename Function>
  static Function* find(void* library, const char* name) {
    return std::bit_cast<Function*>(::dlsym(library, name));
  }

  // A text of at most `room` bytes that ends with a zero.
  static std::string_view text_at(const void* instruction, std::size_t at, std::size_t room) {
    const char* const begin = static_cast<const char*>(instruction) + at;
    return {begin, ::strnlen(begin, room)};
  }

  void read(Handle handle, void* room, const MachineCode& code,
            std::vector<Instruction>& instructions) const {
    constexpr std::size_t kMnemonicColumn = 7;
    // The library takes bytes of its own type.
    const auto* at = static_cast<const std::uint8_t*>(static_cast<const void*>(code.bytes.data()));
    std::size_t left = code.bytes.size();
    std::uint64_t address = code.address;
    while (left != 0) {
      Instruction one;
      const std::uint64_t before = address;
      if (next_(handle, &at, &left, &address, room)) {
        one.address = before;
        one.size = static_cast<std::uint32_t>(address - before);
        one.text = text_at(room, mnemonic_at_, kMnemonicBytes);
        const std::string_view operands =
            text_at(room, mnemonic_at_ + kMnemonicBytes, kOperandBytes);
        if (!operands.empty()) {
          one.text.resize(std::max(one.text.size() + 1, kMnemonicColumn), ' ');
          one.text += operands;
        }
      } else {
        const std::size_t unit = code.machine == kMachineX86 ? 1 : std::min<std::size_t>(4, left);
        one = {address, static_cast<std::uint32_t>(unit), "(bad)"};
        at += unit;
        left -= unit;
        address += unit;
      }
      instructions.push_back(std::move(one));
    }
  }

  OpenFunction* open_ = nullptr;
  CloseFunction* close_ = nullptr;
  OptionFunction* option_ = nullptr;
  MallocFunction* malloc_ = nullptr;
  FreeFunction* free_ = nullptr;
  NextFunction* next_ = nullptr;
  std::size_t mnemonic_at_ = 0;
};

}  // namespace

Result<std::unique_ptr<const Disassembler>> Disassembler::load() {
  for (const char* const name : {"libcapstone.so.5", "libcapstone.so.4", "libcapstone.so"}) {
    // It stays: whoever asks once asks again.
    void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    auto capstone = std::make_unique<Capstone>();
    if (library != nullptr && capstone->bind(library)) {
      return std::unique_ptr<const Disassembler>(std::move(capstone));
    }
  }
  return Error{ErrorCode::kUnsupported, kNoOffset,
               "libcapstone is not installed; after `apt install libcapstone4` instructions are "
               "shown"};
}

}  // namespace stackpack::symbolize
