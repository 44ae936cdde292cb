package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"
)

// Sizes of the charts, in the units of their view box: they scale with the page.
const (
	chartWidth  = 720.0
	areaHeight  = 240.0
	barHeight   = 22.0
	barGap      = 8.0
	labelWidth  = 200.0
	maxBars     = 15
	axisHeight  = 24.0
	axisWidth   = 48.0
	minHoursFor = 2 // an area of one hour is no shape
)

// SVG draws the answer; empty where there is nothing to draw.
func (s *Section) SVG() template.HTML {
	switch {
	case s.Chart.Kind == Bars && len(s.Rows) > 0:
		return s.bars()
	case s.Chart.Kind == Area && len(s.Rows) >= minHoursFor:
		return s.area()
	}
	return ""
}

// drawing collects the elements of a chart.
type drawing struct{ strings.Builder }

func (d *drawing) open(height float64, title string) {
	fmt.Fprintf(d, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s" preserveAspectRatio="xMinYMin meet">`, chartWidth, height, template.HTMLEscapeString(title))
}

func (d *drawing) rect(x, y, w, h float64, class, title string) {
	if w < 0.05 || h < 0.05 {
		return
	}
	fmt.Fprintf(d, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" class="%s"><title>%s</title></rect>`, x, y, w, h, class, template.HTMLEscapeString(title))
}

func (d *drawing) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(d, `<text x="%.2f" y="%.2f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, template.HTMLEscapeString(s))
}

func (d *drawing) close() template.HTML {
	d.WriteString("</svg>")
	return template.HTML(d.String()) //nolint:gosec // each text was escaped
}

// bars draws a bar for each row, its parts one after the other.
func (s *Section) bars() template.HTML {
	n := min(len(s.Rows), maxBars)
	longest := 0.0
	for row := range n {
		longest = max(longest, s.total(row))
	}
	if longest == 0 {
		return ""
	}
	d := &drawing{}
	d.open(float64(n)*(barHeight+barGap), s.Title)
	scale := (chartWidth - labelWidth - 90) / longest
	for row := range n {
		y := float64(row) * (barHeight + barGap)
		label := s.label(row)
		d.text(labelWidth-8, y+barHeight*0.7, "end", "label", short(label, 24))
		x := labelWidth
		for _, b := range s.Chart.Parts {
			v := s.value(row, b)
			d.rect(x, y, v*scale, barHeight, "f-"+b.Color, label+", "+b.Name+": "+brief(v, "")+" "+s.chartUnit())
			x += v * scale
		}
		d.text(x+6, y+barHeight*0.7, "start", "value", brief(s.total(row), "")+" "+s.chartUnit())
	}
	return d.close()
}

func (s *Section) total(row int) float64 {
	sum := 0.0
	for _, b := range s.Chart.Parts {
		sum += s.value(row, b)
	}
	return sum
}

// chartUnit is the unit of what is drawn.
func (s *Section) chartUnit() string {
	i := s.column(s.Chart.Parts[0].Plus[0])
	if i < 0 {
		return ""
	}
	return s.Units[i]
}

func short(text string, limit int) string {
	r := []rune(text)
	if len(r) <= limit {
		return text
	}
	return string(r[:limit/2]) + "…" + string(r[len(r)-limit/2+1:])
}

// area stacks the parts over the hours. An hour that is missing is a gap.
func (s *Section) area() template.HTML {
	first, last, highest := s.hour(0), s.hour(len(s.Rows)-1), 0.0
	for row := range s.Rows {
		highest = max(highest, s.total(row))
	}
	hours := last.Sub(first).Hours() + 1
	if highest == 0 {
		return ""
	}
	d := &drawing{}
	d.open(areaHeight+axisHeight, s.Title)
	step := (chartWidth - axisWidth) / hours
	top := nice(highest)
	for i := range 5 {
		y := areaHeight - areaHeight*0.94*float64(i)/4
		fmt.Fprintf(d, `<line x1="%g" x2="%g" y1="%.2f" y2="%.2f" class="grid"/>`, axisWidth, chartWidth, y, y)
		d.text(axisWidth-6, y+4, "end", "label", brief(top*float64(i)/4, ""))
	}
	for row := range s.Rows {
		x := axisWidth + s.hour(row).Sub(first).Hours()*step
		y := areaHeight
		for _, b := range s.Chart.Parts {
			v := s.value(row, b)
			h := v / top * areaHeight * 0.94
			y -= h
			d.rect(x, y, max(step-min(step*0.08, 1), 0.2), h, "f-"+b.Color, s.hour(row).Format("2006-01-02 15:04")+", "+b.Name+": "+brief(v, "")+" "+s.chartUnit())
		}
	}
	for _, at := range ticks(first, last) {
		x := axisWidth + at.Sub(first).Hours()*step
		layout := "15:04"
		if at.Hour() == 0 {
			layout = "Jan 2"
		}
		d.text(min(max(x+step/2, axisWidth+14), chartWidth-26), areaHeight+16, "middle", "label", at.Format(layout))
	}
	return d.close()
}

func (s *Section) hour(row int) time.Time {
	at, _ := s.Rows[row][s.column("hour")].(time.Time)
	return at
}

// nice is the next number that reads well on an axis of four steps.
func nice(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 4, 6, 8, 10} {
		if v <= m*unit {
			return m * unit
		}
	}
	return v
}

// ticks are up to seven whole hours or days between two times.
func ticks(first, last time.Time) []time.Time {
	span := last.Sub(first)
	step := time.Hour
	for _, d := range []time.Duration{1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720, 1440, 2880} {
		if step = d * time.Hour; span/step <= 6 {
			break
		}
	}
	var out []time.Time
	at := first.Truncate(step)
	if at.Before(first) {
		at = at.Add(step)
	}
	for ; !at.After(last); at = at.Add(step) {
		out = append(out, at)
	}
	return out
}
