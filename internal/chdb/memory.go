package chdb

import (
	"runtime"
	"unsafe"
)

// goString copies a C string; nil is "".
func goString(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// pointer is the address of b's bytes; nil when there are none. The caller keeps b alive.
func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// Param is the value of a placeholder {name:Type} in a statement. The engine
// parses the value as the placeholder's type, so it cannot change the statement.
// Value is text as ClickHouse's TabSeparated format escapes it; \N is NULL.
type Param struct{ Name, Value string }

// paramArrays are a statement's parameters in C's shape: four arrays of n elements.
type paramArrays struct {
	names, values       []unsafe.Pointer
	nameLens, valueLens []uintptr
}

// arrays lays params out for one call and pins them until release.
func arrays(params []Param, pin *runtime.Pinner) paramArrays {
	a := paramArrays{
		names: make([]unsafe.Pointer, len(params)), values: make([]unsafe.Pointer, len(params)),
		nameLens: make([]uintptr, len(params)), valueLens: make([]uintptr, len(params)),
	}
	for i, p := range params {
		name, value := []byte(p.Name+"\x00"), []byte(p.Value+"\x00")
		pin.Pin(&name[0])
		pin.Pin(&value[0])
		a.names[i], a.nameLens[i] = pointer(name), uintptr(len(p.Name))
		a.values[i], a.valueLens[i] = pointer(value), uintptr(len(p.Value))
	}
	return a
}

// start is any of the three C functions that begin a statement.
type start func(conn, query unsafe.Pointer, queryLen uintptr, format unsafe.Pointer, formatLen uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) unsafe.Pointer

func begin(f start, conn unsafe.Pointer, query, format string, params []Param) unsafe.Pointer {
	var pin runtime.Pinner
	defer pin.Unpin()
	q, fm, a := []byte(query), []byte(format), arrays(params, &pin)
	p := f(conn, pointer(q), uintptr(len(q)), pointer(fm), uintptr(len(fm)),
		unsafe.Pointer(unsafe.SliceData(a.names)), unsafe.Pointer(unsafe.SliceData(a.nameLens)),
		unsafe.Pointer(unsafe.SliceData(a.values)), unsafe.Pointer(unsafe.SliceData(a.valueLens)), uintptr(len(params)))
	runtime.KeepAlive(q)
	runtime.KeepAlive(fm)
	runtime.KeepAlive(a)
	return p
}
