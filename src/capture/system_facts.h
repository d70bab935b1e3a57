#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::capture {

/// What a source said about processes, threads and images, as it came.
struct SystemFacts {
  enum class Kind : std::uint8_t {
    kProcessStart,
    kThreadStart,
    kProcessName,
    kThreadName,
    kCommandLine,
    kMap,
    kUnmap,
    kThreadEnd,
    kProcessEnd,
  };
  struct Fact {
    std::uint64_t time_ns = kUnknownTime;
    std::uint64_t payload = 0;  ///< number of a text or module; base; creator's pid and tid
    std::uint32_t pid = kUnknownId;
    std::uint32_t other = 0;  ///< tid, or parent pid
    Kind kind = Kind::kProcessStart;
    bool flag = false;  ///< forked, exec, or: has a creator
  };
  struct Identity {
    BuildIdKind kind = BuildIdKind::kNone;
    std::vector<std::uint8_t> build_id;
    std::string debug_name;
  };

  std::vector<Fact> facts;
  std::vector<std::string_view> texts;  ///< owned by the recorder
  std::vector<Module> modules;
  std::map<std::string, Identity, std::less<>> path_identities;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Identity> base_identities;  ///< by pid and base
  std::map<std::string, std::string, std::less<>> metadata;
};

}  // namespace stackpack::capture
