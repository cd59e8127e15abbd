//! Tests of the console with a build of a few files.

use std::io::Write as _;

use axum::extract::FromRequestParts as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header;

use super::*;

fn small(name: &str) -> Option<(Cow<'static, [u8]>, [u8; 32])> {
    let content: &'static str = match name {
        "index.html" => "<html><head><script src=\"./assets/app-B3xZ9_kq.js\"></script></head></html>",
        "assets/app-B3xZ9_kq.js.br" => "brotli",
        "assets/app-B3xZ9_kq.js.gz" => return Some((gzip("plain").into(), [7; 32])),
        "assets/font-C4yA8_lr.woff2" => "font",
        "basemap.json" => "{}",
        _ => return None,
    };
    Some((content.as_bytes().into(), Sha256::digest(content).into()))
}

fn gzip(content: &str) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    writer.write_all(content.as_bytes()).unwrap();
    writer.finish().unwrap()
}

fn console(base_url: &str) -> Console {
    Console::of(&BaseUrl::parse(base_url).unwrap(), small)
}

fn policy(tile_origin: &str) -> PagePolicy {
    let origins: Vec<String> =
        Some(tile_origin.to_owned()).filter(|origin| !origin.is_empty()).into_iter().collect();
    PagePolicy::new(&origins)
}

/// Status, headers and body of the answer for this path.
async fn get(console: &Console, path: &str, accept_encoding: &str) -> (u16, HeaderMap, String) {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT_ENCODING, accept_encoding.parse().unwrap());
    match console.answer(path, &headers, &Preconditions::default(), &policy("https://tiles.test")) {
        Ok(response) => {
            let (parts, body) = response.into_parts();
            let body = axum::body::to_bytes(body, 10_000).await.unwrap();
            (parts.status.as_u16(), parts.headers, String::from_utf8_lossy(&body).into_owned())
        }
        Err(error) => (error.code.status().as_u16(), HeaderMap::new(), String::new()),
    }
}

