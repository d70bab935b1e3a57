#include <atomic>
#include <csignal>
#include <cstdlib>
#include <span>

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include "io/system_file.h"
#include "io/terminal.h"

namespace stackpack::io {

namespace {

constexpr unsigned kDefaultColumns = 80;

std::atomic<int> g_interrupt{0};
UINT g_code_page = 0;

HANDLE handle_of(Stream stream) {
  switch (stream) {
    case Stream::kStandardInput:
      return ::GetStdHandle(STD_INPUT_HANDLE);
    case Stream::kStandardOutput:
      return ::GetStdHandle(STD_OUTPUT_HANDLE);
    case Stream::kStandardError:
      break;
  }
  return ::GetStdHandle(STD_ERROR_HANDLE);
}

BOOL WINAPI remember_interrupt(DWORD event) {
  const bool by_keys = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
  if (g_interrupt.exchange(by_keys ? SIGINT : SIGTERM) != 0 && by_keys) {
    return FALSE;  // the second one ends the process
  }
  if (!by_keys) {
    // The window closes, or the session ends: the system kills the process when this returns.
    ::Sleep(INFINITE);
  }
  return TRUE;
}

void restore_code_page() {
  ::SetConsoleOutputCP(g_code_page);
}

}  // namespace

bool is_terminal(Stream stream) {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(stream), &mode) != 0;
}

bool terminal_moves_cursor(Stream stream) {
  DWORD mode = 0;
  const HANDLE handle = handle_of(stream);
  return ::GetConsoleMode(handle, &mode) != 0 &&
         ::SetConsoleMode(handle,
                          mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

unsigned terminal_columns(Stream stream) {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (::GetConsoleScreenBufferInfo(handle_of(stream), &info) == 0) {
    return kDefaultColumns;
  }
  const int columns = info.srWindow.Right - info.srWindow.Left + 1;
  return columns > 0 ? static_cast<unsigned>(columns) : kDefaultColumns;
}

void write_standard_error(std::string_view text) {
  static_cast<void>(write_all(kErrorDescriptor, std::as_bytes(std::span(text))));
}

void catch_interrupts() {
  ::SetConsoleCtrlHandler(&remember_interrupt, TRUE);
}

int interrupted_by() {
  return g_interrupt.load();
}

void end_by_signal(int /*number*/) {
  // What the system itself ends a process with.
  ::TerminateProcess(::GetCurrentProcess(), STATUS_CONTROL_C_EXIT);
}

void prepare_standard_streams() {
  for (const int stream : {kInputDescriptor, kOutputDescriptor, kErrorDescriptor}) {
    ::_setmode(stream, _O_BINARY);
  }
  // What is written is UTF-8; the console keeps its code page after the process.
  g_code_page = ::GetConsoleOutputCP();
  if (g_code_page != 0 && g_code_page != CP_UTF8 && ::SetConsoleOutputCP(CP_UTF8) != 0) {
    std::atexit(&restore_code_page);
  }
}

}  // namespace stackpack::io
