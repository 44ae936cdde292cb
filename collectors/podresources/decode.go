package podresources

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// holder is a container with what it holds.
type holder struct {
	namespace, pod, container string
	devices                   []deviceSet
	claims                    []claimed
}

// deviceSet are devices of one resource and NUMA place.
type deviceSet struct {
	resource string
	ids      []string
	numa     []int64
}

// claimed is a device that a ResourceClaim gave (dynamic resource allocation).
type claimed struct {
	namespace, name            string // of the claim
	driver, pool, device, part string
}

// maxDevices bounds the devices of an answer: a node has hundreds, and each becomes series.
const maxDevices = 1 << 15

var errTooMany = fmt.Errorf("more than %d devices", maxDevices)

// reader decodes messages of the service. Fields that it does not know are skipped, as
// later kubelets have more.
type reader struct{ devices int }

// fields calls each with the fields of a message; v is the content of a field of bytes, n
// of a varint. Other types are skipped.
func fields(b []byte, each func(num protowire.Number, v []byte, n uint64) error) error {
	for len(b) > 0 {
		num, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		var v []byte
		var n uint64
		switch kind {
		case protowire.BytesType:
			v, size = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		default:
			size = protowire.ConsumeFieldValue(num, kind, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		b = b[size:]
		if kind != protowire.BytesType && kind != protowire.VarintType {
			continue
		}
		if err := each(num, v, n); err != nil {
			return err
		}
	}
	return nil
}

// text is a string of a message, which some language's client may have written badly.
func text(v []byte) string { return strings.ToValidUTF8(string(v), "?") }

// decodeList reads a ListPodResourcesResponse.
func decodeList(b []byte) (out []holder, err error) {
	r := &reader{}
	err = fields(b, func(num protowire.Number, v []byte, _ uint64) error {
		if num != 1 {
			return nil
		}
		holders, err := r.pod(v)
		out = append(out, holders...)
		return err
	})
	return out, wrap("list of pods", err)
}

// decodeAllocatable reads an AllocatableResourcesResponse.
func decodeAllocatable(b []byte) (out []deviceSet, err error) {
	r := &reader{}
	err = fields(b, func(num protowire.Number, v []byte, _ uint64) error {
		if num != 1 {
			return nil
		}
		d, err := r.deviceSet(v)
		out = append(out, d)
		return err
	})
	return out, wrap("allocatable resources", err)
}

func wrap(what string, err error) error {
	if err == nil || errors.Is(err, errTooMany) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// pod reads a PodResources: a holder for each container that holds something.
func (r *reader) pod(b []byte) (out []holder, err error) {
	var name, namespace string
	var all []holder
	err = fields(b, func(num protowire.Number, v []byte, _ uint64) error {
		switch num {
		case 1:
			name = text(v)
		case 2:
			namespace = text(v)
		case 3:
			h, err := r.container(v)
			all = append(all, h)
			return err
		}
		return nil
	})
	for _, h := range all {
		if len(h.devices)+len(h.claims) > 0 {
			h.namespace, h.pod = namespace, name
			out = append(out, h)
		}
	}
	return out, err
}

func (r *reader) container(b []byte) (h holder, err error) {
	err = fields(b, func(num protowire.Number, v []byte, _ uint64) error {
		switch num {
		case 1:
			h.container = text(v)
		case 2:
			d, err := r.deviceSet(v)
			h.devices = append(h.devices, d)
			return err
		case 5:
			claims, err := r.claim(v)
			h.claims = append(h.claims, claims...)
			return err
		}
		return nil
	})
	return h, err
}

// deviceSet reads a ContainerDevices.
func (r *reader) deviceSet(b []byte) (d deviceSet, err error) {
	err = fields(b, func(num protowire.Number, v []byte, _ uint64) error {
		switch num {
		case 1:
			d.resource = text(v)
		case 2:
			d.ids = append(d.ids, text(v))
			return r.count()
		case 3:
			return fields(v, func(num protowire.Number, v []byte, _ uint64) error {
				if num == 1 {
					var id int64 // 0 is not sent
					if err := fields(v, func(num protowire.Number, _ []byte, n uint64) error {
						if num == 1 {
							id = int64(n)
						}
						return nil
					}); err != nil {
						return err
					}
					d.numa = append(d.numa, id)
					return r.count()
				}
				return nil
			})
		}
		return nil
	})
	return d, err
}

// claim reads a DynamicResource.
func (r *reader) claim(b []byte) (out []claimed, err error) {
	var of claimed
	err = fields(b, func(num protowire.Number, v []byte, _ uint64) error {
		switch num {
		case 2:
			of.name = text(v)
		case 3:
			of.namespace = text(v)
		case 4:
			var c claimed
			err := fields(v, func(num protowire.Number, v []byte, _ uint64) error {
				switch num {
				case 2:
					c.driver = text(v)
				case 3:
					c.pool = text(v)
				case 4:
					c.device = text(v)
				case 5:
					c.part = text(v)
				}
				return nil
			})
			out = append(out, c)
			if err == nil {
				err = r.count()
			}
			return err
		}
		return nil
	})
	for i := range out {
		out[i].name, out[i].namespace = of.name, of.namespace
	}
	return out, err
}

func (r *reader) count() error {
	if r.devices++; r.devices > maxDevices {
		return errTooMany
	}
	return nil
}
