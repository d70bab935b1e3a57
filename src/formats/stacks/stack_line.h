// What one line says in a text of callstacks. Texts are views of the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/weight_scale.h"
#include "stackpack/model.h"

namespace stackpack::stacks {

inline constexpr std::string_view kSamples = "samples";
/// Of threads that wait: they were looked at, and did not run.
inline constexpr std::string_view kWaiting = "samples.waiting";
/// Microseconds for which a thread did not run.
inline constexpr std::string_view kOffCpu = "offcpu-time";

struct TextFrame {
  std::string_view name;
  std::string_view linkage;  ///< with arguments; empty: the same
  std::string_view image;
  bool joined = false;  ///< the frame is called `IMAGE`NAME`, as flame graphs have it
  std::string_view file;
  std::uint32_t line = 0;
};

enum class LineKind : std::uint8_t {
  kUnknown,
  kHeader,  ///< says nothing of callstacks, and belongs to the text
  kOther,   ///< something else that the program printed
  kBegin,   ///< a callstack begins
  kOwner,   ///< whose the callstack is
  kFrame,   ///< of a callstack, the leaf first
  kEnd,     ///< of the callstack, with its count
  kNode,    ///< of a call tree: the frame, its depth and its weight
};

struct StackLine {
  LineKind kind = LineKind::kUnknown;
  TextFrame frame;
  bool is_first = false;  ///< the callstack before is over; kEnd: this one has no frames
  std::optional<core::DecimalWeight> weight;
  std::size_t depth = 0;
  std::string_view event;  ///< from here on; empty: the same as before
  std::string_view root;   ///< a frame at the root: what the callstack is counted by besides
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::string_view comm;
};

/// What the lines before say about the next one.
struct LineState {
  bool inside = false;     ///< a callstack or call tree has begun and did not end
  std::size_t frames = 0;  ///< of that callstack
  // Columns of a table, by their place.
  char delimiter = 0;  ///< 0: there was no first line
  std::size_t columns = 0;
  std::size_t name_column = 0;
  std::size_t self_column = 0;
  std::optional<std::size_t> image_column;
};

/// What the line says; may set the columns of the state. The rest is set by follow().
using ReadLine = StackLine (*)(std::string_view line, LineState& state);

/// The state after the line.
inline void follow(const StackLine& line, LineState& state) {
  if (line.kind == LineKind::kBegin || line.kind == LineKind::kEnd) {
    state.inside = line.kind == LineKind::kBegin;
    state.frames = 0;
  }
  state.frames = line.is_first ? 0 : state.frames;
  state.frames += line.kind == LineKind::kFrame ? std::size_t{1} : std::size_t{0};
}

}  // namespace stackpack::stacks