#[tokio::test]
async fn a_file_is_sent_in_an_accepted_encoding() {
    let console = console("http://perigee.test");
    let mut tags = Vec::new();
    let gzipped = String::from_utf8_lossy(&gzip("plain")).into_owned();
    for (accepted, encoding, body) in [
        ("", "", "plain"),
        ("identity", "", "plain"),
        ("gzip", "gzip", &*gzipped),
        ("gzip, br", "br", "brotli"),
        ("br;q=0.1, gzip", "gzip", &*gzipped),
    ] {
        let (status, headers, sent) = get(&console, "/assets/app-B3xZ9_kq.js", accepted).await;
        let coded = headers.get(header::CONTENT_ENCODING).map_or("", |value| value.to_str().unwrap());
        assert_eq!((status, coded, &*sent), (200, encoding, body), "{accepted}");
        assert_eq!(headers[header::VARY], "accept-encoding");
        assert_eq!(headers[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert_eq!(headers[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        tags.push(headers[header::ETAG].clone());
    }
    tags.dedup();
    assert_eq!(tags.len(), 4, "each form has a tag of its own: {tags:?}");
    let (_, headers, _) = get(&console, "/assets/font-C4yA8_lr.woff2", "br").await;
    assert_eq!(
        (&headers[header::CONTENT_TYPE], headers.get(header::CONTENT_ENCODING)),
        (&"font/woff2".parse().unwrap(), None)
    );
    let (_, headers, _) = get(&console, "/basemap.json", "br").await;
    assert_eq!(headers[header::CACHE_CONTROL], "no-cache", "its name stays when it changes");
}

#[tokio::test]
async fn a_client_that_has_a_form_is_answered_304() {
    let console = console("http://perigee.test");
    let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, "br".parse().unwrap())]);
    let path = "/assets/app-B3xZ9_kq.js";
    let first = console.answer(path, &headers, &Preconditions::default(), &policy("")).unwrap();
    let mut request = http::Request::new(());
    request.headers_mut().insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
    let (mut parts, ()) = request.into_parts();
    let known = Preconditions::from_request_parts(&mut parts, &()).await.unwrap();
    let again = console.answer(path, &headers, &known, &policy("")).unwrap();
    assert_eq!(
        (again.status().as_u16(), &again.headers()[header::VARY]),
        (304, &"accept-encoding".parse().unwrap())
    );
    assert_eq!(
        console.answer(path, &HeaderMap::new(), &known, &policy("")).unwrap().status(),
        200,
        "another encoding has another tag"
    );
}

#[tokio::test]
async fn unknown_paths_answer_with_the_page() {
    let console = console("http://perigee.test");
    for path in ["/", "/index.html", "/devices", "/devices/dev_01jc2m8k4n5p5/history", "/shared/x%20y"] {
        let (status, headers, body) = get(&console, path, "").await;
        assert_eq!((status, &headers[header::CACHE_CONTROL]), (200, &"no-cache".parse().unwrap()), "{path}");
        assert!(body.starts_with("<html><head>\n    <base href=\"/\"><script"), "{body}");
    }
    for path in [
        "/assets/gone-B3xZ9_kq.js",
        "/assets/folder",
        "/assets/app-B3xZ9_kq.js.br",
        "/gone.png",
        "/devices/gone.js",
        "/api",
        "/api/nothing",
        "/API/nothing",
        "/%61pi/nothing",
        "/api%2Fshared%2FS",
        "//api/shared/S",
        "/.well-known/nothing",
        "/healthz/x",
        "/metrics/x",
        "/gateways/x",
        "/%ff",
    ] {
        assert_eq!(get(&console, path, "").await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn the_page_has_its_base_and_the_origins_of_tiles() {
    let (_, headers, body) = get(&console("https://example.com/a&b"), "/", "").await;
    assert!(body.contains("<base href=\"/a&amp;b/\">"), "{body}");
    let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(
        policy.contains("connect-src 'self' https://tiles.test;") && !policy.contains("unsafe"),
        "{policy}"
    );
    let (_, headers, _) = get(&console("https://example.com"), "/assets/app-B3xZ9_kq.js", "").await;
    let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(
        policy.contains("connect-src 'self' https://tiles.test;"),
        "a worker obeys the policy of its own file: {policy}"
    );
}

#[test]
fn only_hashed_names_are_immutable() {
    let check = |name: &str, expect: bool| assert_eq!(is_hashed(name), expect, "{name}");
    check("assets/index-B3xZ9_kq.js", true);
    check("assets/noto-sans-latin-400-normal-DQ5-a8Xv.woff2", true);
    check("assets/worker-abcdefg1.js", true);
    check("assets/natural-landmass.json", false);
    check("assets/a.js", false);
    check("assets/-B3xZ9_kq.js", false);
    check("index-B3xZ9_kq.js", false);
    check("assets/index-B3xZ9_kq", false);
}

#[test]
fn the_base_of_the_build_is_replaced() {
    let page = "<head><meta charset=\"utf-8\" /><base href=\"/\" /><title>Perigee</title></head>";
    let with_base = with_base(page, "/track");
    assert_eq!(
        with_base,
        "<head><meta charset=\"utf-8\" /><base href=\"/track/\"><title>Perigee</title></head>"
    );
}

#[tokio::test]
async fn only_pages_of_share_links_may_be_framed() {
    let console = console("https://track.example.com");
    let policy = async |path: &str| {
        let (_, headers, _) = get(&console, path, "").await;
        headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned()
    };
    assert!(policy("/shared/secret").await.ends_with("frame-ancestors *"));
    for path in ["/", "/devices", "/sharedish", "/phone", "/assets/font-C4yA8_lr.woff2"] {
        assert!(policy(path).await.ends_with("frame-ancestors 'none'"), "{path}");
    }
}
