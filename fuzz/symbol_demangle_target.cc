// Linked names: whatever they are, what comes out is bounded, and the next name is not affected.
#include <span>
#include <string>

#include "bytes/byte_text.h"
#include "fuzz/require.h"
#include "symbolize/demangler.h"

namespace stackpack::fuzz {

void symbol_demangle(std::span<const std::byte> data) {
  constexpr std::size_t kBound = 4096;
  symbolize::Demangler demangler(kBound);
  require(demangler.demangle(bytes::text_of(data)).size() <= kBound);
  require(demangler.demangle("_ZN3foo3barEi") == "foo::bar(int)");
}

}  // namespace stackpack::fuzz
