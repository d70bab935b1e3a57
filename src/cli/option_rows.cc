#include "cli/option_rows.h"

#include <algorithm>

namespace stackpack::cli {

namespace {

using Words = std::vector<std::string>;

}  // namespace

std::vector<std::string> OptionRow::name_list() const {
  Words list;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    list.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

OptionRow* OptionRow::type_name(std::string name) {
  value = std::move(name);
  return this;
}

OptionRow* OptionRow::group(std::string_view name) {
  heading = name;
  return this;
}

OptionRow* OptionRow::one_at_a_time() {
  form = Form::kRepeated;
  return this;
}

OptionRow* OptionRow::default_str(std::string words) {
  preset = std::move(words);
  return this;
}

OptionRow* OptionRow::required() {
  needed = true;
  return this;
}

OptionRow* OptionRow::excludes(const OptionRow* other) {
  rival = other;
  return this;
}

OptionRow* OptionRow::check(std::function<std::string(const std::string&)> problem) {
  take = [called = name_list().back(), problem = std::move(problem),
          inner = std::move(take)](const Words& words) {
    for (const std::string& word : words) {
      const std::string wrong = problem(word);
      if (!wrong.empty()) {
        throw RefusedValue(called, wrong);
      }
    }
    inner(words);
  };
  return this;
}

OptionRow* CommandRow::add(std::string names, OptionRow::Form form, std::string text,
                           std::function<void(const Words&)> take) {
  OptionRow& row = options_.emplace_back();
  row.names = std::move(names);
  row.form = form;
  row.text = std::move(text);
  row.heading = "Options";
  row.take = std::move(take);
  return &row;
}

OptionRow* CommandRow::add_help(std::string names, std::string text) {
  return add(std::move(names), OptionRow::Form::kHelp, std::move(text), nullptr);
}

OptionRow* CommandRow::add_flag(std::string names, bool& given, std::string text) {
  return add(std::move(names), OptionRow::Form::kFlag, std::move(text),
             [&given](const Words& /*none*/) { given = true; });
}

OptionRow* CommandRow::add_flag_callback(std::string names, std::function<void()> given,
                                         std::string text) {
  return add(std::move(names), OptionRow::Form::kFlag, std::move(text),
             [given = std::move(given)](const Words& /*none*/) { given(); });
}

OptionRow* CommandRow::add_option(std::string names, std::string& value, std::string text) {
  return add(std::move(names), OptionRow::Form::kValue, std::move(text),
             [&value](const Words& words) { value = words.back(); });
}

OptionRow* CommandRow::add_option(std::string names, Words& values, std::string text) {
  return add(std::move(names), OptionRow::Form::kAllThatFollow, std::move(text),
             [&values](const Words& words) { values = words; });
}

OptionRow* CommandRow::add_option_function(std::string names,
                                           std::function<void(const std::string&)> take,
                                           std::string text) {
  return add(std::move(names), OptionRow::Form::kValue, std::move(text),
             [take = std::move(take)](const Words& words) { take(words.back()); });
}

OptionRow* CommandRow::add_list_function(std::string names, std::function<void(const Words&)> take,
                                         std::string text) {
  return add(std::move(names), OptionRow::Form::kAllThatFollow, std::move(text), std::move(take));
}

}  // namespace stackpack::cli
