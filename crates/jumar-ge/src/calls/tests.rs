use super::*;
use crate::FAILED;

fn errors() -> String {
    message::take_errors()
}

#[test]
fn a_program_of_another_version_is_refused_with_both_versions() {
    errors();
    let newer = VERSION + 1;
    assert_eq!(call(newer, number::GRAPH_NEW, &[]), Err(FAILED));
    let text = errors();
    assert!(
        text.contains("version 2") && text.contains("has version 1"),
        "{text}"
    );
    assert_eq!(check_version(newer), Err(FAILED));
    assert!(errors().contains("compile the program again"));
}

#[test]
fn a_program_of_before_there_were_versions_is_refused() {
    errors();
    // It passed the address of a name where the version is now, and the address of the message where the number is.
    assert_eq!(call(0x5581_2345, 0x7ffd_1230, &[]), Err(FAILED));
    assert!(errors().contains("a version before 1"));
}

#[test]
fn a_program_of_any_version_reads_why_it_was_refused() {
    errors();
    assert_eq!(call(0, number::OP_NEW, &[]), Err(FAILED));
    let reply = call(0, number::GE_ERROR, &[]).expect("every version answers it");
    let text = Reader::new(&reply).text().expect("a text");
    assert!(text.contains("Graph Engine calls"), "{text}");
    let reply = call(0, number::GE_WARNING, &[]).expect("every version answers it");
    assert!(Reader::new(&reply).text().is_ok());
}

#[test]
fn a_number_that_is_not_known_is_refused_with_the_number() {
    errors();
    let beyond = table::CALLS.len() as u32 + 1;
    for number in [0, beyond, u32::MAX] {
        assert_eq!(call(VERSION, number, &[]), Err(FAILED));
        let text = errors();
        assert!(text.contains(&format!("call {number} ")), "{text}");
    }
}

#[test]
fn calls_whose_message_is_cut_short_fail_and_say_so() {
    // These take no message.
    let bare = [
        number::GE_ERROR,
        number::GE_LAST_ERROR,
        number::GE_WARNING,
        number::GE_FINALIZE,
        number::GE_LIBRARIES,
    ];
    let numbers = 1..=table::CALLS.len() as u32;
    for number in numbers.filter(|number| !bare.contains(number)) {
        errors();
        message::take_warnings();
        assert!(call(VERSION, number, &[1, 2, 3]).is_err(), "{number}");
        let text = errors() + &message::take_warnings();
        assert!(text.contains("cut short"), "{number}: {text}");
    }
}
