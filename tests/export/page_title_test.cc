#include <string_view>

#include <doctest/doctest.h>

#include "export/html/page_facts.h"

namespace stackpack::exporting {

TEST_CASE("a page is headed with the recorded program") {
  struct Case {
    std::string_view command;
    std::string_view title;
  };
  for (const Case& one : {
           Case{"/usr/bin/perf record -g -o a.data -- ./bin/app --rounds 3", "app --rounds 3"},
           Case{"/usr/bin/perf record -a -g -- sleep 10", "perf record -a -g -- sleep 10"},
           Case{"/usr/bin/perf record -a -- sleep", "perf record -a -- sleep"},
           Case{"perf record -- sleepy", "sleepy"},
           Case{"perf record -g make a/b", "perf record -g make a/b"},
           Case{"perf record -- ", "perf record -- "},
       }) {
    CAPTURE(one.command);
    CHECK(page_title(one.command, "perf", SampleSurvey{}) == one.title);
  }
}

TEST_CASE("without a command a page is headed with the busiest process") {
  SampleSurvey survey;
  CHECK(page_title("", "etl", survey) == "etl profile");
  CHECK(page_title("", "", survey) == "Profile");
  survey.threads = {{0, 0, "Idle", ""}, {7, 8, "app.exe", ""}, {9, 9, "other.exe", ""}};
  survey.samples_of_thread = {900, 4, 5};
  CHECK(page_title("", "etl", survey) == "other.exe and 1 other process");
  survey.threads.push_back({7, 10, "app.exe", ""});
  survey.samples_of_thread.push_back(2);
  CHECK(page_title("", "etl", survey) == "app.exe and 1 other process");
  survey.threads = {{7, 8, "app.exe", ""}};
  survey.samples_of_thread = {1};
  CHECK(page_title("", "etl", survey) == "app.exe");
  // What a recorder was told says less, but for the program that it started.
  CHECK(page_title("/usr/bin/perf record -a -g -- sleep 10", "perf", survey) == "app.exe");
  CHECK(page_title("perf record -g make a/b", "perf", survey) == "app.exe");
  CHECK(page_title("perf record -- ./bin/app -n 3", "perf", survey) == "app -n 3");
  CHECK(page_title("wpr -start CPU", "etl", survey) == "wpr -start CPU");
}

}  // namespace stackpack::exporting
