# WITH rules JMR-MEM-016
"""A matrix is filled row by row, but for its last row, and copied whole."""

import sys

import acl

DEVICE_TO_DEVICE = 3
ROW, ROWS = 256, 4

acl.init()
acl.rt.set_device(0)
stream, _ = acl.rt.create_stream()
matrix, _ = acl.rt.malloc(ROW * ROWS, 0)
copy, _ = acl.rt.malloc(ROW * ROWS, 0)
for row in range(ROWS if "clean" in sys.argv else ROWS - 1):
    acl.rt.memset_async(matrix + row * ROW, ROW, row, ROW, stream)
acl.rt.memcpy_async(copy, ROW * ROWS, matrix, ROW * ROWS, DEVICE_TO_DEVICE, stream)  # FINDS JMR-MEM-016
acl.rt.synchronize_stream(stream)
acl.rt.free(copy)
acl.rt.free(matrix)
acl.rt.destroy_stream(stream)
acl.rt.reset_device(0)
acl.finalize()
