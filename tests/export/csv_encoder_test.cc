#include <algorithm>
#include <regex>

#include <doctest/doctest.h>

#include "export/formats/csv_schema.h"
#include "export/hand_made_capture.h"

using namespace stackpack;
using test::HandMadeCapture;

namespace {

// The columns of `CREATE TABLE NAME (...)`: a type may have commas in brackets of its own.
std::ptrdiff_t columns_of(const std::string& create) {
  const std::regex brackets_of_types("\\([0-9, ]+\\)");
  const std::string plain = std::regex_replace(create, brackets_of_types, "");
  return std::count(plain.begin(), plain.end(), ',') + 1;
}

std::string table(const test::TemporaryDirectory& directory, const std::string& name) {
  return test::content_of(directory.file(name + ".csv"));
}

ExportReport write(const HandMadeCapture& capture, ExportOptions options,
                   const std::string& directory) {
  options.format = ExportFormat::kCsv;
  const query::CaptureView view = capture.view();
  auto selection = query::SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  exporting::ExportJob job{**selection, options, directory, {}};
  REQUIRE(exporting::write_csv(job, directory).has_value());
  return job.report;
}

}  // namespace

constexpr const char* kStacks =
    "id,parent,frame,address,module_id,module,file_offset,name,location\n";
constexpr const char* kSamples =
    "time_ns,pid,tid,cpu,event,weight,origin,flags,stack,node,process,thread,comm\n";

TEST_CASE("csv: the tree of callstacks, and samples that name its nodes") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.modules[1].file_offset = 0x400;
  capture.tables.modules[1].start_ns = 900;
  capture.tables.modules[1].end_ns = 95'000;
  capture.tables.processes[1].start_ns = 2400;
  capture.tables.processes[1].end_ns = 6000;
  capture.tables.threads[1].start_ns = 2600;
  capture.tables.threads[1].end_ns = 3100;
  const test::TemporaryDirectory directory;
  const ExportReport report = write(capture, {}, directory.path());
  CHECK(report.samples == 9);
  CHECK(report.stacks == 4);
  // Callstack 0 is main() of alpha and of beta: two nodes, of which the first has its id. Other
  // nodes count on from the four callstacks.
  CHECK(test::sorted_lines(table(directory, "stacks")) ==
        std::vector<std::string>{
            "0,,u1010,0x0000000000001010,0,alpha,0x0000000000000010,alpha+0x10,",
            "1,4,u10020,0x0000000000010020,1,libc.so.6,0x0000000000000420,libc.so.6+0x420,",
            "2,6,u20020,0x0000000000020020,3,libc.so.6,0x0000000000000020,libc.so.6+0x20,",
            "3,1,kffff0100,0x00000000ffff0100,4,[kernel.kallsyms],0x0000000000000100,"
            "[kernel.kallsyms]+0x100,",
            "4,,u1010,0x0000000000001010,0,alpha,0x000000000000000f,alpha+0xf,",
            "5,,u1010,0x0000000000001010,2,beta,0x0000000000000010,beta+0x10,",
            "6,,u1010,0x0000000000001010,2,beta,0x000000000000000f,beta+0xf,",
            "id,parent,frame,address,module_id,module,file_offset,name,location"});
  CHECK(table(directory, "samples") == std::string(kSamples) +
                                           "1000,10,10,0,0,5,recorded,0,0,0,0,0,alpha\n"
                                           "2000,10,10,0,0,6,recorded,0,1,1,0,0,alpha\n"
                                           "2500,20,20,0,0,7,recorded,0,0,5,1,2,beta\n"
                                           "3000,10,11,0,0,8,recorded,0,1,1,0,1,worker\n"
                                           "3500,20,20,0,0,9,recorded,0,2,2,1,2,beta\n"
                                           "4000,10,10,0,0,10,recorded,0,3,3,0,0,alpha\n"
                                           "4500,10,10,0,1,1,recorded,0,3,3,0,0,alpha\n"
                                           "5000,20,20,0,0,11,none,0,,,1,2,beta\n"
                                           "90000,10,10,0,0,12,recorded,0,0,0,0,0,alpha\n");
  CHECK(table(directory, "events") == "id,name,has_weight\n0,cycles,1\n1,sched:sched_switch,0\n");
  CHECK(table(directory, "processes") ==
        "id,pid,parent_pid,start_ns,end_ns,name,command_line\n"
        "0,10,,,,alpha,\n1,20,,2400,6000,beta,\n");
  CHECK(table(directory, "threads") ==
        "id,pid,tid,start_ns,end_ns,name\n"
        "0,10,10,,,alpha\n1,10,11,2600,3100,worker\n2,20,20,,,beta\n");
  const auto modules = test::sorted_lines(table(directory, "modules"));
  REQUIRE(modules.size() == 6);
  CHECK(modules[1] ==
        "1,10,0x0000000000010000,0x0000000000010fff,0x0000000000001000,0x0000000000000400,"
        "900,95000,/lib/libc.so.6,,");
  CHECK(modules[4] ==
        "4,,0x00000000ffff0000,0x00000000ffffffff,0x0000000000010000,0x0000000000000000,"
        ",,[kernel.kallsyms],,");
  CHECK(table(directory, "metadata") == "key,value\n");
}

