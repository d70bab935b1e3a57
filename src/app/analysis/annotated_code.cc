#include "app/analysis/annotated_code.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/analysis/hot_spots.h"
#include "core/saturating.h"
#include "core/sort_rows.h"
#include "io/byte_source.h"
#include "io/confined_process.h"
#include "stackpack/symbols.h"
#include "symbolize/disassembler.h"

namespace stackpack::app {

namespace {

constexpr std::uint64_t kMostFunctionBytes = std::uint64_t{1} << 20;
// Of all functions that are shown: an instruction takes 20 times its bytes in memory.
constexpr std::uint64_t kMostCodeBytes = std::uint64_t{4} << 20;

using FunctionKey = std::pair<std::string, std::string>;  // name, module

bool has_readable_code(const symbolize::ElfIdentity& layout) {
  return layout.has_code && layout.has_image_offsets && layout.is_64_bit &&
         layout.order == bytes::ByteOrder::kLittle;
}

/// What samples say of an offset in the file of an image.
struct Hit {
  std::uint64_t offset = 0;
  std::uint64_t self = 0;
  std::uint64_t total = 0;
};

/// Where a function of the report has its code: bytes of a function of an image. Those of an
/// inlined one are among the bytes of its callers.
struct Piece {
  std::size_t function = 0;  // of the annotation
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::vector<Hit> hits;
};

/// An image, by the row that stands for it.
struct Image {
  std::vector<symbolize::ImageMapping> mappings;
  std::vector<Piece> pieces;
  std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> piece_of;  // by function, start
};

// `ROW+0xOFFSET`, as FrameGrain::kCodeAddress writes it.
bool read_place(const std::string& text, std::uint32_t& row, std::uint64_t& offset) {
  constexpr std::string_view kMiddle = "+0x";
  constexpr int kHex = 16;
  const std::size_t middle = text.find(kMiddle);
  if (middle == std::string::npos) {
    return false;
  }
  std::from_chars(text.data(), text.data() + middle, row);
  std::from_chars(text.data() + middle + kMiddle.size(), text.data() + text.size(), offset, kHex);
  return true;
}

class CodeReader {
 public:
  CodeReader(const Symbols& symbols, const CodePlaces& places, Annotation& annotation)
      : symbols_(symbols), places_(places), annotation_(annotation) {
    number_images();
    for (const Function& function : symbols.names().functions) {
      if (function.owner == FunctionOwner::kImage) {
        functions_[first_row_[function.module]].push_back(&function);
      }
    }
    for (auto& [image, functions] : functions_) {
      core::sort_rows(functions,
                      [](const Function* a, const Function* b) { return a->start < b->start; });
    }
  }

  void add(std::size_t function, const HotSpot& row) {
    std::uint32_t module = 0;
    Hit hit{0, row.self, row.total};
    if (!read_place(row.place, module, hit.offset) || module >= first_row_.size()) {
      return;
    }
    const std::uint32_t image = first_row_[module];
    const Function* const code = function_at(image, hit.offset);
    if (code == nullptr) {
      return;
    }
    Image& of = images_[image];
    const auto [piece, fresh] = of.piece_of.try_emplace({function, code->start}, of.pieces.size());
    if (fresh) {
      of.pieces.push_back({function, code->start, code->size, {}});
    }
    of.pieces[piece->second].hits.push_back(hit);
  }

  Status read() {
    for (auto& [row, image] : images_) {
      if (!image.pieces.empty()) {
        if (const Status done = read_image(symbols_.modules()[row], image); !done) {
          return done;
        }
      }
    }
    return {};
  }

 private:
  void number_images() {
    std::map<std::pair<std::string_view, std::vector<std::uint8_t>>, std::uint32_t> known;
    const std::span<const Module> modules = symbols_.modules();
    for (std::uint32_t row = 0; row < modules.size(); ++row) {
      const std::uint32_t first =
          known.try_emplace({modules[row].path, modules[row].build_id}, row).first->second;
      first_row_.push_back(first);
      images_[first].mappings.push_back(symbolize::mapping_of(modules[row]));
    }
  }

  [[nodiscard]] const Function* function_at(std::uint32_t image, std::uint64_t offset) const {
    const auto known = functions_.find(image);
    if (known == functions_.end()) {
      return nullptr;
    }
    const auto after = std::upper_bound(
        known->second.begin(), known->second.end(), offset,
        [](std::uint64_t at, const Function* function) { return at < function->start; });
    const Function* const last = after == known->second.begin() ? nullptr : *std::prev(after);
    return last != nullptr && offset - last->start < last->size ? last : nullptr;
  }

  void give_up(const Module& module, const Image& image, std::string_view reason) {
    for (const Piece& piece : image.pieces) {
      annotation_.functions[piece.function].code.push_back({module.path, std::string(reason), {}});
    }
  }

