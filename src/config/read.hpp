// From a TOML file and --set overrides to a checked configuration.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/options.hpp"
#include "config/validate.hpp"

namespace fedpp::config {

/// A configuration and, for messages, where its values were given.
struct Resolved {
  Config config;
  Origins origins;
};

/// By whom a configuration file was written. Keys without effect (effects.hpp) are a person's mistake; the program's
/// own files may hold some, of other versions or derived from another run's.
enum class Written { kByAPerson, kByTheProgram };

/// Reads `file`, then applies `overrides` ("section.key=value", in order, the last one wins), then checks all of it
/// (validate()). Relative data files (data.train, validation, test, windows, client_files) are made absolute: those in
/// the file start at the file's folder, those in an override at the current folder. A value in an override is TOML;
/// text may stand without quotes and a list without brackets, its items separated by commas. What the defaults leave
/// to other keys ("auto": settle(); the number of participants) is settled. Throws UserError that lists the mistakes
/// found, each with file, line and column (or the override), key, value and remedy.
Resolved read(const std::filesystem::path& file, const std::vector<std::string>& overrides = {},
              Written written = Written::kByAPerson);

/// The same from text; `name` stands for the file in messages, relative data files in it start at `folder`
/// ("": the current one).
Resolved read_text(const std::string& text, const std::string& name, const std::filesystem::path& folder,
                   const std::vector<std::string>& overrides = {}, Written written = Written::kByAPerson);

}  // namespace fedpp::config
