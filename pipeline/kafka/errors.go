package kafka

import (
	"errors"

	"github.com/segmentio/kafka-go"
)

// ErrTooLarge is the one permanent failure of a record: it is larger than the producer or
// the broker accepts, and would be on every retry. Test with errors.Is. All other errors
// of Send mean "not acknowledged": the record may or may not be stored, so send it again.
var ErrTooLarge = errors.New("record is too large")

// ErrFenced says that this member no longer owns the partition: the group went on
// without it, and another member may already be ahead. What it wrote is safe, as writes
// are idempotent; what it would commit is not.
var ErrFenced = errors.New("partition now belongs to another generation of the group")

// errTooOld is wrapped with the address of a broker that lacks Fetch version 11.
var errTooOld = errors.New("the broker is older than Kafka 2.3, the oldest that is supported")

// tooLarge says that the broker refused a batch for its size.
func tooLarge(err error) bool {
	return errors.Is(err, kafka.MessageSizeTooLarge) || errors.Is(err, kafka.RecordListTooLarge)
}

// fenced says that a commit was refused because its generation is over.
func fenced(err error) bool {
	return errors.Is(err, kafka.IllegalGeneration) || errors.Is(err, kafka.UnknownMemberId) ||
		errors.Is(err, kafka.RebalanceInProgress) || errors.Is(err, kafka.FencedInstanceID)
}

func isTooLarge(err error) bool { return errors.Is(err, ErrTooLarge) }
