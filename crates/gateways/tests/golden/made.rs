//! Hand-made frames for messages that the recordings do not have, or that were decoded wrongly before.

use perigee_core::time::Timestamp;
use perigee_gateways::notation::checksum::crc16_x25;
use perigee_gateways::notation::reader::hex_digits;
use perigee_gateways::{LineDecoder, LineDefaults};
use serde_json::{Value as Json, json};

/// Decodes one frame of a device that the connection has identified.
pub(crate) fn decode(mut line: Json) -> Json {
    line["known"] = json!(true);
    let mut decoder = LineDecoder::new(LineDefaults::default());
    decoder.decode(&line.to_string(), Timestamp::from_millis(1_780_000_000_000)).unwrap()
}

/// The only report of a frame.
fn report(line: Json) -> Json {
    let decoded = decode(line);
    let reports = decoded["reports"].as_array().unwrap();
    assert_eq!((reports.len(), &decoded["error"]), (1, &Json::Null), "{decoded}");
    reports[0].clone()
}

/// A GT06 frame with a length of one byte, or of two.
fn gt06(kind: u8, content: &str, long: bool) -> String {
    let mut body = vec![kind];
    body.extend(
        (0..content.len() / 2).map(|at| u8::from_str_radix(&content[2 * at..2 * at + 2], 16).unwrap()),
    );
    body.extend_from_slice(&[0, 1]);
    let length = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
    let mut counted = if long { length.to_vec() } else { vec![length[1]] };
    counted.extend_from_slice(&body);
    let checksum = crc16_x25(&counted).to_be_bytes();
    let start = if long { "7979" } else { "7878" };
    format!("{start}{}{}0d0a", hex_digits(&counted), hex_digits(&checksum))
}

fn gt06_report(kind: u8, content: &str, long: bool, model: Option<&str>) -> Json {
    let mut line = json!({"protocol": "gt06", "hex": gt06(kind, content, long)});
    if let Some(model) = model {
        line["model"] = json!(model);
    }
    report(line)
}

/// 2026-05-01 12:00:00, 10 satellites, 22.5 N 113.9 E, 60 km/h, 90 degrees.
const FIX: &str = "1a05010c0000ca026a1fa00c39a1503c145a";

#[test]
fn gt06_a_short_a3_is_a_status() {
    for content in ["46000106640c01", "00000005321e020000000002584f0001000600"] {
        let status = gt06_report(0xa3, content, false, None);
        assert_eq!((&status["located"], &status["alerts"]), (&json!(false), &Json::Null), "{status}");
    }
    let long = gt06_report(0xa3, "00000005321e020000000002584f0001000600", false, None);
    assert_eq!((&long["battery"], &long["attributes"]["steps"]), (&json!(79), &json!(600)));
    assert_eq!((&long["attributes"]["motion"], &long["attributes"]["charge"]), (&json!(true), &json!(false)));
    let short = gt06_report(0xa3, "46000106640c01", false, None);
    assert_eq!((&short["ignition"], &short["attributes"]["power"]), (&json!(true), &json!(12.0)));
    let fence = gt06_report(0xa3, &format!("{FIX}01cc0000009191000000000906170304"), false, None);
    assert_eq!(fence["located"], true);
}

#[test]
fn gt06_states_of_a_device_are_read() {
    // Moving, not armed, ignition on, 4.05 V, charging, 21.5 degrees.
    let content = "69f4a1c0000101020002010000040101000502019500070101000b0200d7";
    let status = gt06_report(0xf1, content, true, None);
    assert_eq!((&status["located"], &status["ignition"]), (&json!(false), &json!(true)));
    let attributes =
        json!({"armed": false, "batteryTemp": 21.5, "charge": true, "motion": true, "power": 4.05});
    assert_eq!(status["attributes"], attributes);
}

#[test]
fn gt06_positions_with_a_driver_have_voltages_and_counters() {
    // Source, name, time of sending, fix, a cell of ten bytes, status 46, 12.97 V, 4.2 V, signal 71, no alarm, language,
    // 1000 m, 90 minutes, a card.
    let content = format!(
        "010356354871186947190909100e0f{FIX}0a02d410c80b0c352c170446{}",
        "05112a4700020003e800005a0501a1b2c3d4"
    );
    let report = gt06_report(0x25, &content, false, Some("XT40"));
    let attributes = &report["attributes"];
    assert_eq!(
        (&attributes["power"], &attributes["battery"], &report["mileage"]),
        (&json!(12.97), &json!(4.2), &json!(1))
    );
    assert_eq!(
        (&attributes["hours"], &attributes["driverUniqueId"]),
        (&json!(5_400_000), &json!("a1b2c3d4"))
    );
    assert_eq!(report["ignition"], true);
}

