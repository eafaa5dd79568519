// Package plot draws lines over numbers of resources, as SVG.
package plot

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// A Point is a value for N resources.
type Point struct{ N, Value float64 }

// A Line is what one program reached, in the order of N.
type Line struct {
	Name   string
	Points []Point
}

// A Panel has one figure of all programs.
type Panel struct {
	Title string
	Lines []Line
}

const (
	width, height = 300, 240 // of a panel, in pixels
	left, right   = 48, 12   // from the edge to the plot
	top, bottom   = 34, 34
	legend        = 24
)

// style has colours that can be told apart by those who see red and green alike (Okabe
// and Ito), on white and on black.
const style = `<style>
text { font: 11px sans-serif; fill: #333 } .title { font-weight: bold } .axis { stroke: #999 } .grid { stroke: #ddd }
.p0 { stroke: #0072b2; fill: #0072b2 } .p1 { stroke: #d55e00; fill: #d55e00 } .p2 { stroke: #009e73; fill: #009e73 }
polyline { fill: none !important; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .grid { stroke: #444 } }
</style>`

// Write draws panels side by side. N has a logarithmic axis, values begin at 0.
func Write(w io.Writer, panels []Panel) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`+"\n%s\n",
		width*len(panels), height+legend, style)
	for i, p := range panels {
		fmt.Fprintf(&b, `<g transform="translate(%d 0)">`+"\n", i*width)
		p.drawPanel(&b)
		b.WriteString("</g>\n")
	}
	for i, l := range panels[0].Lines {
		x := left + i*130
		fmt.Fprintf(&b, `<circle class="p%d" cx="%d" cy="%d" r="4"/><text x="%d" y="%d">%s</text>`+"\n", i, x, height+8, x+9, height+12, l.Name)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// drawPanel draws the axes and the lines.
func (p Panel) drawPanel(b *strings.Builder) {
	var ns []float64
	most := 0.0
	for _, l := range p.Lines {
		for _, at := range l.Points {
			ns, most = append(ns, at.N), max(most, at.Value)
		}
	}
	slices.Sort(ns)
	ns = slices.Compact(ns)
	step := Step(most)
	limit := step * math.Ceil(most/step)
	first, last := math.Log(ns[0]), math.Log(ns[len(ns)-1])
	x := func(n float64) float64 {
		return left + (width-left-right)*(math.Log(n)-first)/cmp.Or(last-first, 1)
	}
	y := func(v float64) float64 { return height - bottom - (height-top-bottom)*v/limit }
	fmt.Fprintf(b, `<text class="title" x="%d" y="18">%s</text>`+"\n", left, p.Title)
	for v := 0.0; v <= limit*1.001; v += step {
		fmt.Fprintf(b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n",
			left, width-right, y(v), y(v), left-6, y(v)+4, v)
	}
	for _, n := range ns {
		fmt.Fprintf(b, `<line class="axis" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n",
			x(n), x(n), height-bottom, height-bottom+4, x(n), height-bottom+17, n)
	}
	for i, l := range p.Lines {
		var points []string
		for _, at := range l.Points {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(at.N), y(at.Value)))
			fmt.Fprintf(b, `<circle class="p%d" cx="%.1f" cy="%.1f" r="3"/>`+"\n", i, x(at.N), y(at.Value))
		}
		fmt.Fprintf(b, `<polyline class="p%d" points="%s"/>`+"\n", i, strings.Join(points, " "))
	}
}

// Step is a round number of which three to six make the greatest value.
func Step(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most)))
	for _, part := range []float64{0.2, 0.5, 1, 2} {
		if most/(power*part) <= 6 {
			return power * part
		}
	}
	return power * 2
}
