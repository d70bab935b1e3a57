// Profiles of V8 as their files have them: a tree of nodes, and which node was running when.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stackpack/model.h"

namespace stackpack::v8 {

/// Of a callstack or a nested tree; a sample takes few bytes of the file however deep it is.
inline constexpr std::size_t kMostFrames = 4'096;

enum class NodeKind : std::uint8_t {
  kCode,
  kRoot,    ///< `(root)`, which is no frame
  kIdle,    ///< `(idle)`
  kThread,  ///< of our own exports: no frame; callstacks below are those of a thread
  kGap,     ///< of our own exports: its samples are the time in which nothing was seen
};

/// What our own exports say of a thread.
struct OwnThread {
  std::string name;
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
};

/// What our own exports say of a profile.
struct OwnEvent {
  std::string name;
  std::string unit;
  bool timed = false;
  double last = 0;  ///< how long the last sample takes
};

struct Node {
  std::uint64_t address = 0;             ///< that stands for its function
  double self_bytes = 0;                 ///< of heap profiles
  std::uint32_t id = kUnknownId;         ///< as samples name it
  std::uint32_t parent_id = kUnknownId;  ///< where the file names it
  std::uint32_t parent = kUnknownId;     ///< its index, where nodes lie in nodes, or when resolved
  NodeKind kind = NodeKind::kCode;
};

/// A profile, or the part of one that an event of a trace has.
struct Profile {
  std::vector<Node> nodes;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      children;                        ///< index of a node, id of another
  std::vector<std::uint32_t> samples;  ///< ids of nodes
  std::vector<double> deltas;          ///< us since the sample before
  std::optional<double> start;         ///< us
  std::optional<double> end;
  std::optional<OwnEvent> own;
  std::map<std::uint32_t, OwnThread> threads;  ///< by index of a node
  bool is_old = false;   ///< `timestamps` of us in place of deltas, start and end in seconds
  bool is_heap = false;  ///< nodes have sizes, and there are no times

  void append(Profile&& part);
  /// Finds all parents by their indices. Result: the index of each id.
  std::map<std::uint32_t, std::uint32_t> resolve();
};

/// An event of a trace that is a profile or belongs to one.
struct TracePart {
  double ts = 0;
  bool begins = false;  ///< a profile; else its next part
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;  ///< of a beginning: the thread that was sampled
  Profile profile;
};

/// All parts of a trace, by process and what tells profiles apart there.
using TraceParts = std::map<std::pair<std::uint32_t, std::string>, std::vector<TracePart>>;

}  // namespace stackpack::v8
