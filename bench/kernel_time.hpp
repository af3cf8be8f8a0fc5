// How much of a piece of work is spent in kernels: what is left of its time are launches, and waiting for them.
#pragma once

namespace fedpp::bench::kernel_time {

/// Once, before Kokkos starts: no fence at every kernel, which Kokkos else puts around what a tool watches.
void allow();

/// Watches all kernels that are launched from here on.
void start();

/// Seconds in the kernels since start(), one after the other: on a GPU of its own clock, which passes them in the order of
/// the stream (their work must have ended); elsewhere of now(). Watches no more.
double stop();

}  // namespace fedpp::bench::kernel_time