  // The code of pieces of an image, and why there is none.
  Result<std::vector<symbolize::MachineCode>> bytes_of(const Module& module, const Image& image) {
    const auto none = [](std::string_view what) {
      return Error{ErrorCode::kNotFound, kNoOffset, what};
    };
    if (module.build_id_kind != BuildIdKind::kGnu || module.build_id.empty()) {
      return none("the capture has no build id of it, by which its file would be believed");
    }
    const symbolize::FoundFiles found =
        symbolize::find_elf_files({module.path, module.build_id, image.mappings}, places_.files);
    if (!found.image || found.by_path || found.packed || !has_readable_code(found.layout)) {
      return none("its file of that build is not here; --symbols DIR looks for it in DIR");
    }
    if (!symbolize::is_machine_known(found.layout.machine)) {
      return none("instructions are shown of x86-64 and aarch64");
    }
    const auto file = io::source_of_descriptor(found.image.get());
    std::vector<symbolize::MachineCode> code;
    for (const Piece& piece : image.pieces) {
      const auto address = found.layout.address_of(piece.start);
      symbolize::MachineCode& one = code.emplace_back();
      one.machine = found.layout.machine;
      one.address = address.value_or(0);
      if (address && piece.size <= kMostFunctionBytes && piece.size <= bytes_left_) {
        bytes_left_ -= piece.size;
        one.bytes.resize(static_cast<std::size_t>(piece.size));
        if (!io::read_exactly_at(*file, piece.start, one.bytes, "code")) {
          one.bytes.clear();
        }
      }
    }
    return code;
  }

  Status read_image(const Module& module, Image& image) {
    const auto code = bytes_of(module, image);
    if (!code) {
      give_up(module, image, code.error().what);
      return {};
    }
    const auto library = symbolize::Disassembler::load();
    if (!library) {
      give_up(module, image, library.error().what);
      return {};
    }
    const auto pieces = decode_all(**library, *code);
    if (!pieces) {
      return pieces.error();
    }
    if (pieces->size() != image.pieces.size()) {
      give_up(module, image, "its code cannot be read");
      return {};
    }
    for (std::size_t i = 0; i < pieces->size(); ++i) {
      add_instructions(module, image.pieces[i], (*code)[i].address, (*pieces)[i]);
    }
    return {};
  }

  // The library reads code of anybody: in a process of its own. No pieces: it failed.
  Result<std::vector<std::vector<symbolize::Instruction>>> decode_all(
      const symbolize::Disassembler& library, const std::vector<symbolize::MachineCode>& code) {
    constexpr unsigned kPatienceMilliseconds = 100;
    io::ProcessLimits limits;
    limits.without_filter = places_.unconfined;
    Result<io::ConfinedProcess> process =
        io::ConfinedProcess::start({}, limits, [&]() -> Result<io::ConfinedProcess::Bytes> {
          std::vector<std::vector<symbolize::Instruction>> pieces;
          for (const symbolize::MachineCode& one : code) {
            auto read = library.decode(one);
            if (!read) {
              return read.error();
            }
            pieces.push_back(std::move(*read));
          }
          return symbolize::encode_instructions(pieces);
        });
    if (!process) {
      return process.error();
    }
    io::ConfinedProcess* const running[] = {&*process};
    while (!process->proceed()) {
      io::ConfinedProcess::wait_for_any(running, kPatienceMilliseconds);
    }
    auto pieces = symbolize::decode_instructions(process->answer());
    return process->end() == io::ProcessEnd::kDone && pieces
               ? std::move(*pieces)
               : std::vector<std::vector<symbolize::Instruction>>();
  }

  void add_instructions(const Module& module, Piece& piece, std::uint64_t address,
                        const std::vector<symbolize::Instruction>& instructions) {
    AnnotatedCode code{module.path, "", {}};
    core::sort_rows(piece.hits, [](const Hit& a, const Hit& b) { return a.offset < b.offset; });
    auto hit = piece.hits.begin();
    for (const symbolize::Instruction& one : instructions) {
      AnnotatedInstruction& row = code.instructions.emplace_back();
      row.address = one.address;
      row.offset = piece.start + (one.address - address);
      row.text = one.text;
      for (; hit != piece.hits.end() && hit->offset < row.offset + one.size; ++hit) {
        core::add_saturating(row.self, hit->self);
        core::add_saturating(row.total, hit->total);
      }
    }
    if (code.instructions.empty()) {
      code.reason =
          "its code cannot be read, is larger than 1 MiB, or all that is asked for than 4 MiB";
    }
    annotation_.functions[piece.function].code.push_back(std::move(code));
  }

  const Symbols& symbols_;
  const CodePlaces& places_;
  Annotation& annotation_;
  std::vector<std::uint32_t> first_row_;  // of the image that a module is a mapping of
  std::map<std::uint32_t, std::vector<const Function*>> functions_;  // by start
  std::map<std::uint32_t, Image> images_;
  std::uint64_t bytes_left_ = kMostCodeBytes;
};

}  // namespace

Status add_code(const Reader& reader, const HotSpotQuery& query, const CodePlaces& places,
                const std::function<bool(const AnnotatedFunction&)>& wants,
                Annotation& annotation) {
  std::map<FunctionKey, std::size_t> wanted;
  for (std::size_t i = 0; i < annotation.functions.size(); ++i) {
    const AnnotatedFunction& function = annotation.functions[i];
    if (wants(function)) {
      wanted.emplace(FunctionKey{function.spot.name, function.spot.module}, i);
    }
  }
  if (wanted.empty()) {
    return {};
  }
  HotSpotQuery by_address = query;
  by_address.by = HotSpotKind::kCodeAddress;
  const Result<HotSpots> spots = hot_spots(reader, by_address);
  if (!spots) {
    return spots.error();
  }
  const auto symbols = Symbols::load(reader);
  if (!symbols) {
    return symbols.error();
  }
  CodeReader code(**symbols, places, annotation);
  for (const HotSpot& row : spots->rows) {
    if (const auto at = wanted.find({row.name, row.module}); at != wanted.end()) {
      code.add(at->second, row);
    }
  }
  return code.read();
}

}  // namespace stackpack::app
