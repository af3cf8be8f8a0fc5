#include "io/unfinished.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cassert>
#include <csignal>
#include <cstring>
#include <utility>

namespace fedpp::io {

/// A name where a signal's handler may read it: its memory stays.
struct Slot {
  std::atomic<bool> taken{false}, filled{false};
  std::array<char, PATH_MAX> path{};
};

namespace {

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGXCPU};

std::array<Slot, 8> slots;  // more than a command writes at once
std::atomic<pid_t> process_of_slots{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

void delete_unfinished(int signal) {
  if (::getpid() == process_of_slots)  // and not a child that it has forked
    for (const Slot& slot : slots)
      if (slot.filled) ::unlink(slot.path.data());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void delete_unfinished_when_killed() {
  process_of_slots = ::getpid();
  for (const int signal : kEndingSignals)
    if (std::signal(signal, delete_unfinished) == SIG_IGN) std::signal(signal, SIG_IGN);
}

Unfinished::Unfinished(const std::string& path) : slot_(nullptr) {
  if (path.size() >= PATH_MAX) return;  // the system makes no such file
  for (Slot& slot : slots) {
    if (slot.taken.exchange(true)) continue;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.filled = true;
    slot_ = &slot;
    return;
  }
  assert(!"a slot for each file");
}

Unfinished::Unfinished(Unfinished&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}

Unfinished::~Unfinished() {
  if (slot_ == nullptr) return;
  slot_->filled = false;
  slot_->taken = false;
}

SignalsWait::SignalsWait() {
  sigset_t ending;
  ::sigemptyset(&ending);
  for (const int signal : kEndingSignals) ::sigaddset(&ending, signal);
  ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
}

SignalsWait::~SignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace fedpp::io
