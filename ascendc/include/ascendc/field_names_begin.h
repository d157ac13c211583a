// The public interface has fields, constants and parameters of one letter, and programs define macros of one letter. Between this file and
// field_names_end.h such macros of the program are not in force. Included several times.
#pragma push_macro("M")
#pragma push_macro("N")
#pragma push_macro("R")
#undef M
#undef N
#undef R
