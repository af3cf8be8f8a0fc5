// Inside the io layer: names of files that a signal which ends the program deletes.
#pragma once

#include <signal.h>

#include <string>

namespace fedpp::io {

/// From now on a signal that ends the program deletes what is unfinished first; those that the program was started to
/// ignore stay ignored.
void delete_unfinished_when_killed();

/// As long as it lives, `path` is unfinished.
class Unfinished {
 public:
  explicit Unfinished(const std::string& path);
  Unfinished(Unfinished&& other) noexcept;
  Unfinished& operator=(Unfinished&&) = delete;
  ~Unfinished();

 private:
  struct Slot* slot_;
};

/// As long as it lives, this thread's ending signals wait: for what lies between making a file and naming it here.
class SignalsWait {
 public:
  SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait();

 private:
  sigset_t before_;
};

}  // namespace fedpp::io
