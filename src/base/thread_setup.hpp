// What a worker thread of ours does first, per operating system.
#pragma once

namespace clef::base {

// Blocks all signals, so that the host's handlers run on the host's threads, and names the thread.
void set_up_worker_thread() noexcept;

}  // namespace clef::base
