// Pages of several files: what their figures do not show. Those are compared in page_totals.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "export/html/joint_content.h"
#include "export/html/joint_facts.h"

using namespace stackpack;
using namespace stackpack::exporting;

namespace {

using Numbers = std::vector<std::uint32_t>;

/// root -> NAME, NAME -> leaf, in a module, 5 samples at the leaf that weigh `weight`.
PageContent page_of_file(const std::string& name, std::uint64_t weight) {
  PageContent content;
  content.modules = {"app"};
  for (const std::string& function : {name, std::string("leaf")}) {
    content.functions.emplace_back().name = function;
    content.functions.back().module = 0;
  }
  content.parents = {0, 0, 1};
  content.node_functions = {0, 0, 1};
  content.measures = {{"clock", "samples"}, {"clock", "ns"}};
  content.self = {{{{2, 5}}, {{2, weight}}}};
  return content;
}

Numbers add(JointContent& joint, const PageContent& file) {
  const auto nodes = joint.add_tree(file);
  REQUIRE(nodes);
  const PageTree::EventRow event{0, {0, 1}};
  CHECK(joint.add_weights(file, *nodes, {&event, 1}) == Numbers{0});
  return *nodes;
}

SampleSurvey survey_of(std::size_t threads, std::uint64_t samples) {
  SampleSurvey survey;
  for (std::uint32_t i = 0; i < threads; ++i) {
    survey.threads.push_back({1, i, i == 0 ? "" : "shell", "thread"});
    survey.samples_of_thread.push_back(samples);
  }
  return survey;
}

}  // namespace

TEST_CASE("pages of several files: functions and callstacks that are the same are one") {
  JointContent joint;
  CHECK(add(joint, page_of_file("main", 50)) == Numbers{0, 1, 2});
  CHECK(add(joint, page_of_file("start", 50)) == Numbers{0, 3, 4});
  PageContent again = page_of_file("main", 50);
  again.functions[0].mode = query::CodeMode::kKernel;
  CHECK(add(joint, again) == Numbers{0, 1, 2});
  CHECK(joint.function_count() == 3);
  PageContent content;
  const auto events = joint.hand_over(content);
  CHECK(content.parents == Numbers{0, 0, 1, 0, 3});
  CHECK(content.modules == std::vector<std::string>{"app"});
  CHECK(content.functions[0].mode == query::CodeMode::kKernel);
  REQUIRE(content.measures.size() == 2);
  REQUIRE(content.self.front().front().size() == 2);
  CHECK(content.self.front()[0][0].value == 10);
  CHECK(content.self.front()[1][0].value == 100);
  REQUIRE(events.size() == 1);
  CHECK(events[0].weight == 1U);
}

TEST_CASE("pages of several files: a function in another module is another one") {
  JointContent joint;
  add(joint, page_of_file("main", 5));
  PageContent other = page_of_file("main", 5);
  other.modules = {"lib"};
  add(joint, other);
  CHECK(joint.function_count() == 4);
  CHECK(joint.node_count() == 5);
}

TEST_CASE("pages of several files: weights that are counts everywhere are no measure") {
  JointContent joint;
  add(joint, page_of_file("main", 5));
  PageContent content;
  CHECK_FALSE(joint.hand_over(content).front().weight);
  CHECK(content.measures.size() == 1);
  JointContent mixed;
  add(mixed, page_of_file("main", 5));
  add(mixed, page_of_file("main", 6));
  PageContent both;
  CHECK(mixed.hand_over(both).front().weight == 1U);
  CHECK(both.self.front()[1][0].value == 11);
}

TEST_CASE("pages of several files: events beyond the room for measures are counted") {
  JointContent joint;
  const std::size_t room = kMostPageMeasures / 2;
  for (std::size_t i = 0; i < room + 3; ++i) {
    PageContent file = page_of_file("main", 7);
    file.measures[0].name = file.measures[1].name = "event " + std::to_string(i);
    const auto nodes = joint.add_tree(file);
    REQUIRE(nodes);
    const PageTree::EventRow event{0, {0, 1}};
    CHECK(joint.add_weights(file, *nodes, {&event, 1}).front() == i);
  }
  PageContent content;
  const auto events = joint.hand_over(content);
  CHECK(content.measures.size() == kMostPageMeasures);
  CHECK(joint.events_left_out() == 3);
  CHECK(events.size() == room + 3);
  CHECK_FALSE(events.back().count);
}

TEST_CASE("pages of several files: the busiest threads have rows, the others one") {
  JointThreads threads;
  threads.add(survey_of(2, 7), "a.spk");
  SampleSurvey crowd = survey_of(kMostPageThreads, 3);
  crowd.threads.push_back(other_threads(9));
  crowd.samples_of_thread.push_back(0);
  crowd.other_threads = 9;
  threads.add(crowd, "b.spk");
  const auto rows = threads.choose();
  REQUIRE(rows.size() == kMostPageThreads + 1);
  CHECK(rows[0].process == "(a.spk)");
  CHECK(rows[1].process == "shell (a.spk)");
  CHECK(rows.back().thread == "[11 other threads]");
  CHECK(threads.count() == 2 + kMostPageThreads + 9);
  CHECK(threads.left_out() == 11);
  const Numbers of_b = threads.rows_of_file(1);
  CHECK(of_b.front() == 2);
  CHECK(of_b[kMostPageThreads - 1] == kMostPageThreads);  // too few samples: with the others
  CHECK(of_b.back() == kMostPageThreads);
}

TEST_CASE("pages of several files: threads that files left out add up, and none are no row") {
  SampleSurvey crowd = survey_of(3, 5);
  crowd.threads.push_back(other_threads(9));
  crowd.samples_of_thread.push_back(2);
  crowd.other_threads = 9;
  JointThreads threads;
  threads.add(crowd, "a.spk");
  crowd.other_threads = 4;
  threads.add(crowd, "b.spk");
  const auto rows = threads.choose();
  REQUIRE(rows.size() == 7);
  CHECK(rows.back().thread == "[13 other threads]");
  CHECK(threads.left_out() == 13);
  CHECK(threads.count() == 6 + 13);
  CHECK(threads.rows_of_file(0) == Numbers{0, 1, 2, 6});
  CHECK(threads.rows_of_file(1) == Numbers{3, 4, 5, 6});

  JointThreads whole;
  whole.add(survey_of(2, 5), "a.spk");
  CHECK(whole.choose().size() == 2);
  CHECK(whole.left_out() == 0);
}

TEST_CASE("pages of several files: files are called by their names where these are unique") {
  const std::vector<std::string> paths = {"x/a.spk", "y/a.spk", "z/b.spk"};
  CHECK(file_labels(paths) == std::vector<std::string>{"x/a.spk", "y/a.spk", "b.spk"});
}

TEST_CASE("pages of several files: losses say whose they are") {
  PageContent file;
  file.facts = {{"Kind", "perf"}, {"Selection", "everything"}, {"Samples", "9"}};
  file.losses = {{"lost", 3, "samples lost"}};
  PageContent content;
  add_file_facts(file, "a.spk", content);
  REQUIRE(content.facts.size() == 1);
  CHECK(content.facts[0].value == "Kind: perf; Samples: 9");
  CHECK(content.losses[0].text == "a.spk: samples lost");
  CHECK(content.losses[0].count == 3);
}
