//! Positions in words, from the gazetteer that ships.

use proptest::prelude::*;

use super::*;
use crate::access::preference::ConsoleLanguage::{
    self, English, French, German, Italian, Portuguese, Spanish,
};
use crate::locations::location::{Latitude, Longitude};
use crate::notifications::routing::Units::{Imperial, Metric, Nautical};

fn at(latitude: f64, longitude: f64) -> (Latitude, Longitude) {
    (Latitude::from_degrees(latitude).unwrap(), Longitude::from_degrees(longitude).unwrap())
}

fn words(latitude: f64, longitude: f64) -> String {
    let reader = Reader { language: English, units: Metric };
    describe(at(latitude, longitude), reader, Form::Full).unwrap()
}

#[test]
fn positions_are_described_from_the_place_to_name() {
    for (latitude, longitude, expect) in [
        (42.2406, -8.7207, "Vigo, Spain"),
        (42.09, -8.9, "22 km SW of Vigo, Spain"),
        (41.385, 2.173, "Barcelona, Spain"),
        (69.65, 18.96, "Tromsø, Norway"),
        (-18.14, 178.44, "Suva, Fiji"),
        (43.1, -10.5, "102 km W of Cape Finisterre"),
    ] {
        assert_eq!(words(latitude, longitude), expect, "{latitude}, {longitude}");
    }
}

#[test]
fn neither_the_antimeridian_nor_the_poles_are_special() {
    assert!(words(-16.8, 179.99).ends_with("Fiji") && words(-16.8, -179.99).ends_with("Fiji"));
    for (latitude, longitude) in [(90.0, 0.0), (-90.0, 0.0), (89.9, 135.0), (0.0, 180.0), (0.0, -180.0)] {
        assert!(words(latitude, longitude).contains(" km "), "{latitude}, {longitude}");
    }
}

#[test]
fn the_reader_s_language_and_units_are_used() {
    let words = |language, units, form| describe(at(42.09, -8.9), Reader { language, units }, form).unwrap();
    assert_eq!(words(English, Nautical, Form::Full), "12 nmi SW of Vigo, Spain");
    assert_eq!(words(Spanish, Nautical, Form::Full), "12 mn al SO de Vigo, España");
    assert_eq!(words(Spanish, Imperial, Form::Short), "13 mi al SO de Vigo");
    assert_eq!(words(English, Metric, Form::Short), "22 km SW of Vigo");
    for (language, at_sea, on_land) in [
        (French, "12 NM au SO de Vigo, Espagne", "22 km au SO de Vigo, Espagne"),
        (German, "12 sm SW von Vigo, Spanien", "22 km SW von Vigo, Spanien"),
        (Portuguese, "12 mn a SO de Vigo, Espanha", "22 km a SO de Vigo, Espanha"),
        (Italian, "12 NM a SO di Vigo, Spagna", "22 km a SO di Vigo, Spagna"),
    ] {
        assert_eq!(words(language, Nautical, Form::Full), at_sea);
        assert_eq!(words(language, Metric, Form::Full), on_land);
    }
    let cape =
        |language| describe(at(-55.863, -67.17), Reader { language, units: Metric }, Form::Full).unwrap();
    assert_eq!((cape(English).as_str(), cape(Spanish).as_str()), ("Cape Horn", "Cabo de Hornos"));
}

#[test]
fn french_contracts_the_words_before_a_name() {
    let words = |latitude, longitude| {
        let reader = Reader { language: French, units: Metric };
        describe(at(latitude, longitude), reader, Form::Short).unwrap()
    };
    for (latitude, longitude, expect) in [
        (49.6, -0.1, "du Havre"),
        (46.42, -1.85, "des Sables-d'Olonne"),
        (59.75, 10.6, "d'Oslo"),
        (43.1, -10.5, "à l'O de Cape Finisterre"),
    ] {
        let found = words(latitude, longitude);
        assert!(found.ends_with(expect), "{found}");
    }
}

