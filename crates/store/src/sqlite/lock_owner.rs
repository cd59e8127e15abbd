//! Finding the process that holds the lock of a file, in the list that Linux keeps.

use std::fs::File;

/// The id of a process that holds a `flock` lock of this file. `None` where the system does not report it, or when the
/// process is in another container.
#[cfg(target_os = "linux")]
pub(super) fn lock_owner(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;

    let inode = file.metadata().ok()?.ino();
    owner_in(&std::fs::read_to_string("/proc/locks").ok()?, inode)
}

/// The id of a process that holds a lock of this file: not known on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn lock_owner(_file: &File) -> Option<u32> {
    None
}

/// Finds the inode in a listing whose lines read `1: FLOCK  ADVISORY  WRITE 708 fe:00:386 0 EOF`. The device is not
/// compared: on layered file systems it is not the one that a file's metadata names.
#[cfg(target_os = "linux")]
fn owner_in(listing: &str, inode: u64) -> Option<u32> {
    let owner = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (kind, _advisory, _access) = (words.next()?, words.next()?, words.next()?);
        let process = words.next()?.parse::<u32>().ok()?;
        let listed = words.next()?.rsplit(':').next()?.parse::<u64>().ok()?;
        (kind == "FLOCK" && listed == inode && process > 0).then_some(process)
    };
    listing.lines().find_map(owner)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::owner_in;

    #[test]
    fn the_process_is_found_by_the_inode() {
        let listing = "1: POSIX  ADVISORY  READ 5 fe:00:386 0 EOF\n\
                       2: FLOCK  ADVISORY  WRITE 708 fe:00:386 0 EOF\n\
                       2: -> FLOCK  ADVISORY  WRITE 9 fe:00:386 0 EOF\n\
                       3: FLOCK  ADVISORY  WRITE -1 00:1a:77 0 EOF\n";
        assert_eq!(owner_in(listing, 386), Some(708));
        assert_eq!(owner_in(listing, 77), None, "it is in another container");
        assert_eq!(owner_in(listing, 1), None);
    }
}
