// The CPU device: f32 rows in the host's memory, kernels from a table, tasks on an executor.
#pragma once
#include <memory>

#include "base/executor.hpp"
#include "base/memory.hpp"
#include "device/device.hpp"
#include "kernels/kernels.hpp"

namespace clef::device {

// All three arguments outlive the device.
std::unique_ptr<Device> make_cpu_device(const kernels::Table& kernels, base::Executor& executor, base::Memory& memory);

}  // namespace clef::device
