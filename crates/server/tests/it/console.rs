//! The console: its page, its public settings, and the operator's map.

use std::io::Read as _;
use std::path::Path;

use serde_json::json;

use crate::support::{Engine, TestApp};

/// A file of tiles with nothing in it but its header and some bytes.
fn write_tiles(path: &Path, tile_type: u8) {
    let mut file = vec![7; 5_000];
    file[..8].copy_from_slice(b"PMTiles\x03");
    (file[99], file[100], file[101]) = (tile_type, 1, 14);
    let bounds: [i32; 4] = [-100_000_000, 350_000_000, 50_000_000, 440_000_000];
    for (index, degrees) in bounds.into_iter().enumerate() {
        file[102 + 4 * index..106 + 4 * index].copy_from_slice(&degrees.to_le_bytes());
    }
    std::fs::write(path, file).unwrap();
}

#[tokio::test]
async fn every_page_is_the_console() {
    let app = TestApp::new(Engine::Sqlite).await;
    let root = app.call("GET /").send().await;
    assert_eq!((root.status.as_u16(), root.header("cache-control")), (200, "no-cache"));
    assert!(String::from_utf8_lossy(&root.body).contains("<base href=\"/\">"));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    ] {
        assert_eq!(root.header(name), value);
    }
    assert!(root.header("permissions-policy").contains("camera=()"));
    let deep = app.call("GET /devices/dev_01jc2m8k4n5p5").send().await;
    assert_eq!((deep.status.as_u16(), deep.body), (200, root.body));
    app.call("GET /assets/gone-B3xZ9_kq.js").send().await.expect_error(404, "not-found");
    app.call("GET /api/nothing").send().await.expect_error(404, "not-found");
    app.call("POST /devices").send().await.expect_error(404, "not-found");
}

#[tokio::test]
async fn the_page_starts_from_the_prefix() {
    let base = "https://example.com/track".to_owned();
    let app = TestApp::with(Engine::Sqlite, |config| config.server.base_url = base).await;
    for path in ["/track/", "/track/devices", "/devices"] {
        let page = app.call(&format!("GET {path}")).send().await;
        assert!(String::from_utf8_lossy(&page.body).contains("<base href=\"/track/\">"), "{path}");
    }
}

#[tokio::test]
async fn says_what_server_it_is_and_no_more() {
    let app = TestApp::new(Engine::Sqlite).await;
    app.tenant("acme", 10).await;
    let facts = app.call("GET /api/console").send().await.expect(200);
    assert_eq!(
        facts,
        json!({
            "success": true,
            "server": {"name": "Perigee", "version": env!("CARGO_PKG_VERSION")},
            "baseUrl": "http://perigee.test",
            "map": {"bundled": false, "layers": [], "center": [0.0, 25.0], "zoom": 1.5},
            "channels": {"email": false, "sms": false, "push": true, "others": []},
            "languages": ["en", "es", "fr", "de", "pt", "it"],
        })
    );
    app.call("GET /api/console?more=1").send().await.expect_error(400, "invalid-parameter");
    let none = app.call("GET /api/map/tiles.pmtiles").header("range", "bytes=0-9").send().await;
    none.expect_error(404, "not-found");
}

#[tokio::test]
async fn the_operators_maps_are_offered_and_served_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("world.pmtiles");
    write_tiles(&path, 1);
    let app = TestApp::with(Engine::Sqlite, |config| {
        config.map.pmtiles = path.clone();
        config.map.tile_url = "https://tiles.example.com/{z}/{x}/{y}.png".to_owned();
        config.email.host = "mail.example.com".to_owned();
    })
    .await;
    let facts = app.call("GET /api/console").send().await.expect(200);
    assert_eq!(facts["channels"], json!({"email": true, "sms": false, "push": true, "others": []}));
    let [file, tiles] = facts["map"]["layers"].as_array().unwrap().as_slice() else {
        panic!("two maps in {facts}");
    };
    assert_eq!(
        (&file["format"], &file["minZoom"], &file["maxZoom"]),
        (&json!("vector"), &json!(1), &json!(14))
    );
    assert_eq!(file["bounds"], json!([-10.0, 35.0, 5.0, 44.0]));
    assert_eq!((&tiles["kind"], &tiles["format"]), (&json!("tiles"), &json!("raster")));

    let address = format!("GET /{}", file["url"].as_str().unwrap());
    let part =
        app.call(&address).header("range", "bytes=0-4000").header("accept-encoding", "gzip").send().await;
    assert_eq!((part.status.as_u16(), part.body.len()), (206, 4_001));
    assert_eq!(part.header("content-range"), "bytes 0-4000/5000");
    assert_eq!(part.header("content-encoding"), "", "parts of a file are parts of its bytes");
    assert_eq!(part.body, std::fs::read(&path).unwrap()[..4_001]);
    let beyond = app.call(&address).header("range", "bytes=5000-5009").send().await;
    assert_eq!((beyond.status.as_u16(), beyond.header("content-range")), (416, "bytes */5000"));
    app.call(&address).send().await.expect_error(400, "invalid-header");
}

