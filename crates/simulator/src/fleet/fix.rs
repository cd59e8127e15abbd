//! A fix of a simulated device, and its JSON.

use std::io::Write;

use perigee_core::time::Timestamp;

use super::geo_point::GeoPoint;

/// A fix in integer units, so that it is written the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Fix time in milliseconds since 1970.
    pub time_ms: i64,
    /// Degrees north times 10,000,000.
    pub latitude_e7: i32,
    /// Degrees east times 10,000,000.
    pub longitude_e7: i32,
    /// Altitude in tenths of a metre.
    pub altitude_dm: i32,
    /// Speed in tenths of a km/h.
    pub speed_dkmh: i32,
    /// Course in tenths of a degree, below 3,600.
    pub course_ddeg: i32,
    /// Accuracy in tenths of a metre.
    pub accuracy_dm: i32,
    /// Number of satellites used.
    pub satellites: u32,
    /// Charge of the battery in percent.
    pub battery: Option<u32>,
    /// Whether the ignition is on.
    pub ignition: Option<bool>,
    /// Odometer reading in metres.
    pub mileage_m: Option<i64>,
}

/// The motion that is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) position: GeoPoint,
    pub(crate) altitude_m: f64,
    pub(crate) speed_mps: f64,
    pub(crate) course: f64,
}

impl Fix {
    /// A fix of this motion, without the values that only some devices measure.
    pub(crate) fn of(time_ms: i64, motion: Motion, accuracy_m: f64, satellites: u32) -> Self {
        Self {
            time_ms,
            latitude_e7: rounded(motion.position.latitude * 1e7),
            // A value that rounds up to +180 degrees becomes -180.
            longitude_e7: match rounded(motion.position.longitude * 1e7) {
                1_800_000_000 => -1_800_000_000,
                within => within,
            },
            altitude_dm: rounded(motion.altitude_m * 10.0),
            speed_dkmh: rounded(motion.speed_mps * 36.0),
            course_ddeg: rounded(motion.course * 10.0).rem_euclid(3600),
            accuracy_dm: rounded(accuracy_m * 10.0),
            satellites,
            battery: None,
            ignition: None,
            mileage_m: None,
        }
    }

    /// Appends it as JSON for the API.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let written = self.try_write(out);
        written.expect("writing to memory cannot fail");
    }

    fn try_write(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        write!(out, "{{\"dateTime\":\"{}\",\"latitude\":", Timestamp::from_millis(self.time_ms))?;
        write_decimal(out, self.latitude_e7.into(), 7)?;
        out.extend_from_slice(b",\"longitude\":");
        write_decimal(out, self.longitude_e7.into(), 7)?;
        for (name, tenths) in [
            ("altitude", self.altitude_dm),
            ("speed", self.speed_dkmh),
            ("course", self.course_ddeg),
            ("accuracy", self.accuracy_dm),
        ] {
            write!(out, ",\"{name}\":")?;
            write_decimal(out, tenths.into(), 1)?;
        }
        write!(out, ",\"satellites\":{}", self.satellites)?;
        if let Some(battery) = self.battery {
            write!(out, ",\"battery\":{battery}")?;
        }
        if let Some(ignition) = self.ignition {
            write!(out, ",\"ignition\":{ignition}")?;
        }
        if let Some(mileage) = self.mileage_m {
            out.extend_from_slice(b",\"mileage\":");
            write_decimal(out, mileage, 3)?;
        }
        out.push(b'}');
        Ok(())
    }
}

/// Writes a number with `decimals` decimals, without trailing zeros.
fn write_decimal(out: &mut Vec<u8>, number: i64, decimals: u32) -> std::io::Result<()> {
    let scale = 10_u64.pow(decimals);
    let (whole, mut rest) = (number.unsigned_abs() / scale, number.unsigned_abs() % scale);
    let sign = if number < 0 { "-" } else { "" };
    write!(out, "{sign}{whole}")?;
    if rest == 0 {
        return Ok(());
    }
    let mut width = decimals as usize;
    while rest.is_multiple_of(10) {
        rest /= 10;
        width -= 1;
    }
    write!(out, ".{rest:0width$}")
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
fn rounded(number: f64) -> i32 {
    number.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_exactly() {
        for (number, decimals, text) in [
            (0, 7, "0"),
            (-1, 7, "-0.0000001"),
            (422_406_000, 7, "42.2406"),
            (-87_207_000, 7, "-8.7207"),
            (185, 1, "18.5"),
            (180, 1, "18"),
            (1_234_050, 3, "1234.05"),
        ] {
            let mut out = Vec::new();
            write_decimal(&mut out, number, decimals).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn a_fix_is_what_the_api_takes() {
        let motion = Motion {
            position: GeoPoint::new(42.2406, -8.7207),
            altitude_m: 3.0,
            speed_mps: 5.0,
            course: 359.99,
        };
        let fix = Fix {
            battery: Some(80),
            ignition: Some(true),
            mileage_m: Some(1500),
            ..Fix::of(0, motion, 4.5, 9)
        };
        let mut out = Vec::new();
        fix.write_json(&mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"dateTime":"1970-01-01T00:00:00Z","latitude":42.2406,"longitude":-8.7207,"altitude":3,"speed":18,"course":0,"accuracy":4.5,"satellites":9,"battery":80,"ignition":true,"mileage":1.5}"#
        );
    }
}
