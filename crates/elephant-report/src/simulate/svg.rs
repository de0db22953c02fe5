//! Charts as one SVG picture, one below the other. Colours can be told apart with any kind of colour vision.

use std::io::{self, Write};

use super::super::wrap::clean;
use super::chart::{Bar, Bars, Chart, Lines, Plot, Point, tick};

const WIDTH: f64 = 760.0;
/// Height of a chart with its title and axis.
const HEIGHT: f64 = 300.0;
/// Edges of the plot within a chart.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 744.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 256.0;
/// Colours of the series (Okabe and Ito).
const COLORS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/// Writes the charts; `caption` is below them.
pub(super) fn write(title: &str, charts: &[Chart], caption: &str, out: &mut dyn Write) -> io::Result<()> {
    let height = HEIGHT * charts.len() as f64 + 32.0;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">"
    )?;
    writeln!(out, "<title>{}</title>", escaped(title))?;
    writeln!(out, "<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>")?;
    for (place, chart) in charts.iter().enumerate() {
        writeln!(out, "<g transform=\"translate(0 {})\">", HEIGHT * place as f64)?;
        draw(chart, out)?;
        writeln!(out, "</g>")?;
    }
    let y = height - 12.0;
    writeln!(out, "<text x=\"{LEFT}\" y=\"{y}\" font-size=\"11\" fill=\"#555\">{}</text>", escaped(caption))?;
    writeln!(out, "</svg>")
}

fn draw(chart: &Chart, out: &mut dyn Write) -> io::Result<()> {
    let title = escaped(&chart.title);
    writeln!(out, "<text x=\"{LEFT}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{title}</text>")?;
    legend(&chart.plot, out)?;
    let top = chart.plot.top();
    let step = tick(top);
    let ticks = (top / step - 1e-9).ceil().max(1.0);
    let scale = Scale { top: ticks * step };
    let mut value = 0.0;
    while value <= ticks {
        let (y, label) = (scale.y(value * step), label(value * step));
        writeln!(out, "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>")?;
        let (x, y) = (LEFT - 8.0, y + 4.0);
        writeln!(out, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>")?;
        value += 1.0;
    }
    let middle = f64::midpoint(TOP, BOTTOM);
    writeln!(
        out,
        "<text x=\"14\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {middle})\">{}</text>",
        escaped(chart.axis)
    )?;
    match &chart.plot {
        Plot::Bars(bars) => draw_bars(bars, &scale, out),
        Plot::Lines(lines) => draw_lines(lines, &scale, out),
    }
}

/// The vertical axis.
struct Scale {
    top: f64,
}

impl Scale {
    fn y(&self, value: f64) -> f64 {
        BOTTOM - (value / self.top).clamp(0.0, 1.0) * (BOTTOM - TOP)
    }
}

fn color(series: usize) -> &'static str {
    COLORS.iter().cycle().nth(series % COLORS.len()).copied().unwrap_or("#000")
}

fn legend(plot: &Plot, out: &mut dyn Write) -> io::Result<()> {
    let mut x = LEFT;
    for (place, name) in plot.series().into_iter().enumerate() {
        let text = x + 16.0;
        writeln!(out, "<rect x=\"{x:.1}\" y=\"30\" width=\"11\" height=\"11\" fill=\"{}\"/>", color(place))?;
        writeln!(out, "<text x=\"{text:.1}\" y=\"40\">{}</text>", escaped(name))?;
        x += 40.0 + 7.0 * name.chars().count() as f64;
    }
    if let Plot::Bars(Bars { part: Some(part), .. }) = plot {
        writeln!(out, "<text x=\"{x:.1}\" y=\"40\" fill=\"#555\">{}</text>", escaped(part))?;
    }
    Ok(())
}

