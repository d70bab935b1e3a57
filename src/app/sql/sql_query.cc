#include "app/sql/sql_query.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace stackpack::app {

namespace {

constexpr int kSuccess = 0;

// duckdb_type. Source: as of duckdb_library.h.
constexpr int kBoolean = 1;
constexpr int kNumbers[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 19, 32};

constexpr Error kRefused{ErrorCode::kUsage, kNoOffset, "DuckDB refuses the query"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Whether a name is a word of a text, in small or capital letters.
bool has_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  for (auto at = text.begin();;) {
    at = std::search(at, text.end(), word.begin(), word.end(), same);
    if (at == text.end()) {
      return false;
    }
    const auto end = at + static_cast<std::ptrdiff_t>(word.size());
    if ((at == text.begin() || !is_word(*(at - 1))) && (end == text.end() || !is_word(*end))) {
      return true;
    }
    ++at;
  }
}

std::vector<std::string> names_of_tables() {
  std::vector<std::string> names;
  for (const std::string_view name : arrow_table_names()) {
    names.emplace_back(name);
  }
  names.emplace_back(kProviderEventTable);
  return names;
}

// `between` stands between the names, `quote` around each.
std::string joined_names(std::string_view between, std::string_view quote) {
  std::string text;
  for (const std::string& name : names_of_tables()) {
    text.append(text.empty() ? "" : between).append(quote).append(name).append(quote);
  }
  return text;
}

// Tables are made when a question names them: none is there to be listed.
bool asks_for_tables(std::string_view question) {
  std::string words;
  for (const char c : question) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank) {
      words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  return words == "show tables" || words == "show all tables";
}

std::string_view text_of(const DuckText& text) {
  constexpr std::uint32_t kInside = 12;
  return {text.length <= kInside ? text.start : text.rest, text.length};
}

// A result that is given back.
class OwnedResult {
 public:
  explicit OwnedResult(const DuckdbFunctions& duck) : duck_(duck) {}
  OwnedResult(const OwnedResult&) = delete;
  OwnedResult& operator=(const OwnedResult&) = delete;
  ~OwnedResult() { duck_.destroy_result(&result_); }

  [[nodiscard]] DuckResult* get() { return &result_; }

 private:
  const DuckdbFunctions& duck_;
  DuckResult result_;
};

}  // namespace

SqlQuery::SqlQuery(const DuckdbLibrary& library, SqlTables tables)
    : duck_(library.functions()), tables_(std::move(tables)) {}

SqlQuery::~SqlQuery() {
  if (connection_ != nullptr) {
    duck_.disconnect(&connection_);
  }
  if (database_ != nullptr) {
    duck_.close(&database_);
  }
}

Status SqlQuery::fail(const char* text) {
  problem_ = text == nullptr ? "DuckDB says nothing of it" : text;
  problem_.resize(std::min(problem_.size(), problem_.find('\n')));  // the rest points at a place
  if (problem_.find("Table with name") != std::string::npos) {
    problem_ += " There are " + joined_names(", ", "");
  }
  return Error(kRefused);
}

Status SqlQuery::open() {
  if (connection_ != nullptr) {
    return {};
  }
  void* config = nullptr;
  char* error = nullptr;
  const bool opened = duck_.create_config(&config) == kSuccess &&
                      duck_.set_config(config, "enable_external_access", "false") == kSuccess &&
                      duck_.set_config(config, "lock_configuration", "true") == kSuccess &&
                      duck_.open_ext(nullptr, &database_, config, &error) == kSuccess &&
                      duck_.connect(database_, &connection_) == kSuccess;
  duck_.destroy_config(&config);
  return opened ? Status() : fail(error == nullptr ? "no database can be opened" : error);
}

Status SqlQuery::execute(const std::string& sql) {
  OwnedResult done(duck_);
  return duck_.query(connection_, sql.c_str(), done.get()) == kSuccess
             ? Status()
             : fail(duck_.result_error(done.get()));
}

// The tables whose names are in the question become tables of the database: a stream can be read
// once, a question may read a table several times.
Status SqlQuery::load_tables(const std::string& sql) {
  for (const std::string_view name : arrow_table_names()) {
    if (!has_word(sql, name)) {
      continue;
    }
    ArrowArrayStream stream{};
    ArrowOptions options;
    options.any_order = true;
    const Status made = tables_.of_file->stream(*arrow_table_of(name), options, &stream);
    if (const Status kept = made ? keep(name, stream) : made; !kept) {
      return kept;
    }
  }
  if (!has_word(sql, kProviderEventTable)) {
    return {};
  }
  ArrowArrayStream stream{};
  const Status made =
      stream_provider_events(tables_.path, tables_.reading, {tables_.providers, {}}, &stream);
  return made ? keep(kProviderEventTable, stream) : made;
}

