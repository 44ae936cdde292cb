//go:build cgo && linux

package dcgm

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/NVIDIA/go-dcgm/pkg/dcgm"
)

// rescanEvery is how often identity, topology and health are read, and what could not be
// watched is tried again.
const rescanEvery = time.Minute

// engine is the source behind a Collector: the connection to a host engine, made when
// there is none.
type engine struct {
	cfg    Config
	period time.Duration // of the fast watches
	conn   *session      // nil while there is no connection
	xid    *xidLog
}

func newSource(c Config, interval time.Duration) source {
	return &engine{cfg: c, period: c.watch(interval), xid: newXIDLog(time.Now())}
}

// errLost means that the connection is of no more use.
var errLost = errors.New("host engine is gone")

// read gives one page. When the engine was restarted since the last one, the first call
// finds the old connection dead, and the second makes a new one within the same reading.
func (e *engine) read(now time.Time) (*page, error) {
	fresh := e.conn == nil
	p, err := e.readOnce(now)
	if errors.Is(err, errLost) && !fresh {
		p, err = e.readOnce(now)
	}
	return p, err
}

func (e *engine) readOnce(now time.Time) (*page, error) {
	if e.conn == nil {
		conn, err := connect(e.cfg, e.period, e.xid)
		if err != nil {
			return nil, err
		}
		e.conn = conn
	}
	p, err := e.conn.read(now)
	if err != nil {
		_ = e.conn.drop() // an engine that is gone cannot be left in good order
		e.conn = nil
		return nil, err
	}
	return p, nil
}

func (e *engine) close() error {
	if e.conn == nil {
		return nil
	}
	e.conn.unwatch()
	err := e.conn.drop()
	e.conn = nil
	return err
}

// connect makes a session. It holds the library's only connection until drop.
func connect(c Config, period time.Duration, xid *xidLog) (*session, error) {
	if err := openLibrary(); err != nil {
		return nil, err
	}
	if err := acquire(); err != nil {
		return nil, err
	}
	if err := dial(c); err != nil {
		release()
		return nil, err
	}
	return &session{cfg: c, period: period, xid: xid, version: engineVersion()}, nil
}

// dial connects go-dcgm to an engine that is there, or starts one in this process.
func dial(c Config) error {
	if c.Embedded {
		if err := alone(c.Address, DefaultAddress, DefaultSocket); err != nil {
			return err
		}
		return initialised(dcgm.Init(dcgm.Embedded))
	}
	if err := answers(c.Address); err != nil {
		return err
	}
	kind := "0"
	if socket(c.Address) {
		kind = "1"
	}
	return initialised(dcgm.Init(dcgm.Standalone, c.Address, kind))
}

// initialised undoes what a failed Init leaves behind.
func initialised(_ func(), err error) error {
	if err != nil {
		stopLibrary()
	}
	return err
}

// engineVersion is the engine's version, such as 4.4.1, or "" when it does not tell.
func engineVersion() string {
	v, err := dcgm.GetHostengineVersionInfo()
	if err != nil {
		return ""
	}
	for _, pair := range strings.Split(v.RawBuildInfoString, ";") {
		if key, value, _ := strings.Cut(pair, ":"); key == "version" {
			return value
		}
	}
	return ""
}

// code is the DCGM status in an error, 0 when it has none.
func code(err error) int {
	var e *dcgm.Error
	if errors.As(err, &e) {
		return int(e.Code)
	}
	return 0
}

// lost turns an error of a broken connection into errLost, and others into nil: they
// concern only what was asked for.
func lost(err error) error {
	switch code(err) {
	case dcgm.DCGM_ST_CONNECTION_NOT_VALID, dcgm.DCGM_ST_UNINITIALIZED:
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}
