#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/desktop.h"
#include "io/directories.h"

namespace stackpack::io {

namespace {

bool has_display() {
  for (const char* const name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<std::string> make_private_file(std::string_view suffix) {
  std::string path = temporary_directory() + "/stackpack-XXXXXX";
  path += suffix;
  const int descriptor = ::mkostemps(path.data(), static_cast<int>(suffix.size()), O_CLOEXEC);
  if (descriptor < 0) {
    return Error{ErrorCode::kIo, kNoOffset, "cannot create a temporary file", errno};
  }
  ::close(descriptor);
  return path;
}

void remove_private_file(const std::string& path) {
  ::unlink(path.c_str());
}

bool open_on_desktop(const std::string& path) {
  if (!has_display()) {
    return false;
  }
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) {
    return false;
  }
  constexpr std::array kStreams = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  bool ready = true;
  for (const int stream : kStreams) {
    ready =
        ready && ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0) == 0;
  }
  std::string program = "xdg-open";
  std::string file = path;
  const std::array<char*, 3> arguments = {program.data(), file.data(), nullptr};
  pid_t child = 0;
  const bool begun = ready && ::posix_spawnp(&child, program.c_str(), &actions, nullptr,
                                             arguments.data(), environ) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  int state = 0;
  while (begun && ::waitpid(child, &state, 0) < 0) {
    if (errno != EINTR) {
      return false;
    }
  }
  return begun && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

}  // namespace stackpack::io
