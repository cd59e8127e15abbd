//! The folder with the bundled map: finer coasts, towns and names than the world map inside the program.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::config::{ConfigError, Map};

/// The list of packs; a folder without it is not taken for a map.
pub const INDEX: &str = "packs.json";
/// Towns, capes and ports by name.
const PLACES: &str = "places.bin";

/// The folder, and the only names that are read from it. No other name, such as one with `..`, becomes a path.
#[derive(Clone, Debug)]
pub struct BundledMap {
    folder: PathBuf,
    names: HashSet<String>,
}

/// The packs of each level, as `column-row` separated by spaces.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    region: String,
    local: String,
}

impl BundledMap {
    /// The folder the operator named, else the first of the usual ones that has a map, else none.
    pub fn open(map: &Map) -> Result<Option<Self>, ConfigError> {
        let wrong = |problem: String| ConfigError { key: "map.folder", problem };
        let named = &map.folder;
        if !named.as_os_str().is_empty() {
            let read = Self::read_index(named.clone());
            return read
                .map(Some)
                .map_err(|error| wrong(format!("cannot read {}: {error}", named.join(INDEX).display())));
        }
        let found = usual_folders(env::current_exe().ok().as_deref())
            .into_iter()
            .find(|folder| folder.join(INDEX).is_file());
        let Some(folder) = found else { return Ok(None) };
        match Self::read_index(folder.clone()) {
            Ok(bundled) => Ok(Some(bundled)),
            Err(error) => {
                // Nobody asked for this folder, so a damaged one does not keep the service from starting.
                tracing::warn!(folder = %folder.display(), %error, "cannot read the bundled map");
                Ok(None)
            }
        }
    }

    fn read_index(folder: PathBuf) -> io::Result<Self> {
        let index: Index = serde_json::from_slice(&fs::read(folder.join(INDEX))?)?;
        let mut names = HashSet::from([INDEX.to_owned(), PLACES.to_owned()]);
        for (level, packs) in [("region", &index.region), ("local", &index.local)] {
            for pack in packs.split_whitespace() {
                if !is_pack(pack) {
                    return Err(io::Error::other(format!("{pack:?} is not the name of a pack")));
                }
                names.insert(format!("{level}-{pack}.bin"));
            }
        }
        Ok(Self { folder, names })
    }

    /// The bytes of a file as stored, gzipped for `.bin`; none when the map has no such file.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        if !self.names.contains(name) {
            return Ok(None);
        }
        match fs::read(self.folder.join(name)) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether this is a column and a row, such as `15-11`.
fn is_pack(text: &str) -> bool {
    text.split_once('-').is_some_and(|(column, row)| {
        [column, row]
            .iter()
            .all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|sign| sign.is_ascii_digit()))
    })
}

/// Where the map is when no setting says so, for a program at this path: beside it, where packages put it, in the
/// folder the service was started in, and in the clone that the program was built in (`target/release/perigee`).
fn usual_folders(program: Option<&Path>) -> Vec<PathBuf> {
    let beside = program.and_then(Path::parent);
    let installed = beside.map(|folder| [folder.join("map"), folder.join("../share/perigee/map")]);
    let built = beside.filter(|folder| folder.parent().is_some_and(|target| target.ends_with("target")));
    let clone = built.map(|folder| folder.join("../../map"));
    installed.into_iter().flatten().chain([PathBuf::from("map")]).chain(clone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_are_a_column_and_a_row() {
        for (text, expect) in [
            ("0-0", true),
            ("15-11", true),
            ("", false),
            ("-", false),
            ("1-", false),
            ("1-2-3", false),
            ("../1-2", false),
            ("1-/etc", false),
            ("1000-0", false),
        ] {
            assert_eq!(is_pack(text), expect, "{text}");
        }
    }

    #[test]
    fn the_map_is_found_beside_programs_of_packages_and_clones() {
        let folders = |program: &str| usual_folders(Some(Path::new(program)));
        assert!(folders("/usr/bin/perigee").contains(&PathBuf::from("/usr/bin/../share/perigee/map")));
        assert!(folders("/opt/perigee/perigee").contains(&PathBuf::from("/opt/perigee/map")));
        let clone = PathBuf::from("/src/target/release/../../map");
        assert!(folders("/src/target/release/perigee").contains(&clone));
        assert!(!folders("/usr/bin/perigee").contains(&PathBuf::from("/usr/bin/../../map")));
        assert_eq!(usual_folders(None), [PathBuf::from("map")]);
    }
}
