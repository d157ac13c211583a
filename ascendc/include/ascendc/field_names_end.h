// The macros of the program are in force again, see field_names_begin.h.
#pragma pop_macro("R")
#pragma pop_macro("N")
#pragma pop_macro("M")
