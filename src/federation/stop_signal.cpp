#include "federation/stop_signal.hpp"

#include <atomic>
#include <csignal>

namespace fedpp::federation {

namespace {

std::atomic<int> received{0};

void on_signal(int signal) {
  received = signal;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);  // who presses Ctrl-C twice does not want to wait
}

}  // namespace

void watch_for_signals() {
  std::signal(SIGUSR1, on_signal);
  std::signal(SIGTERM, on_signal);
  if (std::signal(SIGINT, on_signal) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
}

int stop_signal() { return received.load(); }

int stop_signal_of_any(mpi::Communicator& world) { return world.allreduce(stop_signal(), mpi::Op::max, "metrics"); }

}  // namespace fedpp::federation
