// Text and JSON files that are there whole or not at all, and whether a file could be written so.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "io/error.hpp"

namespace fedpp::io {

/// Replaces `path` by a file with this content. Throws io::Error with path and the system's reason (disk full,
/// read-only, missing folder); then the old file is untouched and nothing is left beside it.
void write_file(const std::string& path, std::string_view content);

/// Throws io::Error where `path` could not be written as write_file does, so that work for it is not done in vain, or
/// would replace what is no regular file (a device, a link) or one of `inputs`. Leaves nothing, and touches nothing of
/// another program that writes the same file.
void check_writable(const std::string& path, const std::vector<std::string>& inputs = {});

/// The same as write_file for JSON, indented by two, with a newline at the end. Numbers that JSON lacks (NaN,
/// infinities) become null.
void write_json(const std::string& path, const nlohmann::json& value);
void write_json(const std::string& path, const nlohmann::ordered_json& value);

/// Renames (replacing) and flushes the folder of the new name.
void rename_durably(const std::string& from, const std::string& to);

/// The folder that holds `path` ("." for a bare name).
std::string folder_of(const std::string& path);

}  // namespace fedpp::io