#[test]
fn gt06_sl4x_alarms_have_ignition_and_altitude() {
    // A cell with a network code and a number of four bytes each, status 46, level, signal, alarm, language, 687 m.
    let content = format!("{FIX}0a02d4000ac3c70dbdc40b46f004210202af");
    let report = gt06_report(0x32, &content, false, None);
    assert_eq!((&report["ignition"], &report["altitude"]), (&json!(true), &json!(687)));
    assert_eq!(report["attributes"]["cellTowers"], "724-10-50119-230540299");
}

#[test]
fn gt06_an_alarm_by_access_points_is_decoded() {
    // One cell of the second generation, one access point, alarm 1.
    let content = "1a05010c000001cc00000125ef40e88c4600010102030405063c0102";
    let report = gt06_report(0xa9, content, false, None);
    assert_eq!((&report["located"], &report["alerts"]), (&json!(false), &json!(["SOSButton"])));
    assert_eq!(report["attributes"]["wifi"], "01:02:03:04:05:06@60");
    // A position, a cell of the fourth generation, status, level, signal, alarm 1, language and a module.
    let content = format!("{FIX}0301cc00000025ef000000000540e88c0050460604010200180201a4");
    let report = gt06_report(0x39, &content, false, None);
    assert_eq!((&report["located"], &report["alerts"]), (&json!(true), &json!(["SOSButton"])));
    assert_eq!(report["attributes"]["battery"], 4.2);
}

#[test]
fn gps103_a_short_sentence_is_a_login() {
    for text in ["imei:123456789012345,L,*", "imei:123456789012345,tracker;", "imei:123456789012345,A;"] {
        let decoded = decode(json!({"protocol": "gps103", "text": text}));
        assert_eq!(
            (&decoded["replies"], &decoded["reports"]),
            (&json!([{"hex": "4c4f4144"}]), &json!([])),
            "{text}"
        );
    }
}

#[test]
fn queclink_information_with_a_vin_or_a_sensor_is_not_shifted() {
    let vin = "+RESP:GTINF,1F0203,864101050012345,VF3PERIGEE0000017,,21,8934071200000000042,23,0,1,13650,,3.9,1,0,,,20260614073005,,,,,,+0100,0,20260614073012,02B7";
    let report = report(json!({"protocol": "queclink", "text": vin}));
    let attributes = &report["attributes"];
    assert_eq!(
        (&attributes["battery"], &attributes["charge"], &attributes["power"]),
        (&json!(3.9), &json!(true), &json!(13.65))
    );
    assert_eq!((&attributes["vin"], &attributes["rssi"]), (&json!("VF3PERIGEE0000017"), &json!(23)));
    let sensor = "+RESP:GTINF,6E0105,864101050067890,YARD7,12,8934071200000000059,18,0,1,C0FFEE123456,17,62,24810,,4.05,0,1,0,0,20260614081500,0,0,0,0,00,00,+0100,0,20260614081507,03C1";
    let sensed = super::made::report(json!({"protocol": "queclink", "text": sensor}))["attributes"].clone();
    assert_eq!(
        (&sensed["battery"], &sensed["charge"], &sensed["deviceTemp"]),
        (&json!(4.05), &json!(false), &json!(17.0))
    );
}

#[test]
fn queclink_records_are_read_and_framed() {
    // Length 56, one record of 33 bytes: 42.85248 N 8.268 W, 12.5 km/h, 90 degrees, 434.1 m.
    let hex = "2b000038000865134050900001820300030000216a3ed6f1000750035216\
               29ff81d720028de0806a3ed6f1007d09005a0010f505010f0024";
    let report = report(json!({"protocol": "queclink", "hex": hex}));
    assert_eq!((&report["latitude"], &report["longitude"]), (&json!(42.85248), &json!(-8.268)));
    assert_eq!(
        (&report["speed"], &report["altitude"], &report["valid"]),
        (&json!(12.5), &json!(434.1), &json!(true))
    );
}

#[test]
fn suntech_alerts_and_serial_data_of_newer_units_are_read() {
    let line = |kind: &str, rest: &str| {
        format!(
            "{kind};0950071234;3FFFFF;95;1.0.12;1;20260614;07:30:00;01A2B3C4;214;7;1A2B;31;+42.880500;-008.545250;36.50;120.00;11;1;00000001;00000010;{rest}"
        )
    };
    for (number, alert) in [("42", "SOSButton"), ("132", "Door"), ("41", "GPSUnplugged")] {
        let report = report(json!({"protocol": "suntech", "text": line("ALT", &format!("{number};2;"))}));
        assert_eq!(report["alerts"], json!([alert]), "{number}");
    }
    let report = report(
        json!({"protocol": "suntech", "text": line("UEX", "23;GTSL|4|1|0|703184526|2|;BD;;207;1;12.64")}),
    );
    assert_eq!(
        (&report["located"], &report["attributes"]["driverUniqueId"]),
        (&json!(true), &json!("703184526"))
    );
    let collar = "ST910;Emergency;205900417;512;20260614;07:45:10;+42.880500;-008.545250;000.000;000.00;1;3";
    let emergency = super::made::report(json!({"protocol": "suntech", "text": collar}));
    assert_eq!(emergency["alerts"], json!(["SOSButton"]));
}

