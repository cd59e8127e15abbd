//! Formats measures, positions and times for a recipient.

use perigee_core::day::Date;
use perigee_core::notifications::routing::Units;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::words::{Words, words};

const KM_PER_MILE: f64 = 1.609_344;
const KM_PER_NAUTICAL_MILE: f64 = 1.852;
const METRES_PER_FOOT: f64 = 0.304_8;

/// Language, units and time zone of a recipient.
pub(super) struct Reader {
    pub(super) units: Units,
    pub(super) zone: Zone,
    pub(super) words: &'static Words,
}

impl Reader {
    pub(super) fn new(units: Units, zone: Zone, language: &str) -> Self {
        Self { units, zone, words: words(language) }
    }

    /// A number with at most this many decimals, without trailing zeros.
    pub(super) fn number(&self, value: f64, digits: usize) -> String {
        let written = format!("{value:.digits$}");
        let written = if written.contains('.') {
            written.trim_end_matches('0').trim_end_matches('.')
        } else {
            &written
        };
        let written = if written == "-0" { "0" } else { written };
        written.replace('.', &self.words.time.decimal)
    }

    /// A speed given in kilometres an hour.
    pub(super) fn speed(&self, kmh: f64) -> String {
        match self.units {
            Units::Metric => format!("{} km/h", self.number(kmh, 0)),
            Units::Imperial => format!("{} mph", self.number(kmh / KM_PER_MILE, 0)),
            Units::Nautical => format!("{} kn", self.number(kmh / KM_PER_NAUTICAL_MILE, 1)),
        }
    }

    /// A distance given in kilometres.
    pub(super) fn distance(&self, km: f64) -> String {
        let (value, unit) = match self.units {
            Units::Metric => (km, "km"),
            Units::Imperial => (km / KM_PER_MILE, "mi"),
            Units::Nautical => (km / KM_PER_NAUTICAL_MILE, "NM"),
        };
        let digits = if value.abs() < 10.0 { 2 } else { usize::from(value.abs() < 1_000.0) };
        format!("{} {unit}", self.number(value, digits))
    }

    /// A height given in metres.
    pub(super) fn altitude(&self, metres: f64) -> String {
        match self.units {
            Units::Metric | Units::Nautical => format!("{} m", self.number(metres, 0)),
            Units::Imperial => format!("{} ft", self.number(metres / METRES_PER_FOOT, 0)),
        }
    }

    /// A temperature given in degrees Celsius.
    pub(super) fn temperature(&self, celsius: f64) -> String {
        match self.units {
            Units::Metric | Units::Nautical => format!("{} °C", self.number(celsius, 1)),
            Units::Imperial => format!("{} °F", self.number(celsius * 1.8 + 32.0, 1)),
        }
    }

    /// A position for people: degrees, or degrees and minutes in nautical units.
    pub(super) fn coordinates(&self, latitude: f64, longitude: f64) -> String {
        let (north, east) = self.letters(latitude, longitude);
        if self.units == Units::Nautical {
            self.degrees_minutes(latitude, longitude)
        } else {
            let degrees = |value: f64| format!("{:.5}", value.abs()).replace('.', &self.words.time.decimal);
            format!("{}° {north}, {}° {east}", degrees(latitude), degrees(longitude))
        }
    }

    /// A position in degrees and minutes, as it is read out by radio.
    pub(super) fn degrees_minutes(&self, latitude: f64, longitude: f64) -> String {
        let (north, east) = self.letters(latitude, longitude);
        format!("{} {north}, {} {east}", self.minutes(latitude, 2), self.minutes(longitude, 3))
    }

    /// The letters of the hemispheres.
    fn letters(&self, latitude: f64, longitude: f64) -> (char, &'static str) {
        let north = if latitude < 0.0 { 'S' } else { 'N' };
        let time = &self.words.time;
        (north, if longitude < 0.0 { &time.west } else { &time.east })
    }

    fn minutes(&self, degrees: f64, width: usize) -> String {
        // Rounded to thousandths of a minute first, so that 59.9999 minutes become the next degree and not 60.
        let thousandths = (degrees.abs() * 60_000.0).round();
        let (whole, rest) = ((thousandths / 60_000.0).floor(), thousandths % 60_000.0);
        format!("{whole:0width$.0}°{:06.3}'", rest / 1_000.0).replace('.', &self.words.time.decimal)
    }

