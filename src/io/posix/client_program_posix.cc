#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/client_program.h"

namespace stackpack::io {

namespace {

// The environment of this process with some entries replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& entries) {
  std::vector<std::string> all = entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    if (std::none_of(entries.begin(), entries.end(),
                     [name](const std::string& other) { return other.starts_with(name); })) {
      all.emplace_back(text);
    }
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

int status_of(pid_t child, unsigned seconds, const std::function<bool()>& goes_on) {
  constexpr std::chrono::milliseconds kPause{100};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int state = 0;
  bool ended = false;
  while (true) {
    const pid_t got = ::waitpid(child, &state, ended ? 0 : WNOHANG);
    if (got == child) {
      return WIFEXITED(state) && !ended ? WEXITSTATUS(state) : -1;
    }
    if (got < 0 && errno != EINTR) {
      return -1;
    }
    if (!ended && (std::chrono::steady_clock::now() > deadline || !goes_on())) {
      ::kill(child, SIGKILL);
      ended = true;
    } else if (!ended) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace

Result<int> run_client(const ClientProgram& program, const std::function<bool()>& goes_on) {
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) {
    return Error{ErrorCode::kResource, kNoOffset, "no memory to start a program"};
  }
  constexpr std::array kStreams = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  int failed = 0;
  for (const int stream : kStreams) {
    failed = failed != 0
                 ? failed
                 : ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  std::vector<std::string> words = program.words;
  std::vector<std::string> environment = environment_with(program.environment);
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> variables = pointers_to(environment);
  pid_t child = 0;
  if (failed == 0) {
    failed = ::posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(),
                            variables.data());
  }
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return Error{failed == ENOENT ? ErrorCode::kNotFound : ErrorCode::kResource, kNoOffset,
                 "cannot start a program", failed};
  }
  return status_of(child, program.seconds, goes_on);
}

}  // namespace stackpack::io
