// Package chdb runs ClickHouse inside this process: it binds the C interface of
// libchdb.so with purego, so that neither cgo nor a ClickHouse server is needed.
//
// A process has one library, one open engine and any number of connections. A
// connection is a session: it has its own settings, current database and
// temporary tables, costs about 0.2 ms to open, and runs one statement at a time.
package chdb

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// symbols are the functions of libchdb's C interface that are used here. Handles
// are unsafe.Pointer to memory that C owns; text is passed as pointer and length,
// so it may hold NUL bytes.
type symbols struct {
	version      func() string
	signals      func(enabled int32)
	connect      func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	closeConn    func(conn unsafe.Pointer)
	query        func(conn, query unsafe.Pointer, queryLen uintptr, format unsafe.Pointer, formatLen uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) unsafe.Pointer
	streamQuery  func(conn, query unsafe.Pointer, queryLen uintptr, format unsafe.Pointer, formatLen uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) unsafe.Pointer
	streamFetch  func(conn, stream unsafe.Pointer) unsafe.Pointer
	streamCancel func(conn, stream unsafe.Pointer)
	destroy      func(result unsafe.Pointer)
	buffer       func(result unsafe.Pointer) unsafe.Pointer
	length       func(result unsafe.Pointer) uintptr
	failure      func(result unsafe.Pointer) unsafe.Pointer
	elapsed      func(result unsafe.Pointer) float64
	resultRows   func(result unsafe.Pointer) uint64
	resultBytes  func(result unsafe.Pointer) uint64
	readRows     func(result unsafe.Pointer) uint64
	readBytes    func(result unsafe.Pointer) uint64
	writtenRows  func(result unsafe.Pointer) uint64
	writtenBytes func(result unsafe.Pointer) uint64

	insert        func(conn, query unsafe.Pointer, queryLen uintptr, format unsafe.Pointer, formatLen uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) unsafe.Pointer
	insertAppend  func(stream, data unsafe.Pointer, n uintptr) int32
	insertDone    func(stream unsafe.Pointer) unsafe.Pointer
	insertCancel  func(stream unsafe.Pointer)
	insertFailure func(stream unsafe.Pointer) unsafe.Pointer
	insertDestroy func(stream unsafe.Pointer)
}

// library is the one libchdb of this process: a shared object that was opened
// cannot be closed again, so neither can this.
var library struct {
	mu   sync.Mutex
	path string
	c    *symbols // nil until Load succeeded
}

// Load opens libchdb.so. It is called once before Open; a second call with the
// same path does nothing, one with another path is an error.
func Load(path string) error {
	library.mu.Lock()
	defer library.mu.Unlock()
	if library.c != nil {
		if library.path != path {
			return fmt.Errorf("load %s: this process already uses %s", path, library.path)
		}
		return nil
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	c := new(symbols)
	for name, fn := range c.table() {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return fmt.Errorf("load %s: not a libchdb of the pinned version: %w", path, err)
		}
		purego.RegisterFunc(fn, address)
	}
	// Before the first connection, or the engine replaces the handlers with which
	// the Go runtime turns SIGSEGV into a panic and SIGURG into a preemption.
	c.signals(0)
	library.path, library.c = path, c
	return nil
}

func (c *symbols) table() map[string]any {
	return map[string]any{
		"chdb_version":                     &c.version,
		"chdb_set_signal_handlers_enabled": &c.signals,
		"chdb_connect":                     &c.connect,
		"chdb_close_conn":                  &c.closeConn,
		"chdb_query_with_params_n":         &c.query,
		"chdb_stream_query_with_params_n":  &c.streamQuery,
		"chdb_stream_fetch_result":         &c.streamFetch,
		"chdb_stream_cancel_query":         &c.streamCancel,
		"chdb_destroy_query_result":        &c.destroy,
		"chdb_result_buffer":               &c.buffer,
		"chdb_result_length":               &c.length,
		"chdb_result_error":                &c.failure,
		"chdb_result_elapsed":              &c.elapsed,
		"chdb_result_rows_read":            &c.resultRows,
		"chdb_result_bytes_read":           &c.resultBytes,
		"chdb_result_storage_rows_read":    &c.readRows,
		"chdb_result_storage_bytes_read":   &c.readBytes,
		"chdb_result_rows_written":         &c.writtenRows,
		"chdb_result_bytes_written":        &c.writtenBytes,
		"chdb_stream_insert_with_params_n": &c.insert,
		"chdb_stream_append":               &c.insertAppend,
		"chdb_stream_done":                 &c.insertDone,
		"chdb_stream_cancel_insert":        &c.insertCancel,
		"chdb_stream_insert_error":         &c.insertFailure,
		"chdb_destroy_insert_stream":       &c.insertDestroy,
	}
}

func loaded() (*symbols, error) {
	library.mu.Lock()
	defer library.mu.Unlock()
	if library.c == nil {
		return nil, fmt.Errorf("libchdb is not loaded")
	}
	return library.c, nil
}
