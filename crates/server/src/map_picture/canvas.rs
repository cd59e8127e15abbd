//! A picture of palette colours, on which polygons and lines are drawn.

/// A rectangle in pixels; the right and lower edges are outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rect {
    pub(super) fn square((left, top): (f64, f64), side: f64) -> Self {
        Self { left, top, right: left + side, bottom: top + side }
    }
}

/// The pixels of a picture, row by row.
#[derive(Debug)]
pub(super) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// The index of the first pixel whose middle is at or after this coordinate, up to `most`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from f64 saturates, and the value is clamped"
)]
fn pixel(at: f64, most: usize) -> usize {
    let index = (at - 0.5).ceil();
    if index <= 0.0 || index.is_nan() { 0 } else { (index as usize).min(most) }
}

/// The middle of a pixel.
#[expect(clippy::cast_precision_loss, reason = "a picture has few thousand rows")]
fn middle(index: usize) -> f64 {
    index as f64 + 0.5
}

impl Canvas {
    pub(super) fn new(width: u32, height: u32, colour: u8) -> Self {
        let (width, height) = (usize::try_from(width).unwrap_or(0), usize::try_from(height).unwrap_or(0));
        Self { width, height, pixels: vec![colour; width * height] }
    }

    pub(super) fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    pub(super) const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Fills the inside of rings, by the even-odd rule.
    pub(super) fn fill(&mut self, rings: &[Vec<(f64, f64)>], clip: &Rect, colour: u8) {
        let (top, bottom) = (pixel(clip.top, self.height), pixel(clip.bottom, self.height));
        let (left, right) = (pixel(clip.left, self.width), pixel(clip.right, self.width));
        if top >= bottom || left >= right {
            return;
        }
        let mut crossings: Vec<Vec<f64>> = vec![Vec::new(); bottom - top];
        for ring in rings {
            for (index, &(x0, y0)) in ring.iter().enumerate() {
                let Some(&(x1, y1)) = ring.get(index + 1).or_else(|| ring.first()) else { continue };
                let (from, to) = (pixel(y0.min(y1), self.height), pixel(y0.max(y1), self.height));
                for row in from.max(top)..to.min(bottom) {
                    let x = x0 + (middle(row) - y0) / (y1 - y0) * (x1 - x0);
                    if let Some(crossings) = crossings.get_mut(row - top) {
                        crossings.push(x);
                    }
                }
            }
        }
        for (index, mut crossings) in crossings.into_iter().enumerate() {
            crossings.sort_unstable_by(f64::total_cmp);
            for pair in crossings.chunks_exact(2) {
                let (from, to) =
                    (pixel(pair[0], self.width).max(left), pixel(pair[1], self.width).min(right));
                self.span(top + index, from, to, colour);
            }
        }
    }

    /// Draws a line three pixels wide.
    pub(super) fn stroke(&mut self, line: &[(f64, f64)], clip: &Rect, colour: u8) {
        for pair in line.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let (wide, high) = (x1 - x0, y1 - y0);
            let length = wide.abs().max(high.abs());
            // Parts outside the picture are long where a tile is enlarged.
            if !length.is_finite() || length > 20_000.0 {
                continue;
            }
            let mut done = 0.0;
            while done <= length {
                let part = if length > 0.0 { done / length } else { 0.0 };
                let (x, y) = (x0 + wide * part, y0 + high * part);
                if x >= clip.left && x < clip.right && y >= clip.top && y < clip.bottom {
                    self.dot((x, y), 1.5, colour);
                }
                done += 1.0;
            }
        }
    }

    /// Fills a circle.
    pub(super) fn disc(&mut self, centre: (f64, f64), radius: f64, colour: u8) {
        self.dot(centre, radius, colour);
    }

    fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: u8) {
        for row in pixel(y - radius, self.height)..pixel(y + radius, self.height) {
            let off = middle(row) - y;
            let half = (radius * radius - off * off).max(0.0).sqrt();
            self.span(row, pixel(x - half, self.width), pixel(x + half, self.width), colour);
        }
    }

    fn span(&mut self, row: usize, from: usize, to: usize, colour: u8) {
        let start = row * self.width;
        if let Some(pixels) = self.pixels.get_mut(start + from..start + to.max(from)) {
            pixels.fill(colour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_are_filled_inside_their_clip() {
        let mut canvas = Canvas::new(6, 4, 0);
        let ring = vec![(1.0, 1.0), (20.0, 1.0), (20.0, 3.0), (1.0, 3.0)];
        canvas.fill(&[ring], &Rect::square((0.0, 0.0), 4.0), 1);
        let rows: Vec<&[u8]> = canvas.pixels().chunks(6).collect();
        assert_eq!(rows, [[0; 6], [0, 1, 1, 1, 0, 0], [0, 1, 1, 1, 0, 0], [0; 6]]);
    }

    #[test]
    fn nothing_is_drawn_outside_the_picture() {
        let mut canvas = Canvas::new(4, 4, 0);
        let clip = Rect::square((-100.0, -100.0), 300.0);
        canvas.fill(&[vec![(-50.0, -50.0), (50.0, -60.0), (70.0, -1.0)]], &clip, 1);
        canvas.stroke(&[(-9.0, -9.0), (f64::NAN, 2.0)], &clip, 1);
        canvas.disc((-30.0, 2.0), 10.0, 1);
        assert!(canvas.pixels().iter().all(|pixel| *pixel == 0));
        canvas.fill(&[vec![(-50.0, -50.0), (50.0, -50.0), (50.0, 50.0), (-50.0, 50.0)]], &clip, 2);
        assert!(canvas.pixels().iter().all(|pixel| *pixel == 2));
    }
}
