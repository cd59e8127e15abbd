//! Bars and lines as SVG, without scripts or fonts of their own.

use std::fmt::Write as _;

/// A bar with its label.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) value: f64,
    /// Whether it is a figure of Perigee, or one that Perigee is compared with.
    pub(crate) is_ours: bool,
}

/// A line with its name.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) dots: Vec<(f64, f64)>,
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

const COLOURS: [&str; 4] = ["#0b6e99", "#c8602b", "#5a8f3c", "#7a5195"];
const LINES_WIDTH: f64 = 720.0;
const LINES_HEIGHT: f64 = 260.0;
const MARGIN: f64 = 50.0;

/// Draws lines over each other, both axes from zero.
pub(crate) fn lines(title: &str, series: &[Series]) -> String {
    let most = |of: fn(&(f64, f64)) -> f64| {
        series.iter().flat_map(|one| one.dots.iter().map(of)).fold(1e-9, f64::max)
    };
    let (x_most, y_most) = (most(|dot| dot.0), most(|dot| dot.1));
    let x = |value: f64| MARGIN + value / x_most * LINES_WIDTH;
    let y = |value: f64| MARGIN + LINES_HEIGHT - value / y_most * LINES_HEIGHT;
    let (width, height) = (LINES_WIDTH + 2.0 * MARGIN, LINES_HEIGHT + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"10\" y=\"20\" font-size=\"15\">{title}</text>\n"
    );
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (across, down) = (y(y_most * part), x(x_most * part));
        let _ = write!(
            svg,
            "<path d=\"M{MARGIN} {across:.1}h{LINES_WIDTH}\" stroke=\"#dde3e7\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{:.0}</text>\n\
             <text x=\"{down:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.1}</text>\n",
            MARGIN - 6.0,
            across + 4.0,
            y_most * part,
            MARGIN + LINES_HEIGHT + 18.0,
            x_most * part
        );
    }
    for ((index, one), colour) in series.iter().enumerate().zip(COLOURS.iter().cycle()) {
        let dots = one.dots.iter().map(|dot| format!("{:.1},{:.1}", x(dot.0), y(dot.1)));
        let _ = write!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n\
             <text x=\"{:.1}\" y=\"40\" fill=\"{colour}\">{}</text>\n",
            dots.collect::<Vec<_>>().join(" "),
            MARGIN + f64::from(u32::try_from(index).unwrap_or(0)) * 140.0,
            one.name
        );
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_reach_from_corner_to_corner() {
        let series = Series { name: "a".to_owned(), dots: vec![(0.0, 0.0), (2.0, 8.0)] };
        assert!(lines("T", &[series]).contains("points=\"50.0,310.0 770.0,50.0\""));
    }

    #[test]
    fn bars_are_drawn_to_scale() {
        let bar = |value, is_ours| Bar { label: "a < b".to_owned(), value, is_ours };
        let svg = bars("T", &[bar(100.0, false), bar(50.0, true)]);
        assert!(
            svg.contains("width=\"480.0\"") && svg.contains("width=\"240.0\"") && svg.contains("a &lt; b")
        );
    }
}
