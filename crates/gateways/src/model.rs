//! The known models of trackers: their makers, protocols and decoding settings.

/// A model of tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// The maker or seller.
    pub maker: &'static str,
    /// As the maker writes it; unique among all models, in any letter case.
    pub name: &'static str,
    /// The protocol that it uses.
    pub protocol: &'static str,
    /// The decoding settings that it implies.
    pub options: &'static [(&'static str, bool)],
    /// The name that decoders use, if several models are decoded alike.
    pub read_as: &'static str,
}

const fn model(maker: &'static str, name: &'static str, protocol: &'static str) -> Model {
    Model { maker, name, protocol, options: &[], read_as: name }
}

impl Model {
    const fn with(mut self, options: &'static [(&'static str, bool)]) -> Self {
        self.options = options;
        self
    }

    const fn read_as(mut self, name: &'static str) -> Self {
        self.read_as = name;
        self
    }

    /// Whether a text is the name, with or without the maker, in any letter case.
    fn is_named(&self, text: &str) -> bool {
        let text = text.trim();
        let short = text.get(self.maker.len()..).and_then(|rest| rest.strip_prefix(' '));
        let short = short.filter(|_| {
            text.get(..self.maker.len()).is_some_and(|maker| maker.eq_ignore_ascii_case(self.maker))
        });
        [Some(text), short].into_iter().flatten().any(|text| text.trim().eq_ignore_ascii_case(self.name))
    }
}

/// The model that a text names, with or without its maker, in any letter case.
pub fn find_model(text: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.is_named(text))
}

