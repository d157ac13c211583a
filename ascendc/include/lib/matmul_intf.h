#error "lib/matmul_intf.h: the Matmul object is not supported by Jumar (docs/ascendc.md)"
