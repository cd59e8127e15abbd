//! Layers of well-known providers, so that an operator need not look up URL, zoom levels and attribution. Nothing is
//! requested from a provider unless an operator adds its layer.

use crate::config::MapLayer;

/// Stands for the operator's key in a URL.
const KEY: &str = "{key}";

/// A layer of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerPreset {
    /// The word by which an operator chooses it.
    pub id: &'static str,
    /// Name under which users find it, unless the operator gives another.
    pub name: &'static str,
    template: &'static str,
    overlay: bool,
    max_zoom: u8,
    attribution: &'static str,
}

/// Every preset.
pub const PRESETS: [LayerPreset; 3] = [
    LayerPreset {
        id: "sea-marks",
        name: "Sea marks",
        template: "https://tiles.openseamap.org/seamark/{z}/{x}/{y}.png",
        overlay: true,
        max_zoom: 18,
        attribution: "© OpenSeaMap contributors",
    },
    LayerPreset {
        id: "satellite-maptiler",
        name: "Satellite",
        template: "https://api.maptiler.com/tiles/satellite-v2/{z}/{x}/{y}.jpg?key={key}",
        overlay: false,
        max_zoom: 20,
        attribution: "© MapTiler © OpenStreetMap contributors",
    },
    LayerPreset {
        id: "satellite-esri",
        name: "Satellite",
        template: "https://ibasemaps-api.arcgis.com/arcgis/rest/services/World_Imagery/MapServer/tile/{z}/{y}/{x}?token={key}",
        overlay: false,
        max_zoom: 19,
        attribution: "Esri, Maxar, Earthstar Geographics, and the GIS User Community",
    },
];

impl LayerPreset {
    /// The preset with this ID.
    pub fn find(id: &str) -> Option<Self> {
        PRESETS.into_iter().find(|preset| preset.id == id)
    }

    /// Whether the provider demands a key.
    pub fn needs_key(self) -> bool {
        self.template.contains(KEY)
    }

    /// The layer, with the operator's key if the provider demands one. Error: what is missing.
    pub fn layer(self, key: Option<&str>) -> Result<MapLayer, String> {
        let source = match (self.needs_key(), key) {
            (true, None) => return Err(format!("{} needs the key that its provider gave you", self.id)),
            (false, Some(_)) => return Err(format!("{} has no key", self.id)),
            (true, Some(key)) => {
                if key.is_empty()
                    || !key.chars().all(|sign| sign.is_ascii_alphanumeric() || "-_.~".contains(sign))
                {
                    return Err("a key has letters, digits and the signs - _ . ~ only".to_owned());
                }
                self.template.replace(KEY, key)
            }
            (false, None) => self.template.to_owned(),
        };
        Ok(MapLayer {
            overlay: self.overlay,
            max_zoom: self.max_zoom,
            ..MapLayer::of_file(self.name, &source, self.attribution)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LayerSource;

    #[test]
    fn every_preset_is_a_layer_that_this_server_fetches() {
        for preset in PRESETS {
            let layer = preset.layer(preset.needs_key().then_some("k-1")).unwrap();
            assert_eq!((layer.problem(), layer.kind()), (None, LayerSource::Proxied), "{}", preset.id);
            assert!(!layer.source.contains(KEY) && !layer.attribution.is_empty());
            assert_eq!(LayerPreset::find(preset.id), Some(preset));
        }
        assert!(LayerPreset::find("sea-marks").unwrap().layer(None).unwrap().overlay);
        assert_eq!(LayerPreset::find("other"), None);
    }

    #[test]
    fn keys_are_demanded_where_they_are_needed() {
        let find = |id| LayerPreset::find(id).unwrap();
        assert!(find("sea-marks").layer(Some("k")).is_err());
        assert!(find("satellite-esri").layer(None).is_err());
        assert!(find("satellite-maptiler").layer(Some("a&b=/{x}")).is_err());
        let layer = find("satellite-maptiler").layer(Some("abc")).unwrap();
        assert!(layer.source.ends_with(".jpg?key=abc"));
    }
}