#[test]
fn a_file_that_is_no_map_is_refused_at_the_start() {
    use perigee_server::tiles::Tiles;
    let folder = tempfile::tempdir().unwrap();
    let mut map = crate::support::app::default_config().map;
    assert!(Tiles::open(&map).unwrap().is_none());
    map.pmtiles = folder.path().join("missing.pmtiles");
    assert!(Tiles::open(&map).is_err());
    for (tile_type, expect) in [(1, true), (5, true), (0, false), (9, false)] {
        write_tiles(&map.pmtiles, tile_type);
        assert_eq!(Tiles::open(&map).is_ok(), expect, "{tile_type}");
    }
    std::fs::write(&map.pmtiles, "PMTiles").unwrap();
    assert!(Tiles::open(&map).is_err());
}

#[tokio::test]
async fn the_bundled_map_is_served_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    write_tiles(&folder.path().join("world.pmtiles"), 1);
    std::fs::write(folder.path().join("secret.bin"), "secret").unwrap();
    let app = TestApp::with(Engine::Sqlite, |config| config.map.folder = folder.path().to_owned()).await;
    let facts = app.call("GET /api/console").send().await.expect(200);
    assert_eq!(facts["map"]["bundled"], true);
    let part = app.call("GET /api/map/bundled/world.pmtiles").header("range", "bytes=0-126").send().await;
    assert_eq!((part.status.as_u16(), part.header("content-range")), (206, "bytes 0-126/5000"));
    assert!(part.header("cache-control").contains("max-age=86400"));
    for name in ["secret.bin", "..%2Fworld.pmtiles", "..%2f..%2fetc%2fpasswd", "%2Fetc%2Fpasswd"] {
        let answer = app.call(&format!("GET /api/map/bundled/{name}")).send().await;
        assert!(matches!(answer.status.as_u16(), 400 | 404), "{name}: {}", answer.status);
    }
}

#[tokio::test]
async fn without_the_bundled_map_places_are_served_all_the_same() {
    let app = TestApp::new(Engine::Sqlite).await;
    let facts = app.call("GET /api/console").send().await.expect(200);
    assert_eq!(facts["map"]["bundled"], false);
    let tiles = app.call("GET /api/map/bundled/world.pmtiles").header("range", "bytes=0-9").send().await;
    tiles.expect_error(404, "not-found");

    let packed = app.call("GET /api/map/places.bin").header("accept-encoding", "br, gzip").send().await;
    assert_eq!((packed.status.as_u16(), packed.header("content-encoding")), (200, "gzip"));
    assert_eq!(packed.header("content-type"), "application/octet-stream");
    let tag = packed.header("etag").to_owned();
    let same =
        app.call("GET /api/map/places.bin").header("accept-encoding", "gzip").header("if-none-match", &tag);
    let same = same.send().await;
    assert_eq!((same.status.as_u16(), same.body.len()), (304, 0));
    let plain = app.call("GET /api/map/places.bin").send().await;
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!((plain.header("content-encoding"), &plain.body[..]), ("", &unpacked[..]));
}

#[test]
fn a_folder_that_is_no_map_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut map = crate::support::app::default_config().map;
    map.folder = folder.path().to_owned();
    assert!(perigee_server::bundled_map::find(&map).is_err());
    std::fs::write(folder.path().join("world.pmtiles"), "[]").unwrap();
    assert!(perigee_server::bundled_map::find(&map).is_err());
    write_tiles(&folder.path().join("world.pmtiles"), 1);
    assert!(perigee_server::bundled_map::find(&map).unwrap().is_some());
}
