//! Names a browser by its header `User-Agent`, for lists that people read.

/// The name of a browser with its system, such as "Firefox on Android".
pub(super) fn browser_name(agent: &str) -> String {
    // The order matters: most browsers also name Chrome or Safari, and Android also names Linux.
    let browsers = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser", "Samsung Internet"),
        ("Firefox", "Firefox"),
        ("FxiOS", "Firefox"),
        ("Chrom", "Chrome"),
        ("CriOS", "Chrome"),
        ("Safari", "Safari"),
    ];
    let systems = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Macintosh", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    let named = |names: &[(&str, &'static str)]| {
        names.iter().find(|(sign, _)| agent.contains(sign)).map(|(_, name)| *name)
    };
    match (named(&browsers), named(&systems)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => "Browser".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_named_as_people_know_them() {
        let chrome = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36";
        let edge = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0";
        let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        for (agent, name) in [
            (chrome, "Chrome on Android"),
            (edge, "Edge on Windows"),
            (safari, "Safari on iPhone"),
            (firefox, "Firefox on Linux"),
            ("curl/8", "Browser"),
            ("", "Browser"),
        ] {
            assert_eq!(browser_name(agent), name);
        }
    }
}
