#include <doctest/doctest.h>

#include "export/hand_made_capture.h"

using namespace stackpack;
using test::HandMadeCapture;

namespace {

std::string table(const test::TemporaryDirectory& directory, const std::string& name) {
  return test::content_of(directory.file(name + ".csv"));
}

ExportReport write(const HandMadeCapture& capture, const ExportOptions& options,
                   const std::string& directory) {
  const exporting::CaptureView view = capture.view();
  auto selection = exporting::SampleSelection::create(view, options);
  REQUIRE(selection.has_value());
  exporting::ExportJob job{**selection, options, directory, {}};
  REQUIRE(exporting::write_csv(job, directory).has_value());
  return job.report;
}

}  // namespace

TEST_CASE("csv: the tree of callstacks, and samples that name its nodes") {
  // In canonical order, as a .spk file has them: 1010; 1010 10020; 1010 10020 k; 1010 20020.
  HandMadeCapture capture = test::small_capture();
  std::swap(capture.stacks[2], capture.stacks[3]);
  const test::TemporaryDirectory directory;
  const ExportReport report = write(capture, {}, directory.path());
  CHECK(report.samples == 9);
  CHECK(report.stacks == 4);
  CHECK(table(directory, "stacks") ==
        "id,parent,frame,address\n"
        "1,,u1010,4112\n"
        "2,1,u10020,65568\n"
        "3,2,kffff0100,4294902016\n"
        "4,1,u20020,131104\n");
  CHECK(table(directory, "samples") ==
        "time_ns,pid,tid,cpu,event,weight,origin,flags,stack\n"
        "1000,10,10,0,0,5,recorded,0,1\n"
        "2000,10,10,0,0,6,recorded,0,2\n"
        "2500,20,20,0,0,7,recorded,0,1\n"
        "3000,10,11,0,0,8,recorded,0,2\n"
        "3500,20,20,0,0,9,recorded,0,3\n"
        "4000,10,10,0,0,10,recorded,0,4\n"
        "4500,10,10,0,1,1,recorded,0,4\n"
        "5000,20,20,0,0,11,none,0,\n"
        "90000,10,10,0,0,12,recorded,0,1\n");
  CHECK(table(directory, "events") == "id,name,has_weight\n0,cycles,1\n1,sched:sched_switch,0\n");
  CHECK(table(directory, "processes") ==
        "pid,parent_pid,start_ns,end_ns,name,command_line\n10,,,,alpha,\n20,,,,beta,\n");
  CHECK(table(directory, "threads") ==
        "pid,tid,start_ns,end_ns,name\n10,10,,,alpha\n10,11,,,worker\n20,20,,,beta\n");
  CHECK(test::sorted_lines(table(directory, "modules")).size() == 6);
  CHECK(table(directory, "metadata") == "key,value\n");
}

TEST_CASE("csv: filters keep the stacks of the samples they keep") {
  HandMadeCapture capture = test::small_capture();
  std::swap(capture.stacks[2], capture.stacks[3]);
  ExportOptions options;
  options.tid = 11;
  const test::TemporaryDirectory directory;
  write(capture, options, directory.path());
  CHECK(table(directory, "stacks") == "id,parent,frame,address\n1,,u1010,4112\n2,1,u10020,65568\n");
  CHECK(table(directory, "samples") ==
        "time_ns,pid,tid,cpu,event,weight,origin,flags,stack\n3000,10,11,0,0,8,recorded,0,2\n");
}

TEST_CASE("csv: a file of counts has them in place of samples") {
  HandMadeCapture capture = test::small_capture();
  capture.tables.has_samples = false;
  capture.tables.stack_counts = {{0, 0, 10, StackOrigin::kIpOnly, 4, 400},
                                 {kNoStack, 1, kUnknownId, StackOrigin::kNone, 1, 2}};
  const test::TemporaryDirectory directory;
  CHECK(write(capture, {}, directory.path()).samples == 5);
  CHECK(table(directory, "samples") ==
        "pid,event,samples,weight,origin,stack\n10,0,4,400,ip_only,1\n,1,1,2,none,\n");
}
