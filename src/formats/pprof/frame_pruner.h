#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace re2 {
class RE2;
}

namespace stackpack::pprof {

/// Which functions a profile says to take out of its callstacks, with all that they call: those of
/// the profiler, of an allocator. As pprof does it; see profile/prune.go of
/// github.com/google/pprof.
class FramePruner {
 public:
  /// `drop`, `keep`: regular expressions for the whole of a name; empty: none.
  FramePruner(const std::string& drop, const std::string& keep);
  ~FramePruner();

  /// False: an expression cannot be read, or is too large, and no function is dropped.
  [[nodiscard]] bool good() const { return good_; }

  /// Whether the profile drops that function.
  bool drops(const std::string& name);

 private:
  bool good_ = true;
  std::unique_ptr<re2::RE2> drop_;
  std::unique_ptr<re2::RE2> keep_;
  std::unordered_map<std::string, bool> known_;
};

}  // namespace stackpack::pprof
