//! Copying an area of a map from another server: sizes, resuming, changed and broken sources, and who may do it.

mod operations;
mod source;
mod tiles;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use perigee_core::store::Store;
use perigee_server::map_fetch::{AreaSpec, Env, FetchError, FetchedMap, MapFetcher, Patience, Phase, Wanted};
use perigee_server::map_layers::AddedLayers;
use perigee_server::webhook::Guard;
use tokio_util::sync::CancellationToken;

use self::source::{Mood, Source};
use self::tiles::{Map, Read, id_of, tile_at};
use crate::support::{Engine, TestApp};

/// Around the port of Vigo.
const VIGO: AreaSpec = AreaSpec::Bbox([-8.85, 42.15, -8.6, 42.3]);

struct World {
    app: TestApp,
    data: tempfile::TempDir,
    source: Source,
    url: String,
    map: Map,
}

impl World {
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let map = Map::streets(12, "first");
        let (source, url) = Source::start(map.file()).await;
        let app = TestApp::new(Engine::Sqlite).await;
        Self { app, data, source, url: format!("{url}/world.pmtiles"), map }
    }

    fn fetcher(&self) -> MapFetcher {
        self.fetcher_with(|_| {})
    }

    fn fetcher_with(&self, change: impl FnOnce(&mut Env)) -> MapFetcher {
        let store: Arc<dyn Store> = Arc::new(self.app.store.clone());
        let mut env = Env::of(&self.app.app.config, store, Arc::clone(&self.app.app.clock));
        self.data.path().clone_into(&mut env.data);
        env.guard = Guard { allow_http: true, allow_private: true, ..Guard::default() };
        env.patience = Patience { attempts: 3, first_pause: Duration::ZERO };
        env.reserve = 0;
        change(&mut env);
        MapFetcher::new(env)
    }

    fn wanted(&self, area: AreaSpec) -> Wanted {
        Wanted { name: "Streets".to_owned(), source: self.url.clone(), area, max_zoom: 12, attribution: None }
    }

    /// Compares a copy with the source: the tiles of the area are there, and no others.
    fn check(&self, map: &FetchedMap, area: [f64; 4]) {
        let read = Read::of(std::fs::read(file_of(self.data.path(), map)).unwrap());
        assert!(read.root_end <= 16_384);
        assert!(read.metadata.contains("vector_layers"), "{}", read.metadata);
        let [west, south, east, north] = area;
        let mut expected = 0;
        for zoom in 0..=12 {
            let ((_, left, top), (_, right, bottom)) =
                (tile_at(zoom, west, north), tile_at(zoom, east, south));
            for (x, y) in (left..=right).flat_map(|x| (top..=bottom).map(move |y| (x, y))) {
                let Some(tile) = self.map.tile((zoom, x, y)) else { continue };
                expected += 1;
                assert_eq!(read.tile(id_of((zoom, x, y))), Some(&tile[..]), "{zoom}/{x}/{y}");
            }
        }
        assert_eq!(read.places.len(), expected, "no tile outside of the area");
        assert_eq!(map.file.as_ref().map(|file| file.tiles), Some(expected as u64));
    }
}

fn file_of(data: &Path, map: &FetchedMap) -> std::path::PathBuf {
    data.join("maps").join(format!("{}.pmtiles", map.id))
}

/// Runs a job to its end on a thread of its own, as the service does.
async fn run(fetcher: &MapFetcher, map: &FetchedMap, copies: bool) -> (FetchedMap, Result<(), FetchError>) {
    let job = fetcher.begin(map.id, copies, &CancellationToken::new()).unwrap().unwrap();
    tokio::spawn(job.run()).await.unwrap()
}

