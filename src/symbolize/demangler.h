#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stackpack::symbolize {

/// Whether names of Microsoft's compiler are demangled: by a part of LLVM, where the program was
/// built with it.
[[nodiscard]] bool demangles_microsoft_names();

/// Whether a name is one of C++ or Rust as a compiler encodes it, by its beginning.
[[nodiscard]] inline bool is_encoded(std::string_view linked) {
  return linked.size() > 2 && linked[0] == '_' && (linked[1] == 'Z' || linked[1] == 'R') &&
         ((linked[2] >= '0' && linked[2] <= '9') || (linked[2] >= 'A' && linked[2] <= 'Z'));
}

/// Makes names as linkers have them readable: C++ (Itanium and Microsoft), Rust and D; also those
/// of stubs, `_Z1fv@plt`.
///
/// A name of a few hundred bytes can stand for hundreds of megabytes, or nest deeper than a stack.
/// So the result is bounded while it is made (C++, Rust) or by what the name can at most become
/// (D, Microsoft), and long names are left alone. Time is bounded by the same means, memory is
/// twice the bound and what a library takes: whoever reads names of strangers does it in a process
/// of its own all the same.
/// Thread: one each.
class Demangler {
 public:
  /// Linked names above these sizes stay as they are.
  static constexpr std::size_t kMostLinkedBytes = std::size_t{16} << 10;
  static constexpr std::size_t kMostOtherLinkedBytes = std::size_t{4} << 10;  ///< D, Microsoft

  enum class Form : std::uint8_t { kWhole, kWithoutParameters };  ///< the latter: of C++

  explicit Demangler(std::size_t most_bytes = std::size_t{64} << 10, Form form = Form::kWhole);

  /// The readable name, valid until the next call; empty when `linked` is no mangled name, or it
  /// stays as it is because it is, or would become, too long.
  [[nodiscard]] std::string_view demangle(std::string_view linked);

 private:
  Form form_;
  std::string linked_;        // with the zero that libraries need
  std::vector<char> buffer_;  // its size is the bound
};

}  // namespace stackpack::symbolize
