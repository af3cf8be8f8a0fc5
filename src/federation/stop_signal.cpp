#include "federation/stop_signal.hpp"

#include <atomic>
#include <csignal>

namespace fedpp::federation {

namespace {

std::atomic<int> received{0};
std::atomic<void (*)(int)> at_once{SIG_DFL};  // what SIGINT did before

void on_signal(int signal) {
  received = signal;
  if (signal == SIGINT) std::signal(SIGINT, at_once);  // who presses Ctrl-C twice does not want to wait
}

}  // namespace

void watch_for_signals() {
  std::signal(SIGUSR1, on_signal);
  std::signal(SIGTERM, on_signal);
  const auto before = std::signal(SIGINT, on_signal);
  if (before == SIG_IGN) std::signal(SIGINT, SIG_IGN);
  if (before != on_signal) at_once = before;
}

int stop_signal() { return received.load(); }

void stop_if_asked() {
  if (stop_signal() != 0) throw mpi::Interrupted("asked to stop by a signal");
}

int stop_signal_of_any(mpi::Communicator& world) { return world.allreduce(stop_signal(), mpi::Op::max, "metrics"); }

}  // namespace fedpp::federation
