//! Bars as SVG, without scripts or fonts of their own.

use std::fmt::Write as _;

/// A bar and what it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) value: f64,
    /// Whether it is what is measured, or what that is compared with.
    pub(crate) is_ours: bool,
}

const ROW: usize = 24;
const LABELS: usize = 300;
const WIDTH: usize = 480;

/// Draws bars below each other.
pub(crate) fn bars(title: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(|bar| bar.value).fold(1.0, f64::max);
    let (width, height) = (LABELS + WIDTH + 90, (bars.len() + 2) * ROW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"10\" y=\"20\" font-size=\"15\">{title}</text>\n"
    );
    for (index, bar) in bars.iter().enumerate() {
        let top = (index + 1) * ROW + 8;
        let length = bar.value / most * f64::from(u32::try_from(WIDTH).unwrap_or(0));
        let colour = if bar.is_ours { "#0b6e99" } else { "#b8c4cc" };
        let label = bar.label.replace('&', "&amp;").replace('<', "&lt;");
        let (base, start) = (top + 13, LABELS + 8);
        let end = f64::from(u32::try_from(start).unwrap_or(0)) + length + 6.0;
        let _ = write!(
            svg,
            "<text x=\"{LABELS}\" y=\"{base}\" text-anchor=\"end\">{label}</text>\n\
             <rect x=\"{start}\" y=\"{top}\" width=\"{length:.1}\" height=\"16\" fill=\"{colour}\"/>\n\
             <text x=\"{end:.1}\" y=\"{base}\">{:.0}</text>\n",
            bar.value
        );
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_drawn_to_scale() {
        let bar = |value, is_ours| Bar { label: "a < b".to_owned(), value, is_ours };
        let svg = bars("T", &[bar(100.0, false), bar(50.0, true)]);
        assert!(
            svg.contains("width=\"480.0\"") && svg.contains("width=\"240.0\"") && svg.contains("a &lt; b")
        );
    }
}
