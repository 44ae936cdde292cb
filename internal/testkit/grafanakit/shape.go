package grafanakit

import (
	"errors"
	"fmt"
)

// CheckTimeSeries wants what the data source makes series of: a column time, in order, columns
// that name a series, and numbers, each with a value somewhere. label is the column that the
// panel names its series by; without one there is no column of text.
func (a *Answer) CheckTimeSeries(label string) error {
	if len(a.Data) == 0 {
		return errors.New("no rows")
	}
	if a.Meta[0].Name != "time" || !a.Meta[0].IsTime() || a.Meta[0].IsNullable() {
		return fmt.Errorf("the first column is %v, want time", a.Meta[0])
	}
	labels, values := 0, 0
	for _, c := range a.Meta[1:] {
		switch {
		case c.IsText() && c.Name == label:
			labels++
		case c.IsNumber():
			values++
			if !a.HasValue(c.Name) {
				return fmt.Errorf("column %s has no value", c.Name)
			}
		default:
			return fmt.Errorf("column %s of type %s is neither a value nor the label %q", c.Name, c.Type, label)
		}
	}
	if values == 0 || label != "" && (labels != 1 || values != 1) {
		return fmt.Errorf("%d labels and %d values by %q: %v", labels, values, label, a.Meta)
	}
	return a.checkOrder(label)
}

// checkOrder wants time to rise, and each series once at a time.
func (a *Answer) checkOrder(label string) error {
	by := 0
	for i, c := range a.Meta {
		if label != "" && c.Name == label {
			by = i
		}
	}
	seen, last := map[string]bool{}, ""
	for _, row := range a.Data {
		now := fmt.Sprint(row[0])
		if now < last {
			return fmt.Errorf("%s comes after %s", now, last)
		}
		last = now
		key := now
		if by > 0 {
			key += fmt.Sprint(" ", row[by])
		}
		if seen[key] {
			return fmt.Errorf("two points at %s", key)
		}
		seen[key] = true
	}
	return nil
}

// CheckNumber wants one row with one number.
func (a *Answer) CheckNumber() error {
	if len(a.Data) != 1 || len(a.Meta) != 1 || !a.Meta[0].IsNumber() || a.Data[0][0] == nil {
		return fmt.Errorf("%v of %v, want one number", a.Data, a.Meta)
	}
	return nil
}

// CheckBars wants a name and a number in each row.
func (a *Answer) CheckBars() error {
	if len(a.Data) == 0 || len(a.Meta) != 2 || !a.Meta[0].IsText() || !a.Meta[1].IsNumber() {
		return fmt.Errorf("%d rows of %v, want a name and a number", len(a.Data), a.Meta)
	}
	return nil
}

// CheckTable wants rows, and the columns that the panel speaks of, each with a value.
func (a *Answer) CheckTable(columns ...string) error {
	if len(a.Data) == 0 {
		return errors.New("no rows")
	}
	for _, name := range columns {
		if _, ok := a.Column(name); !ok {
			return fmt.Errorf("no column %q in %v", name, a.Meta)
		}
		if !a.HasValue(name) {
			return fmt.Errorf("column %q has no value", name)
		}
	}
	return nil
}

// CheckAnnotations wants a time, a text and tags in each row.
func (a *Answer) CheckAnnotations() error {
	if len(a.Data) == 0 {
		return errors.New("no rows")
	}
	for _, name := range []string{"time", "text", "tags"} {
		c, ok := a.Column(name)
		if !ok || (name == "time") != c.IsTime() {
			return fmt.Errorf("column %s is %v", name, c)
		}
	}
	return nil
}

// CheckAlert wants rows of labels and one number, of which Grafana makes an alert each.
func (a *Answer) CheckAlert() error {
	numbers := 0
	for _, c := range a.Meta {
		switch {
		case c.IsNumber():
			numbers++
		case !c.IsText():
			return fmt.Errorf("column %v is neither a label nor a number", c)
		}
	}
	if numbers != 1 || len(a.Data) == 0 {
		return fmt.Errorf("%d rows of %v, want labels and one number", len(a.Data), a.Meta)
	}
	return nil
}
