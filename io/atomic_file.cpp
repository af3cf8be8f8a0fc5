#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/open_file.hpp"
#include "io/partial_file.hpp"

namespace fedpp::io {

namespace {

/// A rename puts a new file in the place of whatever is there: right for files alone.
void require_replaceable(const std::string& path) {
  std::error_code unknown;
  const auto type = std::filesystem::symlink_status(path, unknown).type();
  using std::filesystem::file_type;
  if (type == file_type::directory) throw Error(fmt::format("{}: is a folder: name a file to write", path));
  if (type == file_type::symlink)
    throw Error(fmt::format("{}: is a symbolic link, which the result would replace: name the file itself", path));
  if (type == file_type::block || type == file_type::character || type == file_type::fifo || type == file_type::socket)
    throw Error(fmt::format("{}: is a device, pipe or socket, which the result would replace: name a file", path));
}

template <class Json>
void write_any_json(const std::string& path, const Json& value) {
  write_file(path, value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void rename_durably(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail_by_errno(to, fmt::format("cannot rename {} to it", from));
  OpenFile(folder_of(to), O_RDONLY).flush();
}

void check_writable(const std::string& path, const std::vector<std::string>& inputs) {
  require_replaceable(path);
  std::error_code missing;
  for (const auto& input : inputs)
    if (std::filesystem::equivalent(path, input, missing))
      throw Error(
          fmt::format("{}: is read here ({}), and the result would replace it: name another file", path, input));
  const PartialFile trial(path);
}

void write_file(const std::string& path, std::string_view content) {
  PartialFile partial(path);
  partial.append(content);
  partial.commit();
}

void write_json(const std::string& path, const nlohmann::json& value) { write_any_json(path, value); }
void write_json(const std::string& path, const nlohmann::ordered_json& value) { write_any_json(path, value); }

}  // namespace fedpp::io
