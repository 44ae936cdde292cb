package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Environ overrides scalar fields, and lists of strings (comma separated), of the struct
// that into points to. The variable of a field is prefix, then the YAML keys on its path
// in capitals, joined by underscores: SEXTANT_KAFKA_BROKERS for kafka.brokers.
func Environ(prefix string, into any, lookup func(string) (string, bool)) error {
	var errs []error
	override(prefix, reflect.ValueOf(into).Elem(), lookup, &errs)
	return errors.Join(errs...)
}

func override(name string, v reflect.Value, lookup func(string) (string, bool), errs *[]error) {
	if s, ok := lookup(name); ok {
		if handled, err := setText(v, s); err != nil {
			*errs = append(*errs, fmt.Errorf("environment %s: %w", name, err))
			return
		} else if handled {
			return
		}
	}
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil() && v.Type().Elem().Kind() == reflect.Struct:
		fresh := reflect.New(v.Type().Elem())
		if overrideNew(name, fresh.Elem(), lookup, errs) {
			v.Set(fresh)
		}
		return
	case v.Kind() == reflect.Pointer:
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		if sub, ok := variable(name, v.Type().Field(i)); ok {
			override(sub, v.Field(i), lookup, errs)
		}
	}
}

// overrideNew fills a section that the file left out, and says whether a variable speaks of it.
func overrideNew(name string, v reflect.Value, lookup func(string) (string, bool), errs *[]error) (spoken bool) {
	override(name, v, func(name string) (string, bool) {
		s, ok := lookup(name)
		spoken = spoken || ok
		return s, ok
	}, errs)
	return spoken
}

// variable is the name of a field's variable below parent's; false when the field is no key.
func variable(parent string, f reflect.StructField) (string, bool) {
	key, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	switch {
	case !f.IsExported() || key == "-":
		return "", false
	case opts == "inline":
		return parent, true
	}
	return parent + "_" + strings.ToUpper(key), key != ""
}

var (
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	durationType = reflect.TypeFor[time.Duration]()
)

// setText stores s in v. It says false for a type that text cannot fill.
func setText(v reflect.Value, s string) (bool, error) {
	if v.CanAddr() && v.Addr().Type().Implements(textType) {
		return true, v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
		return true, nil
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		v.SetBool(b)
		return true, err
	case reflect.Int, reflect.Int32, reflect.Int64:
		if v.Type() == durationType {
			d, err := time.ParseDuration(s)
			v.SetInt(int64(d))
			return true, err
		}
		n, err := strconv.ParseInt(s, 10, v.Type().Bits())
		v.SetInt(n)
		return true, err
	case reflect.Float64:
		f, err := strconv.ParseFloat(s, 64)
		v.SetFloat(f)
		return true, err
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.String {
			return false, nil
		}
		out := reflect.MakeSlice(v.Type(), 0, 4)
		for _, part := range strings.Split(s, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = reflect.Append(out, reflect.ValueOf(part).Convert(v.Type().Elem()))
			}
		}
		v.Set(out)
		return true, nil
	}
	return false, nil
}
