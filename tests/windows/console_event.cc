// Starts a program and brings it an event of its console, as the system does: by a thread of its
// own in the program, which begins in the system's CtrlRoutine.
//   console_event EVENT FILE COMMAND...   EVENT: 0 Ctrl-C, 1 Ctrl-Break, 2 the window is closed. It
//   comes
//                                         when FILE is there. Prints the status in hex and the
//                                         milliseconds.
#include <cstdint>
#include <cstdio>
#include <cwchar>
#include <string>

#include <windows.h>

namespace {

// So long the system waits after the window was closed; it kills what is left then.
constexpr DWORD kPatience = 5000;
constexpr DWORD kMostStart = 60'000;

LPTHREAD_START_ROUTINE control_routine() {
  for (const wchar_t* const library : {L"kernelbase.dll", L"kernel32.dll"}) {
    if (const FARPROC found = ::GetProcAddress(::GetModuleHandleW(library), "CtrlRoutine")) {
      // NOLINTNEXTLINE: addresses of functions have one type in the system's tables
      return reinterpret_cast<LPTHREAD_START_ROUTINE>(reinterpret_cast<void*>(found));
    }
  }
  return nullptr;
}

bool wait_for_file(const wchar_t* path) {
  const ULONGLONG start = ::GetTickCount64();
  while (::GetFileAttributesW(path) == INVALID_FILE_ATTRIBUTES) {
    if (::GetTickCount64() - start > kMostStart) {
      return false;
    }
    ::Sleep(10);
  }
  return true;
}

int fail(const char* what) {
  std::printf("console_event: %s (error %lu)\n", what, ::GetLastError());
  return 1;
}

}  // namespace

int wmain(int count, wchar_t** arguments) {
  const LPTHREAD_START_ROUTINE routine = control_routine();
  if (count < 4 || routine == nullptr) {
    return fail("no arguments, or no CtrlRoutine");
  }
  std::wstring command;
  for (int i = 3; i < count; ++i) {
    command += std::wstring(L"\"") + arguments[i] + L"\" ";
  }
  STARTUPINFOW start{};
  start.cb = sizeof start;
  PROCESS_INFORMATION process{};
  if (::CreateProcessW(nullptr, command.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start,
                       &process) == 0) {
    return fail("cannot start the program");
  }
  if (!wait_for_file(arguments[2])) {
    ::TerminateProcess(process.hProcess, 1);
    return fail("nobody asked for the event");
  }
  const ULONGLONG before = ::GetTickCount64();
  // NOLINTNEXTLINE: the number of the event takes the place of a pointer
  const auto event =
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(std::wcstoul(arguments[1], nullptr, 10)));
  if (::CreateRemoteThread(process.hProcess, nullptr, 0, routine, event, 0, nullptr) == nullptr) {
    return fail("cannot bring the event");
  }
  if (::WaitForSingleObject(process.hProcess, kPatience) != WAIT_OBJECT_0) {
    ::TerminateProcess(process.hProcess, 1);
    return fail("the program went on");
  }
  DWORD status = 0;
  ::GetExitCodeProcess(process.hProcess, &status);
  std::printf("%08lx %llu\n", status, ::GetTickCount64() - before);
  return 0;
}