#[test]
fn far_distances_are_grouped_as_their_language_does() {
    let words =
        |language, units| describe(at(-48.9, -123.4), Reader { language, units }, Form::Full).unwrap();
    let (english, spanish) = (words(English, Metric), words(Spanish, Metric));
    let (far, _) = english.split_once(" km ").unwrap();
    assert!(far.len() == 5 && far.starts_with("2,"), "{english}");
    assert!(spanish.starts_with(&far.replace(',', "")), "{spanish}");
    let (german, french) = (words(German, Metric), words(French, Metric));
    assert!(german.starts_with(&far.replace(',', ".")), "{german}");
    assert!(french.starts_with(&far.replace(',', "")), "{french}");
}

#[test]
fn every_country_of_the_file_has_a_name_in_every_language() {
    let mut seen = std::collections::BTreeSet::new();
    for (latitude, longitude) in
        (-89..90).flat_map(|latitude| (-180..180).map(move |longitude| (latitude, longitude)))
    {
        let (latitude, longitude) = at(f64::from(latitude), f64::from(longitude));
        seen.extend(gazetteer().nearest(latitude, longitude).and_then(|near| near.place.country));
    }
    assert!(seen.len() > 150, "{}", seen.len());
    for code in seen {
        for language in ConsoleLanguage::ALL {
            assert_ne!(crate::accounts::country::name_in(code, language), code, "{language:?}");
        }
    }
}

#[test]
fn the_gazetteer_ships_and_is_small() {
    assert_eq!(gazetteer().len(), 59_415);
    assert!(gazetteer().memory_bytes() < 4_000_000, "{}", gazetteer().memory_bytes());
}

#[test]
fn damaged_files_are_no_gazetteer() {
    let file: Vec<u8> =
        [&2_u32.to_le_bytes()[..], &[0; 8], &[1, 1], &[0, 1], b"ES  ", b"Vigo\nCape Horn\tCabo de Hornos"]
            .concat();
    let read = Gazetteer::read(&file).unwrap();
    assert_eq!((read.len(), read.is_empty()), (2, false));
    for length in 0..file.len() - 31 {
        assert!(Gazetteer::read(&file[..length]).is_none(), "{length}");
    }
    let with = |index: usize, byte: u8| {
        file.iter().enumerate().map(move |(at, old)| if at == index { byte } else { *old })
    };
    // Another count, a kind that does not exist, and a country that is not ASCII.
    for (index, byte) in [(0, 3), (14, 9), (16, 0xC3)] {
        assert!(Gazetteer::read(&with(index, byte).collect::<Vec<_>>()).is_none(), "{index}");
    }
    assert!(Gazetteer::default().nearest(at(0.0, 0.0).0, at(0.0, 0.0).1).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The index finds the same place as a comparison of all places, or one at the same distance.
    #[test]
    fn the_index_finds_the_best(latitude in -90.0_f64..=90.0, longitude in -180.0_f64..180.0) {
        let here = at(latitude, longitude);
        let found = gazetteer().nearest(here.0, here.1).unwrap();
        let best = gazetteer().nearest_of_all(here.0, here.1).unwrap();
        prop_assert!((found.metres - best.metres).abs() < 1.0 || found.place.name(English) == best.place.name(English),
            "{:?} and {:?}", found, best);
    }
}

/// Prints the cost of a lookup: `cargo test -p perigee-core --release place -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn a_lookup_is_fast() {
    let begun = std::time::Instant::now();
    let bytes = gazetteer().memory_bytes();
    println!("built in {:?}, {bytes} bytes", begun.elapsed());
    let reader = Reader { language: English, units: Metric };
    for (name, south, west, height, width) in [
        ("Europe", 36.0, -10.0, 20.0, 30.0),
        ("oceans", -60.0, -170.0, 60.0, 90.0),
        ("the world", -90.0, -180.0, 180.0, 360.0),
    ] {
        let begun = std::time::Instant::now();
        let letters: usize = (0_u32..100_000)
            .map(|number| {
                let (along, across) = (f64::from(number % 317) / 317.0, f64::from(number / 317) / 316.0);
                describe(at(south + height * along, west + width * across), reader, Form::Full)
                    .map_or(0, |text| text.len())
            })
            .sum();
        println!("{name}: {:?} each ({letters} letters)", begun.elapsed() / 100_000);
    }
}
