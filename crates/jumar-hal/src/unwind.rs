//! Panics of code that belongs to others, which end where it was called.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a function. A panic of it ends here.
///
/// # Errors
/// The panic's text. The value that the panic carried is dropped here, and a panic of its destructor ends here too: it would otherwise
/// leave through a caller that has more to do before it may leave.
pub fn catch<T>(function: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|payload| {
        let text = text(&*payload);
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            // A destructor that panics may carry a value whose destructor panics.
            std::mem::forget(second);
        }
        text
    })
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no text").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value that panics when it is dropped, as often as it says.
    struct Bomb(u32);

    impl Drop for Bomb {
        fn drop(&mut self) {
            if self.0 > 0 {
                std::panic::panic_any(Bomb(self.0 - 1));
            }
        }
    }

    #[test]
    fn a_panic_is_its_text_whatever_it_carries() {
        assert_eq!(catch(|| 7), Ok(7));
        assert_eq!(
            catch(|| panic!("on {}", "purpose")),
            Err::<(), _>("on purpose".to_owned())
        );
        for bombs in [0, 1, 2] {
            let caught = catch(|| std::panic::panic_any(Bomb(bombs)));
            assert_eq!(caught, Err::<(), _>("no text".to_owned()));
        }
    }
}