/// All known models, by protocol. Other models of a protocol are decoded like its usual model.
#[rustfmt::skip]
pub const MODELS: &[Model] = &[
    model("Teltonika", "FMB001", "teltonika"),
    model("Teltonika", "FMB002", "teltonika"),
    model("Teltonika", "FMB003", "teltonika"),
    model("Teltonika", "FMB010", "teltonika"),
    model("Teltonika", "FMB020", "teltonika"),
    model("Teltonika", "FMB110", "teltonika"),
    model("Teltonika", "FMB120", "teltonika"),
    model("Teltonika", "FMB122", "teltonika"),
    model("Teltonika", "FMB125", "teltonika"),
    model("Teltonika", "FMB130", "teltonika"),
    model("Teltonika", "FMB140", "teltonika"),
    model("Teltonika", "FMB202", "teltonika"),
    model("Teltonika", "FMB204", "teltonika"),
    model("Teltonika", "FMB208", "teltonika"),
    model("Teltonika", "FMB209", "teltonika"),
    model("Teltonika", "FMB225", "teltonika"),
    model("Teltonika", "FMB230", "teltonika"),
    model("Teltonika", "FMB240", "teltonika"),
    model("Teltonika", "FMB640", "teltonika"),
    model("Teltonika", "FMB641", "teltonika"),
    model("Teltonika", "FMB900", "teltonika"),
    model("Teltonika", "FMB910", "teltonika"),
    model("Teltonika", "FMB920", "teltonika"),
    model("Teltonika", "FMB930", "teltonika"),
    model("Teltonika", "FMB962", "teltonika"),
    model("Teltonika", "FMB964", "teltonika"),
    model("Teltonika", "FMB965", "teltonika"),
    model("Teltonika", "FMC001", "teltonika"),
    model("Teltonika", "FMC003", "teltonika"),
    model("Teltonika", "FMC125", "teltonika"),
    model("Teltonika", "FMC130", "teltonika"),
    model("Teltonika", "FMC150", "teltonika"),
    model("Teltonika", "FMC225", "teltonika"),
    model("Teltonika", "FMC230", "teltonika"),
    model("Teltonika", "FMC234", "teltonika"),
    model("Teltonika", "FMC640", "teltonika"),
    model("Teltonika", "FMC650", "teltonika"),
    model("Teltonika", "FMC880", "teltonika"),
    model("Teltonika", "FMC920", "teltonika"),
    model("Teltonika", "FMC950", "teltonika"),
    model("Teltonika", "FMM001", "teltonika"),
    model("Teltonika", "FMM003", "teltonika"),
    model("Teltonika", "FMM125", "teltonika"),
    model("Teltonika", "FMM130", "teltonika"),
    model("Teltonika", "FMM150", "teltonika"),
    model("Teltonika", "FMM230", "teltonika"),
    model("Teltonika", "FMM640", "teltonika"),
    model("Teltonika", "FMM650", "teltonika"),
    model("Teltonika", "FMM880", "teltonika"),
    model("Teltonika", "FMM920", "teltonika"),
    model("Teltonika", "FMT100", "teltonika"),
    model("Teltonika", "FMP100", "teltonika"),
    model("Teltonika", "FMU125", "teltonika"),
    model("Teltonika", "FMU126", "teltonika"),
    model("Teltonika", "FMU130", "teltonika"),
    model("Teltonika", "FTC921", "teltonika"),
    model("Teltonika", "MTB100", "teltonika"),
    model("Teltonika", "MSP500", "teltonika"),
    model("Teltonika", "TAT100", "teltonika"),
    model("Teltonika", "TAT140", "teltonika"),
    model("Teltonika", "TAT141", "teltonika"),
    model("Teltonika", "TAT240", "teltonika"),
    model("Teltonika", "TFT100", "teltonika"),
    model("Teltonika", "TMT250", "teltonika"),
    model("Teltonika", "GH5200", "teltonika"),
    model("Queclink", "CV100LG", "queclink"),
    model("Queclink", "CV200", "queclink"),
    model("Queclink", "GB100", "queclink"),
    model("Queclink", "GL200", "queclink"),
    model("Queclink", "GL300", "queclink"),
    model("Queclink", "GL300VC", "queclink"),
    model("Queclink", "GL300W", "queclink"),
    model("Queclink", "GL320M", "queclink"),
    model("Queclink", "GL50", "queclink"),
    model("Queclink", "GL500", "queclink"),
    model("Queclink", "GL500M", "queclink"),
    model("Queclink", "GL50B", "queclink"),
    model("Queclink", "GL530", "queclink"),
    model("Queclink", "GMT100", "queclink"),
    model("Queclink", "GT501", "queclink"),
    model("Queclink", "GV200", "queclink"),
    model("Queclink", "GV300", "queclink"),
    model("Queclink", "GV300W", "queclink"),
    model("Queclink", "GV30CEU", "queclink"),
    model("Queclink", "GV310LAU", "queclink"),
    model("Queclink", "GV350CEU", "queclink"),
    model("Queclink", "GV350M", "queclink"),
    model("Queclink", "GV355CEU", "queclink"),
    model("Queclink", "GV50P", "queclink"),
    model("Queclink", "GV500", "queclink"),
    model("Queclink", "GV500MAP", "queclink"),
    model("Queclink", "GV500VC", "queclink"),
    model("Queclink", "GV55", "queclink"),
    model("Queclink", "GV55 LITE", "queclink"),
    model("Queclink", "GV55W", "queclink"),
    model("Queclink", "GV56", "queclink"),
    model("Queclink", "GV58LAU", "queclink"),
    model("Queclink", "GV600M", "queclink"),
    model("Queclink", "GV600MG", "queclink"),
    model("Queclink", "GV600W", "queclink"),
    model("Queclink", "GV65", "queclink"),
    model("Queclink", "GV75W", "queclink"),
    model("Queclink", "GV800W", "queclink"),
    model("Concox", "GT06", "gt06"),
    model("Concox", "GT06E", "gt06"),
    model("Concox", "GT06N", "gt06"),
    model("Concox", "GV20", "gt06"),
    model("Concox", "GV25", "gt06"),
    model("Concox", "AT1", "gt06"),
    model("Concox", "AT4", "gt06"),
    model("Concox", "AT6", "gt06"),
    model("Concox", "HVT001", "gt06"),
    model("Concox", "OB22", "gt06"),
    model("Concox", "QBIT", "gt06"),
    model("Concox", "WeTrack2", "gt06"),
    model("Concox", "WeTrack Lite", "gt06"),
    model("Concox", "X3", "gt06"),
    model("Jimi IoT", "JM-LL01", "gt06"),
    model("Jimi IoT", "JM-VL01", "gt06"),
    model("Jimi IoT", "JM-VL02", "gt06"),
    model("Jimi IoT", "JM-VL03", "gt06"),
    model("Jimi IoT", "JM-VL04", "gt06"),
    model("Jimi IoT", "LL303", "gt06"),
    model("Jimi IoT", "VL103", "gt06"),
    model("Jimi IoT", "VL512", "gt06"),
    model("Jimi IoT", "JC181", "jt808"),
    model("Jimi IoT", "JC182", "jt808"),
    model("Jimi IoT", "JC371", "jt808"),
    model("Jimi IoT", "JC450", "jt808"),
    model("Jimi IoT", "JC451", "jt808"),
    model("Micodus", "MV710G", "jt808"),
    model("Micodus", "MV810G", "jt808"),
    model("Seeworld", "SEEWORLD", "gt06"),
    model("Other makers", "G18", "gt06"),
    model("Other makers", "LW4G-4B", "gt06"),
    model("Other makers", "NT11", "gt06"),
    model("Other makers", "NT20", "gt06"),
    model("Other makers", "NT26", "gt06"),
    model("Other makers", "NT40", "gt06"),
    model("Other makers", "NT46", "gt06"),
    model("Other makers", "QH302R", "gt06"),
    model("Other makers", "R11", "gt06"),
    model("Other makers", "VL100", "gt06"),
    model("Other makers", "XT40", "gt06"),
    model("Other makers", "AL300", "jt808"),
    model("Other makers", "BSJ", "jt808"),
    model("Other makers", "C5", "jt808"),
    model("Other makers", "C5L", "jt808"),
    model("Other makers", "DT800", "jt808"),
    model("Other makers", "G-360P", "jt808"),
    model("Other makers", "G-508P", "jt808"),
    model("Other makers", "G1C Pro", "jt808"),
    model("Other makers", "GL100", "jt808"),
    model("Other makers", "VL300", "jt808"),
    model("SinoTrack", "ST-901", "h02"),
    model("SinoTrack", "ST-901L", "h02"),
    model("SinoTrack", "ST-902", "h02"),
    model("SinoTrack", "ST-903", "h02"),
    model("SinoTrack", "ST-904", "h02"),
    model("SinoTrack", "ST-905", "h02"),
    model("SinoTrack", "ST-906", "h02"),
    model("SinoTrack", "ST-907", "h02"),
    model("SinoTrack", "ST-915", "h02"),
    model("Coban", "GPS103-A", "gps103"),
    model("Coban", "GPS103-B", "gps103"),
    model("Coban", "GPS303-F", "gps103"),
    model("Coban", "GPS303-G", "gps103"),
    model("Coban", "GPS305", "gps103"),
    model("Coban", "GPS311", "gps103"),
    model("Coban", "GPS403-A", "gps103"),
    model("Coban", "GPS403-B", "gps103"),
    model("Coban", "TK103A", "gps103"),
    model("Coban", "TK103B", "gps103"),
    model("Coban", "TK303", "gps103"),
    model("Coban", "TK305", "gps103"),
    model("Coban", "TK311", "gps103"),
    model("Xexun", "TK103-2", "tk103"),
    model("Xexun", "XT009", "tk103"),
    model("Xexun", "XT107", "tk103"),
    model("Suntech", "ST200", "suntech"),
    model("Suntech", "ST240", "suntech").read_as("ST200"),
    model("Suntech", "ST300", "suntech"),
    model("Suntech", "ST310U", "suntech").read_as("ST300"),
    model("Suntech", "ST340", "suntech").read_as("ST300"),
    model("Suntech", "ST340LC", "suntech").read_as("ST300"),
    model("Suntech", "ST350", "suntech").read_as("ST300"),
    model("Suntech", "ST380", "suntech").read_as("ST300"),
    model("Suntech", "ST390", "suntech").read_as("ST300"),
    model("Suntech", "ST500", "suntech"),
    model("Suntech", "ST600", "suntech"),
    model("Suntech", "ST910", "suntech"),
    model("Suntech", "ST940", "suntech"),
    model("Suntech", "ST3310", "suntech").with(&[("universal", true)]),
    model("Suntech", "ST3340", "suntech").with(&[("universal", true)]),
    model("Suntech", "ST4300", "suntech").with(&[("universal", true)]),
    model("Suntech", "ST4305", "suntech").with(&[("universal", true)]),
    model("Suntech", "ST4310", "suntech").with(&[("universal", true)]),
    model("Suntech", "ST4340", "suntech").with(&[("universal", true)]),
    model("Suntech", "ST8300", "suntech").with(&[("universal", true)]),
    model("Suntech", "ST8310", "suntech").with(&[("universal", true)]),
    model("Meitrack", "MT90", "meitrack"),
    model("Meitrack", "MVT100", "meitrack"),
    model("Meitrack", "MVT340", "meitrack"),
    model("Meitrack", "MVT380", "meitrack"),
    model("Meitrack", "MVT600", "meitrack"),
    model("Meitrack", "MVT800", "meitrack"),
    model("Meitrack", "P88L", "meitrack"),
    model("Meitrack", "P99G", "meitrack"),
    model("Meitrack", "P99L", "meitrack"),
    model("Meitrack", "T1", "meitrack"),
    model("Meitrack", "T3", "meitrack"),
    model("Meitrack", "T311", "meitrack"),
    model("Meitrack", "T333", "meitrack"),
    model("Meitrack", "T366", "meitrack"),
    model("Meitrack", "T366G", "meitrack"),
    model("Meitrack", "T622", "meitrack"),
    model("Meitrack", "T622E", "meitrack"),
    model("Meitrack", "T622G", "meitrack"),
    model("Meitrack", "TC68", "meitrack"),
    model("Meitrack", "TC68S", "meitrack"),
    model("Meitrack", "TS299L", "meitrack"),
    model("Ruptela", "FM-Eco4", "ruptela"),
    model("Ruptela", "FM-Eco4 light", "ruptela"),
    model("Ruptela", "FM-Eco4 S", "ruptela"),
    model("Ruptela", "FM-Plug4", "ruptela"),
    model("Ruptela", "FM-Pro4", "ruptela"),
    model("Ruptela", "FM-Tco4 HCV", "ruptela"),
    model("Ruptela", "FM-Tco4 LCV", "ruptela"),
    model("Ruptela", "HCV5", "ruptela"),
    model("Ruptela", "LCV5", "ruptela"),
    model("Ruptela", "Plug5", "ruptela"),
    model("Ruptela", "Pro5", "ruptela"),
    model("Ruptela", "Trace5", "ruptela"),
    model("CalAmp", "LMU-200", "calamp"),
    model("CalAmp", "LMU-300", "calamp"),
    model("CalAmp", "LMU-330", "calamp"),
    model("CalAmp", "LMU-700", "calamp"),
    model("CalAmp", "LMU-720", "calamp"),
    model("CalAmp", "LMU-800", "calamp"),
    model("CalAmp", "LMU-1100", "calamp"),
    model("CalAmp", "LMU-1200", "calamp"),
    model("CalAmp", "LMU-2030", "calamp"),
    model("CalAmp", "LMU-2600", "calamp"),
    model("CalAmp", "LMU-2630", "calamp"),
    model("CalAmp", "LMU-3030", "calamp"),
    model("CalAmp", "LMU-3640", "calamp"),
    model("CalAmp", "LMU-4200", "calamp"),
    model("CalAmp", "LMU-4230", "calamp"),
    model("CalAmp", "TTU-700", "calamp"),
    model("CalAmp", "TTU-720", "calamp"),
    model("CalAmp", "TTU-1200", "calamp"),
    model("CalAmp", "TTU-1230", "calamp"),
    model("CalAmp", "TTU-2830", "calamp"),
    model("Gurtam", "WiaTag", "wialon-ips"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_option::find_option;
    use crate::protocol::find_protocol;

    #[test]
    fn models_are_of_protocols_and_options_that_exist() {
        for model in MODELS {
            assert!(find_protocol(model.protocol).is_some(), "{model:?}");
            assert_eq!(find_model(model.name), Some(model), "another model has this name");
            for (name, _) in model.options {
                let option = find_option(name).unwrap();
                assert!(option.protocols.contains(&model.protocol), "{model:?}");
            }
        }
    }

    #[test]
    fn a_model_is_found_with_and_without_its_maker() {
        for text in ["FMB920", "fmb920", " Teltonika FMB920 ", "teltonika fmb920"] {
            assert_eq!(find_model(text).map(|model| model.name), Some("FMB920"), "{text:?}");
        }
        for text in ["", "Teltonika", "TeltonikaFMB920", "Queclink FMB920", "FMB92", "Ünïcödé xyz"] {
            assert_eq!(find_model(text), None, "{text:?}");
        }
        assert_eq!(find_model("Suntech ST340LC").unwrap().read_as, "ST300");
    }
}