#[tokio::test]
async fn an_area_is_measured_copied_and_added_as_a_layer() {
    let world = World::new().await;
    let fetcher = world.fetcher();
    let map = fetcher.create(world.wanted(VIGO)).unwrap();
    assert_eq!(world.source.asked(), [], "nothing is read before it is wanted");

    let (map, done) = run(&fetcher, &map, false).await;
    assert_eq!((done, map.phase), (Ok(()), Phase::Measured));
    let plan = map.plan.clone().unwrap();
    let measured: u64 = world.source.asked().iter().map(|(_, first, last)| last + 1 - first).sum();
    let deepest = plan.zooms.last().unwrap();
    assert_eq!(deepest.zoom, 12);
    assert!(deepest.tiles > 6 && plan.zooms.iter().map(|zoom| zoom.tiles).sum::<u64>() == plan.tiles);
    assert_eq!(plan.zooms.iter().map(|zoom| zoom.bytes).sum::<u64>(), plan.tile_bytes);
    assert!(plan.contents < plan.tiles, "the sea is there once");
    assert!(!file_of(world.data.path(), &map).exists());
    let size = world.map.file().len() as u64;
    assert!(measured < size / 2, "{measured} of {size} were read to measure");

    let (map, done) = run(&fetcher, &map, true).await;
    assert_eq!((done, map.phase, &map.plan), (Ok(()), Phase::Ready, &None));
    world.check(&map, [-8.85, 42.15, -8.6, 42.3]);
    let asked = world.source.asked();
    // The first request only compares the version.
    let copied: u64 = asked.iter().skip(1).map(|(_, first, last)| last + 1 - first).sum();
    assert_eq!((copied, asked.len() as u64 - 1), (plan.download_bytes, plan.requests));
    let file = file_of(world.data.path(), &map);
    assert_eq!(file.metadata().unwrap().len(), plan.file_bytes, "as large as was said");
    let added = AddedLayers::read(world.data.path()).unwrap();
    assert_eq!(
        (added.layers[0].name.as_str(), added.layers[0].attribution.as_str()),
        ("Streets", "© Mappers")
    );
    let left: Vec<_> = std::fs::read_dir(file.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 3, "the map, its state and the lock: {left:?}");

    assert!(fetcher.remove(map.id).unwrap());
    assert!(AddedLayers::read(world.data.path()).unwrap().layers.is_empty() && !file.exists());
    assert!(!fetcher.remove(map.id).unwrap());
}

#[tokio::test]
async fn a_killed_copy_continues_where_it_was() {
    let world = World::new().await;
    // Far parts, so that the copy needs several requests.
    let far = AreaSpec::Polygon(vec![
        vec![[-9.35, 42.5], [-9.3, 42.5], [-9.3, 42.55], [-9.35, 42.55]],
        vec![[-8.3, 41.85], [-8.25, 41.85], [-8.25, 41.9], [-8.3, 41.9]],
    ]);
    let fetcher = world.fetcher();
    let map = fetcher.create(world.wanted(far)).unwrap();
    let (map, done) = run(&fetcher, &map, false).await;
    done.unwrap();
    let requests = usize::try_from(map.plan.as_ref().unwrap().requests).unwrap();
    world.source.asked();

    // The server hangs at the last request, and the process is killed.
    world.source.mood(Mood::Hangs, requests, 1);
    let job = fetcher.begin(map.id, true, &CancellationToken::new()).unwrap().unwrap();
    let work = tokio::spawn(job.run());
    world.source.hung.notified().await;
    work.abort();
    assert!(work.await.unwrap_err().is_cancelled());
    assert!(!file_of(world.data.path(), &map).exists(), "an incomplete map is not served");
    world.source.asked();

    let later = world.fetcher();
    let state = later.find(map.id).unwrap().unwrap();
    assert_eq!(state.map.phase, Phase::Stopped, "nothing copies it now");
    let (map, done) = run(&later, &state.map, true).await;
    assert_eq!((done, map.phase), (Ok(()), Phase::Ready));
    let read = Read::of(std::fs::read(file_of(world.data.path(), &map)).unwrap());
    for place in [tile_at(12, -9.32, 42.52), tile_at(12, -8.28, 41.88)] {
        assert_eq!(read.tile(id_of(place)), world.map.tile(place).map(|tile| &tile[..]));
    }
}

#[tokio::test]
async fn a_stopped_copy_reads_nothing_twice() {
    let world = World::new().await;
    let fetcher = world.fetcher();
    let map = fetcher.create(world.wanted(AreaSpec::Bbox([-9.4, 41.8, -8.2, 42.6]))).unwrap();
    let (map, _) = run(&fetcher, &map, false).await;
    let requests = usize::try_from(map.plan.as_ref().unwrap().requests).unwrap();
    world.source.mood(Mood::Hangs, requests, 1);
    let job = fetcher.begin(map.id, true, &CancellationToken::new()).unwrap().unwrap();
    let work = tokio::spawn(job.run());
    world.source.hung.notified().await;
    assert!(fetcher.stop(map.id));
    let (map, done) = work.await.unwrap();
    assert_eq!((done, map.phase, map.problem), (Err(FetchError::Stopped), Phase::Stopped, None));
    world.source.asked();
    let (map, done) = run(&fetcher, &fetcher.find(map.id).unwrap().unwrap().map, true).await;
    done.unwrap();
    assert_eq!(world.source.asked().len(), 2, "the version, and the last part");
    world.check(&map, [-9.4, 41.8, -8.2, 42.6]);
}

