//! The bounded functions of `securec.h` (libc_sec): each exported symbol is a jump to the C function, as in `log.rs`, because half of
//! them take variable arguments.

use std::arch::naked_asm;

macro_rules! jumps {
    ($($name:ident -> $target:ident),* $(,)?) => {
        unsafe extern "C" {
            $(fn $target();)*
        }
        $(
            /// Jumps to the C function.
            ///
            /// # Safety
            /// Called from C with the arguments that `securec.h` declares.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                naked_asm!("jmp {target}", target = sym $target);
                #[cfg(target_arch = "aarch64")]
                naked_asm!("b {target}", target = sym $target);
            }
        )*
    };
}

jumps!(
    memset_s -> jumar_memset_s,
    memcpy_s -> jumar_memcpy_s,
    memmove_s -> jumar_memmove_s,
    strcpy_s -> jumar_strcpy_s,
    strncpy_s -> jumar_strncpy_s,
    strcat_s -> jumar_strcat_s,
    strncat_s -> jumar_strncat_s,
    strtok_s -> jumar_strtok_s,
    sprintf_s -> jumar_sprintf_s,
    vsprintf_s -> jumar_vsprintf_s,
    snprintf_s -> jumar_snprintf_s,
    vsnprintf_s -> jumar_vsnprintf_s,
    snprintf_truncated_s -> jumar_snprintf_truncated_s,
    vsnprintf_truncated_s -> jumar_vsnprintf_truncated_s,
    scanf_s -> jumar_scanf_s,
    vscanf_s -> jumar_vscanf_s,
    sscanf_s -> jumar_sscanf_s,
    vsscanf_s -> jumar_vsscanf_s,
    fscanf_s -> jumar_fscanf_s,
    vfscanf_s -> jumar_vfscanf_s,
    gets_s -> jumar_gets_s,
    wmemcpy_s -> jumar_wmemcpy_s,
    wmemmove_s -> jumar_wmemmove_s,
    wcscpy_s -> jumar_wcscpy_s,
    wcsncpy_s -> jumar_wcsncpy_s,
    wcscat_s -> jumar_wcscat_s,
    wcsncat_s -> jumar_wcsncat_s,
    wcstok_s -> jumar_wcstok_s,
    swprintf_s -> jumar_swprintf_s,
    vswprintf_s -> jumar_vswprintf_s,
    wscanf_s -> jumar_wscanf_s,
    vwscanf_s -> jumar_vwscanf_s,
    swscanf_s -> jumar_swscanf_s,
    vswscanf_s -> jumar_vswscanf_s,
    fwscanf_s -> jumar_fwscanf_s,
    vfwscanf_s -> jumar_vfwscanf_s,
);