    /// An instant with its year and zone.
    pub(super) fn time(&self, instant: Timestamp) -> String {
        let zoned = instant.to_jiff().to_zoned(self.zone.as_jiff().clone());
        format!(
            "{} {} {} {}",
            self.day(zoned.date()),
            zoned.year(),
            zoned.strftime("%H:%M:%S"),
            zoned.strftime("%Z")
        )
    }

    /// The day of an instant.
    pub(super) fn date(&self, instant: Timestamp) -> String {
        let zoned = instant.to_jiff().to_zoned(self.zone.as_jiff().clone());
        format!("{} {}", self.day(zoned.date()), zoned.year())
    }

    /// A date of the calendar, the same in every zone.
    pub(super) fn plain_date(&self, date: Date) -> String {
        let date = date.to_jiff();
        format!("{} {}", self.day(date), date.year())
    }

    /// An instant in a short form.
    pub(super) fn short_time(&self, instant: Timestamp) -> String {
        let zoned = instant.to_jiff().to_zoned(self.zone.as_jiff().clone());
        format!("{} {}", self.day(zoned.date()), zoned.strftime("%H:%M"))
    }

    fn day(&self, date: jiff::civil::Date) -> String {
        let month = usize::try_from(date.month()).unwrap_or(1).saturating_sub(1);
        let name = self.words.time.months.get(month).map_or("", String::as_str);
        format!("{}{} {name}", date.day(), self.words.time.after_day)
    }
}

/// A position for maps: decimal degrees.
pub(super) fn plain_coordinates(latitude: f64, longitude: f64) -> String {
    format!("{latitude:.5},{longitude:.5}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(units: Units, language: &str) -> Reader {
        Reader::new(units, "Europe/Madrid".parse().unwrap(), language)
    }

    #[test]
    fn measures_in_each_system() {
        let (metric, imperial, nautical) =
            (reader(Units::Metric, "es"), reader(Units::Imperial, "en"), reader(Units::Nautical, "en"));
        assert_eq!(
            [metric.speed(72.0), imperial.speed(72.0), nautical.speed(72.0)],
            ["72 km/h", "45 mph", "38.9 kn"]
        );
        assert_eq!(metric.distance(12.34), "12,3 km");
        assert_eq!([imperial.distance(3.0), nautical.distance(1_852_000.0)], ["1.86 mi", "1000000 NM"]);
        assert_eq!([metric.temperature(-18.04), imperial.temperature(-18.0)], ["-18 °C", "-0.4 °F"]);
        assert_eq!([metric.altitude(-0.2), imperial.altitude(100.0)], ["0 m", "328 ft"]);
    }

    #[test]
    fn positions_at_sea_and_on_land() {
        assert_eq!(reader(Units::Metric, "en").coordinates(41.385_06, -2.173_4), "41.38506° N, 2.17340° W");
        assert_eq!(reader(Units::Metric, "es").coordinates(-41.0, -2.0), "41,00000° S, 2,00000° O");
        for language in ["fr", "de", "pt", "it"] {
            assert_eq!(reader(Units::Metric, language).coordinates(-41.0, -2.0), "41,00000° S, 2,00000° W");
            assert_eq!(reader(Units::Metric, language).coordinates(41.0, 2.0), "41,00000° N, 2,00000° E");
        }
        assert_eq!(
            reader(Units::Nautical, "en").coordinates(41.385_06, 2.173_4),
            "41°23.104' N, 002°10.404' E"
        );
        assert_eq!(
            reader(Units::Nautical, "en").coordinates(1.999_999_99, 0.0),
            "02°00.000' N, 000°00.000' E"
        );
        assert_eq!(plain_coordinates(-41.385_06, 2.173_4), "-41.38506,2.17340");
    }

    #[test]
    fn times_in_the_reader_s_zone_and_language() {
        let instant = "2026-05-01T22:30:05Z".parse().unwrap();
        assert_eq!(reader(Units::Metric, "en").time(instant), "2 May 2026 00:30:05 CEST");
        assert_eq!(
            reader(Units::Metric, "es").short_time("2026-01-01T00:00:00Z".parse().unwrap()),
            "1 ene 01:00"
        );
        assert_eq!(reader(Units::Metric, "es").date(instant), "2 may 2026");
        let dates = ["fr", "de", "pt-BR", "it"].map(|language| reader(Units::Metric, language).date(instant));
        assert_eq!(dates, ["2 mai 2026", "2. Mai 2026", "2 maio 2026", "2 mag 2026"]);
    }
}