#[tokio::test]
async fn broken_connections_are_continued_and_bad_servers_given_up() {
    let world = World::new().await;
    let fetcher = world.fetcher();
    let impatient = world.fetcher_with(|env| env.timeout = Duration::from_millis(200));
    let map = fetcher.create(world.wanted(VIGO)).unwrap();
    // After two good answers, six break off.
    world.source.mood(Mood::BreaksOff, 2, 6);
    let (map, done) = run(&fetcher, &map, true).await;
    assert_eq!((done, map.phase), (Ok(()), Phase::Ready));
    world.check(&map, [-8.85, 42.15, -8.6, 42.3]);
    fetcher.remove(map.id).unwrap();

    for (mood, code, requests) in [
        (Mood::NoRanges, "not-tiles", 1),
        (Mood::OtherRange, "not-tiles", 1),
        (Mood::Redirects, "not-tiles", 1),
        (Mood::Status(404), "unreachable", 1),
        (Mood::Status(400), "unreachable", 1),
        (Mood::Status(503), "unreachable", 3),
        (Mood::Hangs, "unreachable", 3),
    ] {
        let map = fetcher.create(world.wanted(VIGO)).unwrap();
        world.source.asked();
        world.source.mood(mood, 0, 100);
        let by = if matches!(mood, Mood::Hangs) { &impatient } else { &fetcher };
        let (map, done) = run(by, &map, false).await;
        let problem = done.unwrap_err();
        assert_eq!((problem.code(), map.phase), (code, Phase::Failed), "{mood:?}: {problem}");
        assert_eq!(world.source.asked().len(), requests, "{mood:?}");
        let text = map.problem.unwrap().text;
        assert!(!text.contains("127.0.0.1"), "{text}");
        // The same map works once the server does.
        world.source.mood(Mood::Good, 0, 0);
        let (map, done) = run(&fetcher, &fetcher.find(map.id).unwrap().unwrap().map, true).await;
        assert_eq!((done, map.phase), (Ok(()), Phase::Ready), "{mood:?}");
        fetcher.remove(map.id).unwrap();
    }
}

#[tokio::test]
async fn a_source_that_changes_is_noticed_and_an_update_replaces_the_copy() {
    let mut world = World::new().await;
    let fetcher = world.fetcher();
    let map = fetcher.create(world.wanted(VIGO)).unwrap();
    let (map, _) = run(&fetcher, &map, false).await;
    // The same bytes with another tag are another version too: nothing else tells that they are the same.
    world.source.replace(world.map.file(), "\"two\"");
    let (map, done) = run(&fetcher, &map, true).await;
    assert_eq!((done, map.phase, &map.plan), (Err(FetchError::Changed), Phase::Failed, &None));
    assert!(AddedLayers::read(world.data.path()).unwrap().layers.is_empty());
    let (map, done) = run(&fetcher, &map, true).await;
    assert_eq!((done, map.phase), (Ok(()), Phase::Ready), "measured again");
    let first = std::fs::read(file_of(world.data.path(), &map)).unwrap();

    world.map = Map::streets(12, "second");
    world.source.replace(world.map.file(), "\"three\"");
    world.source.mood(Mood::Status(500), 3, 100);
    let (map, done) = run(&fetcher, &map, true).await;
    assert_eq!(done.unwrap_err().code(), "unreachable");
    assert_eq!(std::fs::read(file_of(world.data.path(), &map)).unwrap(), first, "still served");
    world.source.mood(Mood::Good, 0, 0);
    let (map, done) = run(&fetcher, &map, true).await;
    assert_eq!((done, map.phase), (Ok(()), Phase::Ready));
    world.check(&map, [-8.85, 42.15, -8.6, 42.3]);
    assert_eq!(AddedLayers::read(world.data.path()).unwrap().layers.len(), 1, "one layer for both");
}

