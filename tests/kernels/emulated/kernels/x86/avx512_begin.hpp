// Empty: the emulated kernels run on the baseline instructions.
