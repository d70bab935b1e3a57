#include "symbolize/disassembler.h"

namespace stackpack::symbolize {

Result<std::unique_ptr<const Disassembler>> Disassembler::load() {
  return Error{ErrorCode::kUnsupported, kNoOffset,
               "this build of the program shows no instructions, since it loads no libraries"};
}

}  // namespace stackpack::symbolize