#[tokio::test]
async fn only_one_map_is_copied_at_a_time() {
    let world = World::new().await;
    let fetcher = world.fetcher();
    let map = fetcher.create(world.wanted(VIGO)).unwrap();
    assert_eq!(fetcher.create(world.wanted(VIGO)), Err(FetchError::Taken));
    let job = fetcher.begin(map.id, true, &CancellationToken::new()).unwrap().unwrap();
    // Another process has its own fetcher.
    for other in [&fetcher, &world.fetcher()] {
        assert_eq!(other.begin(map.id, true, &CancellationToken::new()).err(), Some(FetchError::Busy));
        assert_eq!(other.remove(map.id), Err(FetchError::Busy));
        assert_eq!(other.find(map.id).unwrap().unwrap().map.phase, Phase::Measuring);
    }
    drop(job);
    assert_eq!(fetcher.find(map.id).unwrap().unwrap().map.phase, Phase::Stopped);
    assert!(fetcher.remove(map.id).unwrap());
}

#[tokio::test]
async fn the_disk_keeps_a_reserve() {
    let world = World::new().await;
    let fetcher = world.fetcher();
    let map = fetcher.create(world.wanted(VIGO)).unwrap();
    let full = world.fetcher_with(|env| env.reserve = u64::MAX / 2);
    let (map, done) = run(&full, &map, true).await;
    assert_eq!((done.unwrap_err().code(), map.phase), ("no-space", Phase::Failed));
    let (map, done) = run(&fetcher, &map, true).await;
    assert_eq!((done, map.phase), (Ok(()), Phase::Ready));
}

#[tokio::test]
async fn internal_addresses_and_files_that_are_no_maps_are_refused() {
    let world = World::new().await;
    let guarded = world.fetcher_with(|env| env.guard = Guard::default());
    for source in [
        "http://example.com/world.pmtiles",
        "https://127.0.0.1/world.pmtiles",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/world.pmtiles",
        "https://me:secret@example.com/world.pmtiles",
        "file:///etc/passwd",
        "not an address",
    ] {
        let wanted = Wanted { source: source.to_owned(), ..world.wanted(VIGO) };
        let map = guarded.create(wanted).unwrap();
        let (map, done) = run(&guarded, &map, false).await;
        assert_eq!(done.unwrap_err().code(), "address", "{source}");
        guarded.remove(map.id).unwrap();
    }
    assert_eq!(world.source.asked(), [], "nothing was sent");

    let good = world.map.file();
    let change = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut file = good.clone();
        change(&mut file);
        file
    };
    let bad: [(&str, Vec<u8>); 6] = [
        ("another format", b"<html>".repeat(5_000)),
        ("a short file", b"PMTiles\x03".to_vec()),
        ("version 2", change(&|file| file[7] = 2)),
        ("unknown tiles", change(&|file| file[99] = 9)),
        ("incomplete", change(&|file| file.truncate(file.len() / 2))),
        ("a damaged directory", change(&|file| file[140] ^= 0xff)),
    ];
    let fetcher = world.fetcher();
    for (about, file) in bad {
        world.source.replace(file, "\"bad\"");
        let map = fetcher.create(world.wanted(VIGO)).unwrap();
        let (map, done) = run(&fetcher, &map, true).await;
        assert_eq!(done.unwrap_err().code(), "not-tiles", "{about}");
        assert_eq!(map.phase, Phase::Failed);
        fetcher.remove(map.id).unwrap();
    }
}

#[tokio::test]
async fn the_newest_build_is_found_by_its_date() {
    let world = World::new().await;
    let fetcher = world.fetcher();
    let base = world.url.trim_end_matches("/world.pmtiles");
    // Builds of other days are no files of tiles here: the server answers 404.
    let wanted = Wanted { source: format!("{base}/{{date}}"), ..world.wanted(VIGO) };
    let map = fetcher.create(wanted).unwrap();
    let (map, done) = run(&fetcher, &map, false).await;
    assert_eq!(done.unwrap_err().code(), "unreachable");
    let asked: Vec<String> = world.source.asked().into_iter().map(|(path, ..)| path).collect();
    let today: String =
        world.app.app.clock.now().to_string().chars().take(10).filter(|sign| *sign != '-').collect();
    assert_eq!((asked.len(), &asked[0]), (10, &format!("/{today}")));
    fetcher.remove(map.id).unwrap();
    let wanted = Wanted { source: format!("{base}/{{date}}.pmtiles"), ..world.wanted(VIGO) };
    let map = fetcher.create(wanted).unwrap();
    let (map, done) = run(&fetcher, &map, true).await;
    assert_eq!((done, map.file.unwrap().url), (Ok(()), format!("{base}/{today}.pmtiles")));
}
