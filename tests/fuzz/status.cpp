// status.jsonl as 'fedpp status' reads it: anything may stand there.
#include <filesystem>
#include <fstream>

#include "commands/run_status.hpp"
#include "config/error.hpp"
#include "input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fedpp;
  static const std::string folder = [] {
    const std::string name = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm/fedpp-status-" : "/tmp/fedpp-status-") +
                             std::to_string(::getpid());
    std::filesystem::create_directory(name);
    std::atexit([] {
      std::error_code ignored;
      for (const char* base : {"/dev/shm/fedpp-status-", "/tmp/fedpp-status-"})
        std::filesystem::remove_all(base + std::to_string(::getpid()), ignored);
    });
    return name;
  }();
  for (const char* name : {"/status.jsonl", "/result.json"})
    std::ofstream(folder + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    fuzz::promise(!commands::to_text(folder, commands::read_status(folder)).empty(), "a status has a text");
  } catch (const UserError&) {
  }
  return 0;
}
