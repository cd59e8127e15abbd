//! Normalises paths before routing: strips the base URL's prefix and a trailing slash, and corrects the case of
//! fixed segments.

use std::sync::Arc;

use axum::extract::Request;
use http::Uri;
use http::uri::PathAndQuery;

/// Normalises paths before routing. Clients of the original API write `/api/auth/token` as well as `/API/Devices`.
#[derive(Clone, Debug)]
pub struct CanonicalPaths {
    prefix: Arc<str>,
    routes: Arc<[Vec<Segment>]>,
}

#[derive(Debug)]
enum Segment {
    Fixed(String),
    Parameter,
}

impl CanonicalPaths {
    /// Normalises to these routes, below this prefix.
    pub fn new<'a>(prefix: &str, routes: impl IntoIterator<Item = &'a str>) -> Self {
        let mut routes: Vec<Vec<Segment>> =
            routes.into_iter().map(|route| segments(route).collect()).collect();
        // A fixed segment takes precedence over a parameter, as in the router.
        routes.sort_by_key(|route| {
            route.iter().map(|segment| u8::from(matches!(segment, Segment::Parameter))).collect::<Vec<_>>()
        });
        Self { prefix: prefix.into(), routes: routes.into() }
    }

    /// The request with its path normalised, if that gives a known route.
    pub fn rewrite(&self, mut request: Request) -> Request {
        let given = request.uri().path();
        // Most paths need no change.
        if let Some(path) = self.canonical(given).filter(|path| path != given) {
            let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
            if let Ok(path_and_query) = PathAndQuery::try_from(format!("{path}{query}")) {
                let mut parts = request.uri().clone().into_parts();
                parts.path_and_query = Some(path_and_query);
                if let Ok(uri) = Uri::from_parts(parts) {
                    *request.uri_mut() = uri;
                }
            }
        }
        request
    }

    fn canonical(&self, path: &str) -> Option<String> {
        let bare = path
            .strip_prefix(&*self.prefix)
            .filter(|rest| !self.prefix.is_empty() && (rest.is_empty() || rest.starts_with('/')));
        let inner = bare.unwrap_or(path);
        let given: Vec<&str> = inner.split('/').skip(1).collect();
        // A trailing slash is ignored unless a route ends in one.
        let without_slash = given.split_last().filter(|(last, rest)| last.is_empty() && !rest.is_empty());
        let spellings = [Some(given.as_slice()), without_slash.map(|(_, rest)| rest)];
        let known = spellings.into_iter().flatten().find_map(|given| {
            let route = self.routes.iter().find(|route| fits(route, given))?;
            Some(write(route, given))
        });
        match known {
            Some(path) => Some(path),
            None => bare.map(|rest| if rest.is_empty() { "/".to_owned() } else { rest.to_owned() }),
        }
    }
}

fn segments(route: &str) -> impl Iterator<Item = Segment> {
    route.split('/').skip(1).map(|segment| {
        if segment.starts_with('{') { Segment::Parameter } else { Segment::Fixed(segment.to_owned()) }
    })
}

fn fits(route: &[Segment], given: &[&str]) -> bool {
    route.len() == given.len()
        && route.iter().zip(given).all(|(segment, text)| match segment {
            Segment::Fixed(fixed) => fixed.eq_ignore_ascii_case(text),
            Segment::Parameter => !text.is_empty(),
        })
}

fn write(route: &[Segment], given: &[&str]) -> String {
    let mut path = String::new();
    for (segment, text) in route.iter().zip(given) {
        path.push('/');
        path.push_str(match segment {
            Segment::Fixed(fixed) => fixed,
            Segment::Parameter => text,
        });
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrites_known_paths_only() {
        let routes = [
            "/api/Auth/Token",
            "/api/users/{userId}",
            "/api/users/timeZones",
            "/api/devices/{deviceId}/locations",
        ];
        let check = |prefix: &str, path: &str, expect: Option<&str>| {
            assert_eq!(CanonicalPaths::new(prefix, routes).canonical(path).as_deref(), expect, "{path}");
        };
        check("", "/api/auth/token", Some("/api/Auth/Token"));
        check("", "/API/Users/TIMEZONES", Some("/api/users/timeZones"));
        check("", "/api/Users/usr_X", Some("/api/users/usr_X"));
        check("", "/api/devices/Locations/LOCATIONS", Some("/api/devices/Locations/locations"));
        check("", "/nothing/here", None);
        check("", "/nothing/here/", None);
        check("", "/api/Auth/Token/", Some("/api/Auth/Token"));
        check("", "/api/Auth/Token//", None);
        check("", "/api/users/usr_X/", Some("/api/users/usr_X"));
        check("", "/", None);
        check("/track", "/track/api/auth/token", Some("/api/Auth/Token"));
        check("/track", "/api/auth/token", Some("/api/Auth/Token"));
        check("/track", "/track", Some("/"));
        check("/track", "/tracker", None);
    }
}