#[test]
fn tk103_cells_in_braces_and_fixes_behind_a_letter_are_read() {
    let text = "(013900417265BZ00,{214,7,6699,40123}\n{214,7,6701,40177}\n,0001E240)";
    let cells = report(json!({"protocol": "tk103", "text": text}));
    assert_eq!(cells["attributes"]["cellTowers"], "214-7-6699-40123 214-7-6701-40177");
    let plain = report(json!({"protocol": "tk103", "text": "(013900417265BZ00,214,7,1a2b,9c4f,31)"}));
    assert_eq!(plain["attributes"]["cellTowers"], "214-7-6699-40015@31");
    let text = "(864101050024680BP02,G,2,260614A4252.8300N00832.7150W012.4073000118.250,5)";
    assert_eq!(report(json!({"protocol": "tk103", "text": text}))["located"], true);
}

/// A position of JT/T 808 with this element, 22.5 N 113.9 E.
fn jt808(element: &str) -> String {
    let body =
        format!("000000000000000301575EE0 06C9FA20 000A 0258 005A 260501200000 {element}").replace(' ', "");
    let header = format!("0200{:04x}0191111100000001", body.len() / 2);
    let digits = format!("{header}{body}").to_ascii_lowercase();
    let bytes: Vec<u8> = (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let sum = bytes.iter().fold(0, |sum, byte| sum ^ byte);
    format!("7e{digits}{sum:02x}7e")
}

#[test]
fn jt808_cards_and_locks_are_read() {
    let read =
        |element: &str| report(json!({"protocol": "jt808", "hex": jt808(element)}))["attributes"].clone();
    // The event of a card, the number of a lock in seven bytes, the card in eight characters.
    assert_eq!(read("601100650000123456789039303031373338")["driverUniqueId"], Json::Null, "too short");
    let card = read("6011006500001234567890393030313733 3833".replace(' ', "").as_str());
    assert_eq!((&card["driverUniqueId"], &card["event"]), (&json!("90017383"), &json!(0x65)));
    let lock = read("630b0012345678900e5c318050");
    assert_eq!((&lock["lock1Battery"], &lock["lock1Seal"]), (&json!(3.676), &json!(true)));
    assert_eq!((&lock["lock1State"], &lock["lock1Rssi"]), (&json!(0x80), &json!(0x50)));
    assert_eq!(read("e8020e83")["lockStatus"], 0x0e83);
    assert_eq!(read("e803010203")["lockStatus"], 0x01_0203);
    let sos =
        report(json!({"protocol": "jt808", "hex": jt808("e8140c0110313131313131312601011200000000000000")}));
    assert_eq!(sos["alerts"], json!(["SOSButton"]), "a camera without a model");
}

#[test]
fn teltonika_a_button_is_an_sos_on_personal_trackers() {
    // One record at 54.7 N 25.26 E with element 236.
    let record = "08010000019de2c9f800000f0f4ac02099e2800064005a0a0000ec0101ec0100000001";
    let bytes: Vec<u8> = (0..record.len() / 2)
        .map(|at| u8::from_str_radix(&record[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let checksum = perigee_gateways::notation::checksum::crc16_arc(&bytes);
    let hex = format!("00000000{:08x}{record}0000{checksum:04x}", bytes.len());
    for (model, alert) in
        [(json!("TMT250"), "SOSButton"), (json!("GH5200"), "SOSButton"), (json!("FMB920"), "General")]
    {
        let report = report(json!({"protocol": "teltonika", "hex": hex, "model": model}));
        assert_eq!(report["alerts"], json!([alert]), "{model}");
    }
}

#[test]
fn h02_one_alarm_does_not_hide_another() {
    // Bits 0 and 1 are 0: vibration and the button.
    let text = "*HQ,2705171109,V1,120000,A,5002.5849,N,01433.7822,E,0.00,000,010526,FFFFFFFC#";
    let report = report(json!({"protocol": "h02", "text": text}));
    assert_eq!(report["alerts"], json!(["Vibration", "SOSButton"]));
}

#[test]
fn meitrack_fuel_is_a_percentage() {
    let rest = ",863835026880001,AAA,35,22.500000,113.900000,260501120000,A,5,22,1,170,1.4,77,39097,393563,515|3|A0CC|ED96,0000,0008|0003|0000|09D5|0000,,,1,0FA0,";
    let text = format!("$$A{}{rest}*", rest.len() + 5);
    let sum = text.bytes().fold(0_u8, u8::wrapping_add);
    let report = report(json!({"protocol": "meitrack", "text": format!("{text}{sum:02X}")}));
    assert_eq!((&report["fuel"], &report["attributes"]["fuel"]), (&json!(40), &Json::Null));
}