// Makes a table of a stream, which it releases.
Status SqlQuery::keep(std::string_view name, ArrowArrayStream& stream) {
  const std::string table(name);
  const std::string view = "stackpack_stream_" + table;
  const bool scanned = duck_.arrow_scan(connection_, view.c_str(), &stream) == kSuccess;
  std::string copy = "CREATE OR REPLACE TABLE ";
  copy.append(table).append(" AS SELECT * FROM ").append(view);
  Status kept = scanned ? execute(copy) : fail("a table cannot be read");
  if (stream.release != nullptr) {
    stream.release(&stream);
  }
  return kept;
}

Status SqlQuery::describe(const std::string& sql, std::vector<SqlColumn>& columns) {
  OwnedResult none(duck_);
  if (duck_.query(connection_, ("SELECT * FROM (" + sql + "\n) AS answer LIMIT 0").c_str(),
                  none.get()) != kSuccess) {
    return fail(duck_.result_error(none.get()));
  }
  for (std::uint64_t i = 0; i < duck_.column_count(none.get()); ++i) {
    const int type = duck_.column_type(none.get(), i);
    SqlColumn& column = columns.emplace_back();
    column.name = duck_.column_name(none.get(), i);
    column.is_boolean = type == kBoolean;
    column.is_number =
        std::find(std::begin(kNumbers), std::end(kNumbers), type) != std::end(kNumbers);
  }
  return {};
}

Status SqlQuery::fetch(DuckResult& result, std::size_t columns,
                       const std::function<Status(Row)>& row) {
  std::vector<std::optional<std::string_view>> values(columns);
  while (void* chunk = duck_.fetch_chunk(result)) {
    const std::uint64_t rows = duck_.data_chunk_get_size(chunk);
    Status written;
    for (std::uint64_t i = 0; i < rows && written; ++i) {
      for (std::size_t column = 0; column < columns; ++column) {
        void* const vector = duck_.data_chunk_get_vector(chunk, column);
        const std::uint64_t* const valid = duck_.vector_get_validity(vector);
        const bool known = valid == nullptr || (valid[i / 64] >> (i % 64) & 1U) != 0;
        const auto* const texts = static_cast<const DuckText*>(duck_.vector_get_data(vector));
        values[column] = known ? std::optional(text_of(texts[i])) : std::nullopt;
      }
      written = row(values);
    }
    duck_.destroy_data_chunk(&chunk);
    if (!written) {
      return written;
    }
  }
  return {};
}

Result<bool> SqlQuery::run(const std::string& sql, std::size_t most,
                           const std::function<Status(std::span<const SqlColumn>)>& columns,
                           const std::function<Status(Row)>& row) {
  std::string question = sql;
  while (!question.empty() &&
         (question.back() == ';' || std::isspace(static_cast<unsigned char>(question.back())))) {
    question.pop_back();
  }
  const bool lists = asks_for_tables(question);
  if (lists) {
    question = "SELECT unnest([" + joined_names(",", "'") + "]) AS name";
  }
  if (const Status opened = open(); !opened) {
    return opened.error();
  }
  if (const Status loaded = lists ? Status() : load_tables(question); !loaded) {
    return loaded.error();
  }
  std::vector<SqlColumn> described;
  if (const Status done = describe(question, described); !done) {
    return done.error();
  }
  if (const Status taken = columns(described); !taken) {
    return taken.error();
  }
  // One more row than asked for says whether there are more.
  const std::string limit = most == 0 ? "" : " LIMIT " + std::to_string(most + 1);
  OwnedResult answer(duck_);
  if (duck_.query(
          connection_,
          ("SELECT COLUMNS(*)::VARCHAR FROM (" + question + "\n) AS answer" + limit).c_str(),
          answer.get()) != kSuccess) {
    return fail(duck_.result_error(answer.get())).error();
  }
  std::size_t given = 0;
  bool more = false;
  const Status fetched = fetch(*answer.get(), described.size(), [&](Row values) -> Status {
    if (most != 0 && given == most) {
      more = true;
      return {};
    }
    ++given;
    return row(values);
  });
  return fetched ? Result<bool>(more) : Result<bool>(fetched.error());
}

}  // namespace stackpack::app