TEST_CASE("csv: functions have places, and frames the calls that were inlined there") {
  HandMadeCapture capture = test::small_capture();
  Names& names = capture.tables.names;
  const auto text = [&names](const char* value) {
    names.texts.add(value);
    return static_cast<std::uint32_t>(names.texts.size() - 1);
  };
  Function in_file;  // libc's 0x20
  in_file.owner = FunctionOwner::kImage;
  in_file.module = 1;
  in_file.start = 0x10;
  in_file.size = 0x20;
  in_file.source = FunctionSource::kPprof;
  in_file.name = text("malloc");
  in_file.linkage = text("__libc_malloc");
  in_file.file = text("malloc.c");
  in_file.line = 30;
  Function made;  // 0x1010 of process 10
  made.pid = 10;
  made.start = 0x1000;
  made.size = 0x100;
  made.born_ns = 5;
  made.source = FunctionSource::kClr;
  made.name = text("N.A.a()");
  names.functions = {made, in_file};
  InlinedCall call;
  call.name = text("checked_add");
  call.call_file = in_file.file;
  call.call_line = 35;
  names.inlined = {call};
  CodeLine line;
  static_cast<CodeRange&>(line) = in_file;
  line.inlined = 0;
  line.file = text("check.h");
  line.line = 7;
  names.lines = {line};
  const test::TemporaryDirectory directory;
  ExportOptions options;
  options.filter.pid = 10;
  write(capture, options, directory.path());
  CHECK(table(directory, "functions") ==
        "id,name,linkage,file,line,source,pid,module_id,start,last,born_ns\n"
        "0,N.A.a(),N.A.a(),,,clr,10,,0x0000000000001000,0x00000000000010ff,5\n"
        "1,malloc,__libc_malloc,malloc.c,30,pprof,,1,0x0000000000000010,0x000000000000002f,\n"
        "2,checked_add,checked_add,check.h,,pprof,,,,,\n");
  const auto frames = test::sorted_lines(table(directory, "frames"));
  const auto stacks = test::sorted_lines(table(directory, "stacks"));
  REQUIRE(frames.size() == 5);
  CHECK(frames.back() == "location,depth,function,line");
  CHECK(std::count(frames.begin(), frames.end(), "2,0,2,7") == 1);
  CHECK(std::count(frames.begin(), frames.end(), "2,1,1,35") == 1);
  CHECK(std::count(stacks.begin(), stacks.end(),
                   "1,4,u10020,0x0000000000010020,1,libc.so.6,0x0000000000000020,malloc,2") == 1);
  CHECK(std::count_if(stacks.begin(), stacks.end(), [](const std::string& row) {
          return row.ends_with(",[kernel.kallsyms]+0x100,");
        }) == 1);
}

TEST_CASE("csv: filters keep the stacks of the samples they keep") {
  const HandMadeCapture capture = test::small_capture();
  ExportOptions options;
  options.filter.tid = 11;
  const test::TemporaryDirectory directory;
  write(capture, options, directory.path());
  CHECK(table(directory, "stacks") ==
        std::string(kStacks) +
            "4,,u1010,0x0000000000001010,0,alpha,0x000000000000000f,alpha+0xf,\n"
            "1,4,u10020,0x0000000000010020,1,libc.so.6,0x0000000000000020,libc.so.6+0x20,\n");
  CHECK(table(directory, "samples") ==
        std::string(kSamples) + "3000,10,11,0,0,8,recorded,0,1,1,0,1,worker\n");
}

TEST_CASE("csv: a file of counts has them in place of samples") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.has_samples = false;
  capture.tables.stack_counts = {{0, 0, 10, StackOrigin::kIpOnly, 4, 400},
                                 {kNoStack, 1, kUnknownId, StackOrigin::kNone, 1, 2}};
  const test::TemporaryDirectory directory;
  CHECK(write(capture, {}, directory.path()).samples == 5);
  CHECK(table(directory, "samples") ==
        "pid,event,samples,weight,origin,stack,node,process,comm\n"
        "10,0,4,400,ip_only,0,0,0,alpha\n,1,1,2,none,,,,\n");
}

TEST_CASE("csv: the scripts name every table and column") {
  for (const bool samples : {true, false}) {
    const std::string duckdb = exporting::duckdb_script(samples);
    const std::string sqlite = exporting::sqlite_script(samples);
    for (const char* name : {"stacks", "frames", "functions", "samples", "events", "modules",
                             "processes", "threads", "metadata"}) {
      CAPTURE(name);
      std::string header = exporting::csv_header(name, samples);
      REQUIRE_FALSE(header.empty());
      for (const std::string& script : {duckdb, sqlite}) {
        const std::string create = std::string("CREATE TABLE ") + name + " (";
        const std::size_t begin = script.find(create);
        REQUIRE(begin != std::string::npos);
        const std::string columns = script.substr(begin, script.find('\n', begin) - begin);
        CHECK(columns_of(columns) == std::count(header.begin(), header.end(), ',') + 1);
        CHECK(script.find(std::string(name) + ".csv") != std::string::npos);
      }
    }
  }
  CHECK(exporting::csv_header("stack", true).empty());
}
