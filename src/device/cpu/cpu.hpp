// The CPU device: f32 rows in the host's memory, kernels from a table, tasks on an executor.
#pragma once
#include <memory>

#include "base/cpu.hpp"
#include "base/executor.hpp"
#include "base/memory.hpp"
#include "device/device.hpp"

namespace clef::device {

// Kernels of that level, or the best below it that this build has. Executor and memory outlive the device.
std::unique_ptr<Device> make_cpu_device(base::IsaLevel level, base::Executor& executor, base::Memory& memory);

}  // namespace clef::device
