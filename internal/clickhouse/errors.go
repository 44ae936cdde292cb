package clickhouse

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
)

// kind says what to do about an error.
type kind int

const (
	away      kind = iota // nothing is wrong with the rows: try again for as long as it takes
	unknown               // try again a few times, then treat it as permanent
	permanent             // the same bytes fail again
)

// kindOf sorts err. An error that the server gives has a code, and the codes that say
// "not now" are few; so are those that say "never". The rest is unknown.
func kindOf(err error) kind {
	var ex *ch.Exception
	switch {
	case errors.As(err, &ex):
		return kindOfCode(ex.Code)
	case errors.Is(err, context.Canceled):
		return away
	case unreachable(err):
		return away
	}
	return unknown
}

// Codes as in ClickHouse's ErrorCodes.cpp.
func kindOfCode(code int32) kind {
	switch code {
	case 159, // TIMEOUT_EXCEEDED
		201, // QUOTA_EXCEEDED
		202, // TOO_MANY_SIMULTANEOUS_QUERIES
		203, // NO_FREE_CONNECTION
		209, // SOCKET_TIMEOUT
		210, // NETWORK_ERROR
		225, // NO_ZOOKEEPER
		236, // ABORTED: the server is stopping
		241, // MEMORY_LIMIT_EXCEEDED
		242, // TABLE_IS_READ_ONLY: a replica without its keeper
		243, // NOT_ENOUGH_SPACE
		252, // TOO_MANY_PARTS
		279, // ALL_CONNECTION_TRIES_FAILED
		285, // TOO_FEW_LIVE_REPLICAS
		286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
		319, // UNKNOWN_STATUS_OF_INSERT
		364, // IS_NOT_FOUND_IN_ZOOKEEPER
		384, // PART_IS_TEMPORARILY_LOCKED
		394, // QUERY_WAS_CANCELLED
		425, // SYSTEM_ERROR
		439, // CANNOT_SCHEDULE_TASK
		999: // KEEPER_EXCEPTION
		return away
	case 6, // CANNOT_PARSE_TEXT
		8,   // THERE_IS_NO_COLUMN
		10,  // NOT_FOUND_COLUMN_IN_BLOCK
		16,  // NO_SUCH_COLUMN_IN_TABLE
		20,  // NUMBER_OF_COLUMNS_DOESNT_MATCH
		36,  // BAD_ARGUMENTS
		44,  // ILLEGAL_COLUMN
		47,  // UNKNOWN_IDENTIFIER
		53,  // TYPE_MISMATCH
		60,  // UNKNOWN_TABLE
		62,  // SYNTAX_ERROR
		69,  // ARGUMENT_OUT_OF_BOUND
		70,  // CANNOT_CONVERT_TYPE
		81,  // UNKNOWN_DATABASE
		115, // UNKNOWN_SETTING
		117, // INCORRECT_DATA
		164, // READONLY
		192, // UNKNOWN_USER
		193, // WRONG_PASSWORD
		349, // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
		469, // VIOLATED_CONSTRAINT
		497, // ACCESS_DENIED
		516: // AUTHENTICATION_FAILED
		return permanent
	}
	return unknown
}

// backoff makes growing pauses with some chance in them, so that many writers do not
// come back at once.
type backoff struct{ next, limit time.Duration }

func newBackoff() *backoff { return &backoff{next: 100 * time.Millisecond, limit: 5 * time.Second} }

// wait pauses, or returns ctx's error when it is done first.
func (b *backoff) wait(ctx context.Context) error {
	d := b.next/2 + rand.N(b.next/2+1)
	b.next = min(b.next*2, b.limit)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
