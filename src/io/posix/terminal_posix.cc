#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "io/terminal.h"

namespace stackpack::io {

namespace {

constexpr unsigned kDefaultColumns = 80;

std::atomic<int> g_interrupt{0};
static_assert(std::atomic<int>::is_always_lock_free, "set from a signal handler");

void remember_interrupt(int number) {
  g_interrupt.store(number);
  std::signal(number, SIG_DFL);
}

int descriptor_of(Stream stream) {
  switch (stream) {
    case Stream::kStandardInput:
      return STDIN_FILENO;
    case Stream::kStandardOutput:
      return STDOUT_FILENO;
    case Stream::kStandardError:
      break;
  }
  return STDERR_FILENO;
}

}  // namespace

bool is_terminal(Stream stream) {
  return ::isatty(descriptor_of(stream)) == 1;
}

bool terminal_moves_cursor(Stream stream) {
  const char* const kind = std::getenv("TERM");
  return is_terminal(stream) && kind != nullptr && *kind != '\0' &&
         std::string_view(kind) != "dumb";
}

unsigned terminal_columns(Stream stream) {
  winsize size{};
  if (::ioctl(descriptor_of(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kDefaultColumns;
  }
  return size.ws_col;
}

void write_standard_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return;
    }
  }
}

void catch_interrupts() {
  std::signal(SIGINT, remember_interrupt);
  std::signal(SIGTERM, remember_interrupt);
}

int interrupted_by() {
  return g_interrupt.load();
}

void end_by_signal(int number) {
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace stackpack::io
