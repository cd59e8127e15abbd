//! Hides addresses that a caller may not see: contact groups, users and the account's routing are not visible to users
//! who are limited to one group or one device.

use perigee_core::access::actor::Reach;

use super::extract::Caller;

/// The address as the caller may see it: complete for users who see the whole account and for their own address,
/// otherwise only its beginning.
pub fn shown_address(caller: &Caller, address: String) -> String {
    if is_visible(caller, &address) { address } else { hidden(&address) }
}

/// Whether the caller may see any address of the account, or this one is their own.
pub fn is_visible(caller: &Caller, address: &str) -> bool {
    caller.scope().reach == Reach::Account
        || caller.user().profile.email.as_str().eq_ignore_ascii_case(address)
}

/// The first letter of an address, or the first three characters of a number: enough to distinguish two, too little to
/// use one.
pub fn hidden(address: &str) -> String {
    let shown = if address.starts_with('+') { 3 } else { 1 };
    let start: String = address.chars().take(shown).collect();
    format!("{start}***")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_name_nor_domain_is_shown() {
        assert_eq!(hidden("ana@example.com"), "a***");
        assert_eq!(hidden("+34600123456"), "+34***");
        assert_eq!(hidden("élan@example.com"), "é***");
        assert_eq!(hidden(""), "***");
    }
}
