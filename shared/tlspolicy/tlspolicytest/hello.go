package tlspolicytest

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// Hello is the offer of a client, with fields that Go's client does not have: any version, suite
// and signature algorithm.
type Hello struct {
	Version    uint16 // at most TLS 1.2: from 1.3 on a server never refuses by the suite
	Suites     []uint16
	Signatures []tls.SignatureScheme // nil: all that fit ECDSA or RSA, including old ones
}

// Taken is a server's choice from a Hello.
type Taken struct {
	Version, Suite uint16
}

// ErrRefused means a server that broke the handshake off.
var ErrRefused = errors.New("handshake refused")

// Offer sends the hello to addr and reads until the server has proven its key. The error is an
// ErrRefused if the server refuses, by an alert or by hanging up, at any point.
func Offer(ctx context.Context, addr string, h Hello) (Taken, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return Taken{}, fmt.Errorf("offer: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return Taken{}, fmt.Errorf("offer: %w", err)
		}
	}
	if _, err := conn.Write(h.record()); err != nil {
		return Taken{}, fmt.Errorf("offer: %w", err)
	}
	return readFlight(conn)
}

const (
	recordAlert     = 21
	recordHandshake = 22

	serverHello     = 2
	serverHelloDone = 14

	maximum = 1 << 18 // of a response; chains are far smaller
)

// readFlight reads the server's first flight.
func readFlight(conn io.Reader) (Taken, error) {
	var flight []byte
	var taken Taken
	for len(flight) < maximum {
		recordType, payload, err := readRecord(conn)
		if err != nil {
			return Taken{}, err
		}
		if recordType == recordAlert {
			return Taken{}, fmt.Errorf("%w: alert %x", ErrRefused, payload)
		}
		if recordType != recordHandshake {
			return Taken{}, fmt.Errorf("offer: a record of type %d", recordType)
		}
		flight = append(flight, payload...)
		for len(flight) >= 4 {
			size := int(binary.BigEndian.Uint32(flight)&0xffffff) + 4
			if len(flight) < size {
				break
			}
			if flight[0] == serverHelloDone {
				return taken, nil
			}
			if flight[0] == serverHello {
				taken, err = readServerHello(flight[4:size])
			}
			if err != nil {
				return Taken{}, err
			}
			flight = flight[size:]
		}
	}
	return Taken{}, errors.New("offer: the server sent more records than a first flight has")
}

func readRecord(r io.Reader) (recordType byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			return 0, nil, fmt.Errorf("offer: %w", err)
		}
		return 0, nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	payload = make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, fmt.Errorf("offer: %w", err)
	}
	return head[0], payload, nil
}

func readServerHello(b []byte) (Taken, error) {
	const session = 2 + 32 // after the version and the random
	if len(b) <= session || len(b) < session+1+int(b[session])+2 {
		return Taken{}, errors.New("offer: half a ServerHello")
	}
	return Taken{Version: binary.BigEndian.Uint16(b), Suite: binary.BigEndian.Uint16(b[session+1+int(b[session]):])}, nil
}

// record returns a record that holds only the ClientHello.
func (h Hello) record() []byte {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	body := binary.BigEndian.AppendUint16(nil, h.Version)
	body = append(body, random[:]...)
	body = append(body, 0) // no session
	body = append(body, prefixed(words(h.Suites))...)
	body = append(body, 1, 0) // no compression
	body = append(body, prefixed(h.extensions())...)

	length := uint32(len(body)) //nolint:gosec // our own, and short
	message := append(binary.BigEndian.AppendUint32(nil, 1<<24|length), body...)
	return append([]byte{recordHandshake, 3, 1}, prefixed(message)...)
}

func (h Hello) extensions() []byte {
	signatures := h.Signatures
	if signatures == nil {
		// SHA-256, 384, 512, 224, 1, MD5
		for _, hash := range []tls.SignatureScheme{0x0400, 0x0500, 0x0600, 0x0300, 0x0200, 0x0100} {
			signatures = append(signatures, hash|3, hash|1) // with ECDSA, with RSA
		}
		signatures = append(signatures, tls.PSSWithSHA256, tls.PSSWithSHA384, tls.PSSWithSHA512)
	}
	groups := []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384}
	var out []byte
	for _, e := range []struct {
		extension uint16
		body      []byte
	}{
		{0, prefixed(append([]byte{0}, prefixed([]byte("localhost"))...))}, // server_name
		{10, prefixed(words(groups))},
		{11, []byte{1, 0}}, // uncompressed points
		{13, prefixed(words(signatures))},
		{0xff01, []byte{0}}, // renegotiation_info
	} {
		out = binary.BigEndian.AppendUint16(out, e.extension)
		out = append(out, prefixed(e.body)...)
	}
	return out
}

func words[T ~uint16](list []T) []byte {
	var out []byte
	for _, v := range list {
		out = binary.BigEndian.AppendUint16(out, uint16(v))
	}
	return out
}

// prefixed puts the length in two bytes before b.
func prefixed(b []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...) //nolint:gosec // our own, and short
}