fn draw_bars(bars: &Bars, scale: &Scale, out: &mut dyn Write) -> io::Result<()> {
    let room = (RIGHT - LEFT) / bars.groups.len().max(1) as f64;
    let width = (room * 0.8 / bars.series.len().max(1) as f64).min(56.0);
    for (place, (name, group)) in bars.groups.iter().enumerate() {
        let middle = LEFT + room * (place as f64 + 0.5);
        let y = BOTTOM + 18.0;
        writeln!(out, "<text x=\"{middle:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", escaped(name))?;
        let begin = middle - width * group.len() as f64 / 2.0;
        for (series, (bar, about)) in group.iter().zip(&bars.series).enumerate() {
            let x = begin + width * series as f64;
            if let Some(bar) = bar {
                writeln!(out, "<g><title>{}</title>", escaped(&format!("{about}, {name}: {}", words(bar))))?;
                draw_bar(bar, (x, width * 0.92), color(series), scale, out)?;
                writeln!(out, "</g>")?;
            }
        }
    }
    Ok(())
}

fn draw_bar(
    bar: &Bar,
    (x, width): (f64, f64),
    color: &str,
    scale: &Scale,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rect = |value: f64, opacity: &str| {
        let (y, height) = (scale.y(value), BOTTOM - scale.y(value));
        writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\"{opacity}/>"
        )
    };
    match bar.part {
        Some(part) => {
            rect(bar.value, " opacity=\"0.45\"")?;
            rect(part, "")?;
        }
        None => rect(bar.value, "")?,
    }
    if let Some(deviation) = bar.deviation {
        let middle = x + width / 2.0;
        let (high, low) = (scale.y(bar.value + deviation), scale.y(bar.value - deviation));
        let (left, right) = (middle - 3.0, middle + 3.0);
        writeln!(
            out,
            "<path d=\"M{middle:.1} {high:.1}V{low:.1}M{left:.1} {high:.1}H{right:.1}M{left:.1} {low:.1}H{right:.1}\" \
             stroke=\"#222\" fill=\"none\"/>"
        )?;
    }
    Ok(())
}

fn draw_lines(lines: &Lines, scale: &Scale, out: &mut dyn Write) -> io::Result<()> {
    let end = lines.lines.iter().flat_map(|(_, points)| points).map(|point| point.x).fold(0.0, f64::max);
    let end = if end > 0.0 { end } else { 1.0 };
    let to_x = |x: f64| LEFT + x / end * (RIGHT - LEFT);
    let step = tick(end);
    let mut value = 0.0;
    while value <= end + 1e-9 * end {
        let (x, y) = (to_x(value), BOTTOM + 18.0);
        writeln!(out, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", label(value))?;
        value += step;
    }
    let (middle, y) = (f64::midpoint(LEFT, RIGHT), BOTTOM + 36.0);
    writeln!(out, "<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", escaped(lines.axis))?;
    for (series, (_, points)) in lines.lines.iter().enumerate() {
        let color = color(series);
        let path = |side: f64| {
            let at = |point: &Point| {
                let y = scale.y(point.y + side * point.deviation.unwrap_or_default());
                format!("{:.1} {y:.1}", to_x(point.x))
            };
            points.iter().map(at).collect::<Vec<_>>()
        };
        if points.iter().any(|point| point.deviation.is_some()) {
            let mut back = path(-1.0);
            back.reverse();
            let band = [path(1.0), back].concat().join("L");
            writeln!(out, "<path d=\"M{band}Z\" fill=\"{color}\" opacity=\"0.2\"/>")?;
        }
        let line = path(0.0).join("L");
        writeln!(out, "<path d=\"M{line}\" stroke=\"{color}\" stroke-width=\"2\" fill=\"none\"/>")?;
    }
    Ok(())
}

/// "0.59 ± 0.03".
fn words(bar: &Bar) -> String {
    let deviation = bar.deviation.map(|deviation| format!(" ± {deviation:.2}")).unwrap_or_default();
    format!("{:.2}{deviation}", bar.value)
}

/// A tick's value with as many decimals as it needs.
fn label(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() { "0".to_owned() } else { text.to_owned() }
}

/// Text without characters that mean something in XML, and without control characters.
fn escaped(text: &str) -> String {
    let text = clean(text);
    let escape = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        // XML does not allow these characters.
        '\u{fffe}' | '\u{ffff}' => "?".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_text() {
        assert_eq!(escaped("<a>&\"b\"\u{1b}"), "&lt;a&gt;&amp;&quot;b&quot; ");
        assert_eq!((label(0.0), label(0.25), label(200.0)), ("0".into(), "0.25".into(), "200".into()));
    }
}
