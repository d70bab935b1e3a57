#include "capture/redaction.h"

#include <doctest/doctest.h>

#include "capture/system_recorder.h"

namespace stackpack::capture {

TEST_CASE("redaction: user names in paths are replaced, all else stays") {
  struct Case {
    std::string_view path;
    std::string_view expected;
  };
  const Case cases[] = {
      {"/home/alice/bin/tool", "/home/USER/bin/tool"},
      {"/home/alice", "/home/USER"},
      {"/var/home/alice/x", "/var/home/USER/x"},
      {"/home//alice/x", "/home//USER/x"},
      {"/home/home/home/x", "/home/USER/home/USER"},
      {"/Users/Alice Liddell/x", "/Users/USER/x"},
      {"C:\\Users\\alice\\x.dll", "C:\\Users\\USER\\x.dll"},
      {"\\Device\\HarddiskVolume3\\USERS\\alice\\x", "\\Device\\HarddiskVolume3\\USERS\\USER\\x"},
      {"C:\\Documents and Settings\\alice\\x", "C:\\Documents and Settings\\USER\\x"},
      {"/mnt/c/Users/alice/x", "/mnt/c/Users/USER/x"},
      {"C:\\Users\\Public\\x", "C:\\Users\\Public\\x"},
      {"/usr/lib/libc.so.6", "/usr/lib/libc.so.6"},
      {"[vdso]", "[vdso]"},
      {"home/alice", "home/alice"},
      {"/opt/myhome/alice", "/opt/myhome/alice"},
      {"/home/", "/home/"},
      {"", ""},
  };
  for (const Case& test : cases) {
    CAPTURE(test.path);
    CHECK(without_user_names(test.path) == test.expected);
  }
}

TEST_CASE("redaction: command lines and the host's name go, with all that names a user") {
  SystemRecorder system;
  system.metadata("host.name", "secret-host");
  system.metadata("command_line", "record -- secret");
  system.metadata("os.root", "C:\\Users\\secret");
  system.metadata("arch", "x86_64");
  system.process_started(7, 1, kUnknownTime, false);
  system.process_named(7, kUnknownTime, "/home/secret/tool", false);
  system.thread_named(7, 8, kUnknownTime, "C:\\Users\\secret\\worker");
  system.process_command_line(7, kUnknownTime, "tool --password secret");
  Module module;
  module.pid = 7;
  module.base = 0x1000;
  module.size = 0x1000;
  module.path = "/home/secret/tool";
  module.debug_name = "D:\\Users\\secret\\obj\\tool.pdb";
  system.module_mapped(module);
  system.set_redaction(true);
  const SystemTables tables = system.finish();
  REQUIRE(tables.processes.size() == 1);
  CHECK(tables.processes[0].command_line.empty());
  CHECK(tables.processes[0].name == "/home/USER/tool");
  REQUIRE(tables.threads.size() == 1);
  CHECK(tables.threads[0].name == "C:\\Users\\USER\\worker");
  REQUIRE(tables.modules.size() == 1);
  CHECK(tables.modules[0].path == "/home/USER/tool");
  CHECK(tables.modules[0].debug_name == "D:\\Users\\USER\\obj\\tool.pdb");
  REQUIRE(tables.metadata.size() == 2);
  CHECK(tables.metadata[0].key == "arch");
  CHECK(tables.metadata[1].value == "C:\\Users\\USER");
}

}  // namespace stackpack::capture
