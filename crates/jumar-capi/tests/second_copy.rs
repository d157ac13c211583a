//! A second copy of the library, loaded into the same process, finds the first and reports it.

use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::{env, fs};

struct Copy {
    count: extern "C" fn(*mut u32) -> i32,
    message: extern "C" fn() -> *const c_char,
}

impl Copy {
    fn open(path: &Path) -> Result<Copy, Box<dyn Error>> {
        let path = CString::new(path.as_os_str().as_encoded_bytes())?;
        // SAFETY: loading the library runs nothing that this test does not want.
        let object = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(
            !object.is_null(),
            "{} cannot be loaded",
            path.to_string_lossy()
        );
        // SAFETY: the object is open and the name ends in a zero byte.
        let count = unsafe { libc::dlsym(object, c"aclrtGetDeviceCount".as_ptr()) };
        // SAFETY: as above.
        let message = unsafe { libc::dlsym(object, c"aclGetRecentErrMsg".as_ptr()) };
        assert!(!count.is_null() && !message.is_null());
        Ok(Copy {
            // SAFETY: the symbol has this type.
            count: unsafe {
                std::mem::transmute::<*mut c_void, extern "C" fn(*mut u32) -> i32>(count)
            },
            // SAFETY: the symbol has this type.
            message: unsafe {
                std::mem::transmute::<*mut c_void, extern "C" fn() -> *const c_char>(message)
            },
        })
    }

    fn devices(&self) -> (i32, u32) {
        let mut count = 0;
        let code = (self.count)(&raw mut count);
        (code, count)
    }
}

fn library() -> Result<PathBuf, Box<dyn Error>> {
    let own = env::current_exe()?;
    let deps = own.parent().ok_or("a test lies in a folder")?;
    let found = [Some(deps), deps.parent()]
        .into_iter()
        .flatten()
        .map(|f| f.join("libascendcl.so"))
        .find(|p| p.exists());
    Ok(found.ok_or("libascendcl.so was not built")?)
}

#[test]
fn the_second_copy_names_both_and_the_first_goes_on() -> Result<(), Box<dyn Error>> {
    let first_path = library()?;
    let folder = env::temp_dir().join(format!("jumar-second-copy-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let second_path = folder.join("libacl_rt.so");
    fs::copy(&first_path, &second_path)?;

    let first = Copy::open(&first_path)?;
    let second = Copy::open(&second_path)?;
    let (code, devices) = first.devices();
    assert_eq!(code, 0);
    assert!(devices > 0);

    for _ in 0..2 {
        assert_eq!(second.devices(), (500_000, 0));
        let text = (second.message)();
        assert!(!text.is_null());
        // SAFETY: not null, and the library's texts end in a zero byte.
        let text = unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned();
        for path in [&first_path, &second_path] {
            assert!(
                text.contains(&*path.to_string_lossy()),
                "{} is not named in: {text}",
                path.display()
            );
        }
    }
    assert_eq!(first.devices().0, 0);
    fs::remove_dir_all(&folder)?;
    Ok(())
}
