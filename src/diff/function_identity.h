// When are two functions of different builds the same one?
#pragma once

#include <string>
#include <string_view>

namespace stackpack::diff {

/// What stays of a name when a program is built again.
struct FunctionIdentity {
  /// Without what a build adds: parts that compilers split off (.cold, .part), copies that they
  /// specialize (.constprop, .isra, .llvm., .lto_priv), hashes (Rust, MSVC).
  std::string exact;
  /// `exact` without the numbers of lambdas, closures and types without a name: `#`, `$_` and the
  /// like stay. Equal to `exact` when there are none.
  std::string unnumbered;
};

/// Cost: proportional to the name. Any bytes are good.
FunctionIdentity identity_of_function(std::string_view name);

/// The file name of an image without its version: `libfoo.so` for libfoo.so.1.2.3 and
/// libfoo-1.2.so, `vmlinux` for vmlinux-6.1.0. Names in brackets, such as [vdso], stay.
std::string identity_of_module(std::string_view name);

}  // namespace stackpack::diff
