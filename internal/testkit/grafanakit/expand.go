// Package grafanakit asks the queries of dashboards and alert rules as Grafana does, for
// tests: it expands the variables of Grafana and the macros of its ClickHouse data source,
// and checks that the answer has the columns that a panel needs.
package grafanakit

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// All is the value of a variable when everything is chosen.
const All = "$__all"

// View is what the top of a dashboard says.
type View struct {
	From, To  time.Time
	Interval  time.Duration       // that Grafana makes of the range and the width of a panel
	Variables map[string][]string // chosen values; All alone for everything
}

// SQL expands a query in the order of the plugin: $__conditionalAll and the variables in the
// browser, then the macros in the backend. What is left of a $ is an error.
func (v View) SQL(text string) (string, error) {
	text, err := v.conditionalAll(text)
	if err != nil {
		return "", err
	}
	if text, err = v.interpolate(text); err != nil {
		return "", err
	}
	if text, err = v.macros(text); err != nil {
		return "", err
	}
	if i := strings.IndexByte(text, '$'); i >= 0 {
		return "", fmt.Errorf("nothing expands %q", text[i:min(len(text), i+40)])
	}
	return text, nil
}

// conditionalAll replaces $__conditionalAll(CONDITION, $variable) from the last to the first:
// by CONDITION, or by 1=1 when the variable is empty or All. The second argument is a plain
// reference; with a format the plugin does not find the variable.
func (v View) conditionalAll(text string) (string, error) {
	const macro = "$__conditionalAll("
	for {
		at := strings.LastIndex(text, macro)
		if at < 0 {
			return text, nil
		}
		args, end, err := arguments(text, at+len(macro)-1)
		if err != nil {
			return "", err
		}
		if len(args) != 2 {
			return "", fmt.Errorf("$__conditionalAll has %d arguments, want 2", len(args))
		}
		name, ok := strings.CutPrefix(strings.TrimSpace(args[1]), "$")
		values, known := v.Variables[name]
		if !ok || !known {
			return "", fmt.Errorf("$__conditionalAll: no variable %q", args[1])
		}
		phrase := args[0]
		if chosen := strings.Join(values, ","); chosen == "" || chosen == All {
			phrase = "1=1"
		}
		text = text[:at] + phrase + text[end:]
	}
}

// reference is a variable of Grafana, with a format or without.
var reference = regexp.MustCompile(`\$\{(\w+)(?::(\w+))?\}|\$(\w+)`)

// interpolate replaces variables. Names that begin with __ are left to the backend.
func (v View) interpolate(text string) (string, error) {
	var errs []error
	out := reference.ReplaceAllStringFunc(text, func(match string) string {
		m := reference.FindStringSubmatch(match)
		name := m[1] + m[3]
		if strings.HasPrefix(name, "__") {
			return match
		}
		values, ok := v.Variables[name]
		if !ok {
			errs = append(errs, fmt.Errorf("no variable %q", name))
			return match
		}
		switch m[2] {
		case "singlequote":
			quoted := make([]string, len(values))
			for i, x := range values {
				quoted[i] = "'" + strings.ReplaceAll(x, "'", `\'`) + "'"
			}
			return strings.Join(quoted, ",")
		case "":
			if len(values) == 1 {
				return values[0]
			}
		}
		errs = append(errs, fmt.Errorf("%s: SQL wants the format singlequote", match))
		return match
	})
	return out, errors.Join(errs...)
}

// backend is a macro that the plugin's backend expands. The plugin finds the end of the
// arguments by counting parentheses.
var backend = regexp.MustCompile(`\$__(\w+)`)

func (v View) macros(text string) (string, error) {
	for {
		m := backend.FindStringSubmatchIndex(text)
		if m == nil {
			return text, nil
		}
		name, end := text[m[2]:m[3]], m[1]
		var args []string
		if end < len(text) && text[end] == '(' && !slices.Contains([]string{"fromTime", "toTime", "interval_s"}, name) {
			var err error
			if args, end, err = arguments(text, end); err != nil {
				return "", err
			}
		}
		by, err := v.macro(name, args)
		if err != nil {
			return "", err
		}
		text = text[:m[0]] + by + text[end:]
	}
}

// macro is what the documentation of the plugin says of the macros in use.
func (v View) macro(name string, args []string) (string, error) {
	from, to := fmt.Sprintf("toDateTime(%d)", v.From.Unix()), fmt.Sprintf("toDateTime(%d)", v.To.Unix())
	every := max(int(v.Interval.Seconds()), 1)
	want, ok := map[string]int{"fromTime": 0, "toTime": 0, "interval_s": 0, "timeFilter": 1, "timeInterval": 1}[name]
	if !ok {
		return "", fmt.Errorf("the data source has no macro $__%s, or no test expands it", name)
	}
	if len(args) != want {
		return "", fmt.Errorf("$__%s has %d arguments, want %d", name, len(args), want)
	}
	switch name {
	case "fromTime":
		return from, nil
	case "toTime":
		return to, nil
	case "interval_s":
		return fmt.Sprint(every), nil
	case "timeFilter":
		return fmt.Sprintf("%s >= %s AND %[1]s <= %[3]s", args[0], from, to), nil
	}
	return fmt.Sprintf("toStartOfInterval(toDateTime(%s), INTERVAL %d second)", args[0], every), nil
}

// arguments splits what is between the parenthesis at open and the one that closes it at the
// commas outside of inner ones, and returns the place behind.
func arguments(text string, open int) (args []string, end int, err error) {
	depth, start := 0, open+1
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ',':
			if depth == 1 {
				args, start = append(args, text[start:i]), i+1
			}
		case ')':
			if depth--; depth == 0 {
				return append(args, text[start:i]), i + 1, nil
			}
		}
	}
	return nil, 0, fmt.Errorf("%q is never closed", text[open:min(len(text), open+40)])
}

// PromQL expands the variables of Grafana in a PromQL query.
func (v View) PromQL(text string) (string, error) {
	rate := max(4*v.Interval, time.Minute)
	text = strings.NewReplacer("$__rate_interval", rate.String(), "$__interval", v.Interval.String(), "$__range", v.To.Sub(v.From).String()).Replace(text)
	var errs []error
	out := reference.ReplaceAllStringFunc(text, func(match string) string {
		m := reference.FindStringSubmatch(match)
		values, ok := v.Variables[m[1]+m[3]]
		if !ok {
			errs = append(errs, fmt.Errorf("no variable %q", match))
			return match
		}
		return strings.Join(values, "|")
	})
	return out, errors.Join(errs...)
}
