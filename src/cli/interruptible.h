#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "app/command_inputs.h"
#include "app/console.h"
#include "cli/messages.h"
#include "stackpack/convert.h"

namespace stackpack::cli {

/// Runs `work` on a thread of its own and makes it end with kCancelled when the user interrupts.
/// The caller looks at app::interrupted_by() afterwards. Result: that of `work`; kResource when
/// the system refuses the thread. `tick` is called now and then meanwhile.
template <typename Work, typename Tick>
std::invoke_result_t<Work> run_interruptible(ConvertProgress& progress, const Work& work,
                                             const Tick& tick) {
  app::catch_interrupts();
  const std::chrono::milliseconds look_every{50};
  const std::chrono::seconds patience{2};
  std::future<std::invoke_result_t<Work>> result;
  try {
    result = std::async(std::launch::async, [&work, run = app::FilesRead::current()] {
      const app::FilesRead::Joined joined(run);
      return work();
    });
  } catch (const std::system_error& refused) {
    return Error{ErrorCode::kResource, kNoOffset, "cannot start a thread", refused.code().value()};
  }
  std::optional<std::chrono::steady_clock::time_point> interrupted_at;
  while (result.wait_for(look_every) != std::future_status::ready) {
    tick();
    if (app::interrupted_by() == 0) {
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    interrupted_at = interrupted_at.value_or(now);
    progress.cancelled = true;
    if (now - *interrupted_at > patience) {
      app::end_by_signal(app::interrupted_by());  // it waits for input that does not come
    }
  }
  return result.get();
}

template <typename Work>
std::invoke_result_t<Work> run_interruptible(ConvertProgress& progress, const Work& work) {
  return run_interruptible(progress, work, [] {});
}

/// Whether a command may write its file to `output`, where "-" is standard output. Not to a
/// terminal, and not where its JSON goes as well: those are said in a message, and a usage error.
bool may_write_to(const std::string& output, bool json, std::string_view command,
                  const Messages& messages);

/// After a run that gave no result: when the user interrupted it, says so about `subject` and ends
/// the process as the signal would have.
void end_if_interrupted(std::string_view subject, const Messages& messages);

}  // namespace stackpack::cli
