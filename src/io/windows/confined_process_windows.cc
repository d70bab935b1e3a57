#include <new>
#include <utility>

#include "io/confined_process.h"

namespace stackpack::io {

// There is no copying of a process here. What is left to this side are the readers of PDB files, PE
// tables and maps: our own, which see their input through the bounds-checked cursor alone and take
// no memory on its word. They work in this process, and the answer is there at once.

ConfinedProcess::ConfinedProcess(int pid, Descriptor pipe, Descriptor start,
                                 const ProcessLimits& limits, OpenFile open)
    : pid_(pid),
      pipe_(std::move(pipe)),
      start_(std::move(start)),
      limits_(limits),
      open_(std::move(open)) {}

ConfinedProcess::ConfinedProcess(ConfinedProcess&&) noexcept = default;
ConfinedProcess& ConfinedProcess::operator=(ConfinedProcess&&) noexcept = default;
ConfinedProcess::~ConfinedProcess() = default;

Result<ConfinedProcess> ConfinedProcess::start(
    std::span<const int> /*files*/, const ProcessLimits& limits, const Work& work,
    // NOLINTNEXTLINE(performance-unnecessary-value-param): as declared
    OpenFile /*open*/) {
  ConfinedProcess done(-1, Descriptor(), Descriptor(), limits, {});
  try {
    Result<Bytes> answer = work();
    if (!answer) {
      done.end_ = answer.error().code == ErrorCode::kResource ? ProcessEnd::kOutOfMemory
                                                              : ProcessEnd::kFailed;
    } else if (answer->size() > limits.answer_bytes) {
      done.end_ = ProcessEnd::kAnswerTooLong;
    } else {
      done.answer_ = std::move(*answer);
      done.end_ = ProcessEnd::kDone;
    }
  } catch (const std::bad_alloc&) {
    done.end_ = ProcessEnd::kOutOfMemory;
  } catch (...) {
    done.end_ = ProcessEnd::kFailed;
  }
  return done;
}

bool ConfinedProcess::proceed() {
  return true;
}

void ConfinedProcess::stop(ProcessEnd end) {
  end_ = end;
}

void ConfinedProcess::wait_for_any(std::span<ConfinedProcess* const> /*processes*/,
                                   unsigned /*milliseconds*/) {}

}  // namespace stackpack::io
