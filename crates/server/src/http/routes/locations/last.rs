//! The last locations of all visible devices in one call.

use perigee_core::locations::location::{Area, LastFilter, Latitude, Longitude};

use super::view::DeviceLocationList;
use crate::http::format::{Selection, json};
use crate::http::list::answer_written_list;
use crate::http::names::group_param;
use crate::http::place::place_param;
use crate::http::prelude::*;

/// The form of the parameter `bbox`, for error messages.
const BBOX_FORM: &str = "west, south, east and north in degrees, separated by commas, such as \"-10,35.5,5,60\"; \
     west may be greater than east across the antimeridian";

/// List last locations
///
/// Returns the last location of each device that the caller may see, sorted by device ID. A device that has no
/// location, or only suspect ones, is not listed. The list is complete unless `limit` or `cursor` is given; with
/// either, it is returned in pages. Any user may call this operation.
#[utoipa::path(get, path = "/api/locations/last", tag = "locations", params(
    ("bbox" = Option<String>, Query, description = "Only locations within this bounding box: west, south, east and north in degrees, separated by commas. The edges are included. If west is greater than east, the box crosses the antimeridian.", example = "-10,35.5,5,60"),
    ("group" = Option<String>, Query, description = "Only devices of this group, given by its ID or name.", example = "grp_01jc2m8k4n5p6"),
    ("since" = Option<String>, Query, description = "Only locations that the server received at this time or later (`receivedAt`).", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position in words, to each location. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
    ("limit" = Option<u32>, Query, description = "Maximum number of locations in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Last locations of the devices that the caller may see, sorted by device ID.", body = DeviceLocationList)))]
pub async fn list_last_locations(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let filter = LastFilter {
        group: group_param(&app, &caller, &mut params, "group").await?,
        area: read_area(&mut params),
        since: params.instant("since", caller.zone()),
    };
    let place = place_param(&app, &caller, &mut params).await?;
    let page_request = params.finish_list("locations")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_last_locations(scope, &filter, page).await }
    };
    answer_written_list(&app, &caller, "locations", page_request, fetch, move |out, (device, stored)| {
        json::write_described_location(out, Some(device), &stored, Selection::ALL, place);
        Ok(())
    })
    .await
}

fn read_area(params: &mut Params) -> Option<Area> {
    let text = params.text("bbox")?;
    let area = parse_area(&text);
    if area.is_none() {
        params.refuse("bbox", format!("The parameter \"bbox\" must be {BBOX_FORM}."));
    }
    area
}

fn parse_area(text: &str) -> Option<Area> {
    let degrees: Vec<f64> = text.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    let [west, south, east, north] = degrees[..] else { return None };
    if south > north {
        return None;
    }
    let area = Area {
        west: Longitude::from_degrees(west).ok()?,
        south: Latitude::from_degrees(south).ok()?,
        east: Longitude::from_degrees(east).ok()?,
        north: Latitude::from_degrees(north).ok()?,
    };
    // +180 is stored as -180, so a box from -180 to 180 would be one meridian. It must contain everything: the east
    // edge is moved to the last longitude before the west edge.
    let is_whole_globe = west < east && area.west == area.east;
    Some(if is_whole_globe { Area { east: Longitude::from_e7(area.west.as_e7() - 1), ..area } } else { area })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(area: &str, latitude: f64, longitude: f64) -> bool {
        let point = (Latitude::from_degrees(latitude).unwrap(), Longitude::from_degrees(longitude).unwrap());
        parse_area(area).unwrap().contains(point.0, point.1)
    }

    #[test]
    fn areas_may_cross_the_antimeridian() {
        let world = "-180,-90,180,90";
        assert!(within(world, 0.0, 0.0) && within(world, 90.0, 180.0) && within(world, -90.0, -180.0));
        let to_the_edge = "170, -10, 180, 10";
        assert!(within(to_the_edge, 0.0, 180.0) && within(to_the_edge, 0.0, 170.0));
        assert!(!within(to_the_edge, 0.0, -179.9) && !within(to_the_edge, 0.0, 0.0));
        let from_the_edge = "180,-10,-170,10";
        assert!(within(from_the_edge, 0.0, 180.0) && within(from_the_edge, 0.0, -170.0));
        assert!(!within(from_the_edge, 0.0, 179.9));
        let fiji = "177,-20,-178,-15";
        assert!(within(fiji, -17.0, 179.0) && within(fiji, -17.0, -179.0) && !within(fiji, -17.0, 0.0));
        let line = "5,-10,5,10";
        assert!(within(line, 0.0, 5.0) && !within(line, 0.0, 5.1));
    }

    #[test]
    fn invalid_areas_are_refused() {
        for text in [
            "",
            "1,2,3",
            "1,2,3,4,5",
            "a,b,c,d",
            "-181,0,0,1",
            "0,-91,1,0",
            "0,10,1,5",
            "NaN,0,1,1",
            "0,0,inf,1",
        ] {
            assert_eq!(parse_area(text), None, "{text}");
        }
    }
}
