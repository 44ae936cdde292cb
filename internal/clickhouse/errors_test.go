package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	ch "github.com/ClickHouse/clickhouse-go/v2"
)

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want kind
	}{
		{&ch.Exception{Code: 252}, away},
		{fmt.Errorf("send: %w", &ch.HTTPError{StatusCode: 500, Err: &ch.Exception{Code: 241}}), away},
		{&ch.Exception{Code: 60}, permanent},
		{&ch.HTTPError{StatusCode: 404, Err: &ch.Exception{Code: 81}}, permanent},
		{&ch.Exception{Code: 49}, unknown}, // LOGICAL_ERROR
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, away},
		{fmt.Errorf("read: %w", io.ErrUnexpectedEOF), away},
		{context.DeadlineExceeded, away},
		{&ch.HTTPError{StatusCode: 503, Err: errors.New("busy")}, away},
		{&ch.HTTPError{StatusCode: 404, Err: errors.New("some other server")}, unknown},
		{errors.New("column value: cannot convert"), unknown},
	} {
		if got := kindOf(c.err); got != c.want {
			t.Errorf("%v: kind %d, want %d", c.err, got, c.want)
		}
	}
}
