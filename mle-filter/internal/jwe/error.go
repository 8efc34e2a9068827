package jwe

// Reason is the reason of a rejection: a fixed word for metrics and logs.
type Reason string

// The reasons.
const (
	ReasonEncoding Reason = "encoding" // not five canonical segments
	ReasonHeader   Reason = "header"   // an invalid protected header, or a forbidden member
	ReasonAlg      Reason = "alg"      // an unsupported algorithm, or not the key's
	ReasonKID      Reason = "kid"      // a kid that is not a key id
	ReasonEPK      Reason = "epk"      // an ephemeral key that is not a point of P-256
	ReasonSize     Reason = "size"     // the plaintext is too long
	ReasonDecrypt  Reason = "decrypt"  // every fault that only the private key detects
)

// Error reports why a message was rejected. The hint is for the sender, and repeats none of the
// message.
type Error struct {
	Reason Reason
	Hint   string
}

func (r *Error) Error() string { return "jwe: " + r.Hint }

func refuse(reason Reason, hint string) error { return &Error{Reason: reason, Hint: hint} }

// errDecrypt is the error for every fault that only the private key detects.
var errDecrypt = &Error{Reason: ReasonDecrypt, Hint: "The body cannot be decrypted."}
