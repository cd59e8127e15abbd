//! Finds the bundled map: a file of tiles with finer coasts, towns and names than the world map inside the program.

use std::env;
use std::path::{Path, PathBuf};

use crate::config::{ConfigError, Map};
use crate::tiles::Tiles;

/// A folder with this file is a bundled map.
const TILES: &str = "world.pmtiles";

/// The map in the configured folder. If none is configured, the map in the first of the usual folders that has one.
pub fn find(map: &Map) -> Result<Option<Tiles>, ConfigError> {
    let named = &map.folder;
    if !named.as_os_str().is_empty() {
        let opened = Tiles::of_file(&named.join(TILES));
        return opened.map(Some).map_err(|problem| ConfigError { key: "map.folder", problem });
    }
    let folders = usual_folders(env::current_exe().ok().as_deref());
    let Some(file) = folders.iter().map(|folder| folder.join(TILES)).find(|file| file.is_file()) else {
        return Ok(None);
    };
    // The file was not configured, so a damaged one does not prevent the start.
    let opened = Tiles::of_file(&file);
    if let Err(problem) = &opened {
        tracing::warn!(%problem, "cannot read the bundled map");
    }
    Ok(opened.ok())
}

/// The usual folders of the map, for a program at this path: beside it, the folder of packages, the working directory,
/// and the clone in which the program was built (`target/release/perigee`).
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
