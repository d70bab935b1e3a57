#pragma once

#include <functional>
#include <string>

#include "io/descriptor.h"

namespace stackpack::io {

/// Opens a file for a process that may not do so itself, or does not: nothing.
using OpenFile = std::function<Descriptor(const std::string& path)>;

/// The questions of a confined process for files: each of its calls that open one waits here.
/// Threads: one at a time.
class OpenRequests {
 public:
  OpenRequests() = default;
  /// `number`: Confinement::questions in the process `pid`.
  OpenRequests(int pid, int number);

  /// What becomes readable when there is a question; -1: there are none.
  [[nodiscard]] int descriptor() const { return questions_.get(); }

  /// Answers what is asked now: with the file that `open` gives, else as if it were not there. Only
  /// whole paths are asked for, and only for reading; all else is refused.
  void answer(const OpenFile& open);

 private:
  bool answer_one(const OpenFile& open);

  int pid_ = -1;
  Descriptor questions_;
};

}  // namespace stackpack::io
