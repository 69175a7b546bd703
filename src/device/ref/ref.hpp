// The reference device: every operation as its formula says, in f64, one row at a time, on Eigen matrices. Slow and
// plain on purpose; the oracle for the other devices. Not part of the library.
#pragma once
#include <memory>

#include "device/device.hpp"

namespace clef::device {

std::unique_ptr<Device> make_ref_device();

}  // namespace clef::device
