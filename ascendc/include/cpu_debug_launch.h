// The name under which older tests include what launches a kernel on the CPU.
#include "tikicpulib.h"
