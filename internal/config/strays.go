package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Variables are the environment variables of a program beside those of its keys, without
// the prefix and its underscore. An element that ends in an underscore stands for every
// variable that begins with it.
type Variables struct {
	Own    []string // read by this program in another way
	Others []string // read by programs that share the prefix and perhaps the environment
}

// Strays judges the variables of environ that begin with prefix, for a program whose
// configuration is of into's type. One that nobody reads is most likely a misspelt key,
// and an error that names the nearest. Those of others come back, sorted.
func Strays(prefix string, environ []string, into any, v Variables) (others []string, err error) {
	known := Keys(prefix, into)
	var errs []error
	for _, e := range slices.Sorted(slices.Values(environ)) {
		name, _, _ := strings.Cut(e, "=")
		rest, ok := strings.CutPrefix(name, prefix+"_")
		switch {
		case !ok || slices.Contains(known, name) || stands(v.Own, rest):
		case stands(v.Others, rest):
			others = append(others, name)
		default:
			errs = append(errs, fmt.Errorf("environment %s: no key has this variable; the nearest is %s", name, nearest(name, known)))
		}
	}
	return others, errors.Join(errs...)
}

func stands(list []string, name string) bool {
	return slices.ContainsFunc(list, func(e string) bool {
		return e == name || strings.HasSuffix(e, "_") && strings.HasPrefix(name, e)
	})
}

// Keys are the variables that Environ takes for a struct of into's type.
func Keys(prefix string, into any) []string {
	var out []string
	keys(prefix, reflect.TypeOf(into).Elem(), &out)
	return out
}

func keys(name string, t reflect.Type, out *[]string) {
	if takesText(t) {
		*out = append(*out, name)
		return
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		if sub, ok := variable(name, t.Field(i)); ok {
			keys(sub, t.Field(i).Type, out)
		}
	}
}

// takesText says whether setText can fill a t.
func takesText(t reflect.Type) bool {
	if reflect.PointerTo(t).Implements(textType) {
		return true
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return true
	case reflect.Slice:
		return t.Elem().Kind() == reflect.String
	}
	return false
}

// nearest is the name that fewest insertions, deletions and replacements make of s.
func nearest(s string, names []string) string {
	return slices.MinFunc(names, func(a, b string) int { return distance(s, a) - distance(s, b) })
}

// distance is Levenshtein's, a row at a time.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
