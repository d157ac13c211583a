//! The addresses of this machine.

use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

/// Lists the interfaces that are up, in the system's order, each with an address.
///
/// # Errors
/// What the system refused.
pub fn interfaces() -> std::io::Result<Vec<(String, IpAddr)>> {
    let mut first: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: the pointer lives until the call returns.
    let done = unsafe { libc::getifaddrs(&raw mut first) };
    if done != 0 {
        return Err(std::io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: an element of the list, which is freed below.
        let one = unsafe { &*next };
        next = one.ifa_next;
        if one.ifa_addr.is_null() || one.ifa_flags & libc::IFF_UP.cast_unsigned() == 0 {
            continue;
        }
        if let Some(address) = address(one.ifa_addr) {
            // SAFETY: a string that ends in a zero, of an element of the list.
            let name = unsafe { CStr::from_ptr(one.ifa_name) };
            found.push((name.to_string_lossy().into_owned(), address));
        }
    }
    // SAFETY: the list of the call above, which nothing refers to any more.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

fn address(found: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the caller's list has a valid address here.
    let family = unsafe { (*found).sa_family };
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: an address of this family has this form; it may be less aligned.
            let four = unsafe { found.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(four.sin_addr.s_addr.to_ne_bytes()).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as before.
            let six = unsafe { found.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(six.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_is_listed() {
        let all = interfaces().expect("a list");
        let expected = ("lo".to_owned(), IpAddr::from(Ipv4Addr::LOCALHOST));
        assert!(all.contains(&expected), "{all:?}");
    }
}
