#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "federation/stop_signal.hpp"

namespace fedpp::federation {
namespace {

volatile std::sig_atomic_t before = 0;

void what_it_did(int) { before = before + 1; }

// In a process of its own, whose signals it may keep.
TEST(StopSignal, ASecondCtrlCDoesWhatItDidBeforeTheTraining) {
  const auto interrupt_twice = [] {
    std::signal(SIGINT, what_it_did);
    watch_for_signals();
    watch_for_signals();  // twice is once
    std::raise(SIGINT);
    if (stop_signal() != SIGINT || before != 0) std::_Exit(1);
    std::raise(SIGINT);
    std::_Exit(before == 1 ? 0 : 2);
  };
  EXPECT_EXIT(interrupt_twice(), testing::ExitedWithCode(0), "");
}

TEST(StopSignal, WhatTheProgramWasStartedToIgnoreStaysIgnored) {
  const auto interrupt = [] {
    std::signal(SIGINT, SIG_IGN);
    watch_for_signals();
    std::raise(SIGINT);
    std::_Exit(stop_signal());
  };
  EXPECT_EXIT(interrupt(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fedpp::federation
