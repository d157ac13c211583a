//! What this module itself refused, for `acl.get_recent_err_msg`: the library cannot know of a call that never reached it.

use std::cell::RefCell;

thread_local! {
    static NOTE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps a sentence for this thread, in place of an older one.
pub fn keep(sentence: String) {
    NOTE.set(Some(sentence));
}

/// Takes the sentence of this thread away.
pub fn take() -> Option<String> {
    NOTE.take()
}
