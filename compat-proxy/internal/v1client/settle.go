package v1client

import (
	"net/http"
	"slices"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Earlier is the record of the attempts under one Idempotency-Key.
type Earlier struct {
	lost bool // an attempt may have had an effect, or may still have one
	ours bool // an attempt may have had the effect that a later response describes
	// Claimed reports that v1 may have claimed the key, for one of them or for an equal request.
	Claimed bool
}

// add updates the response to the next attempt by the attempts before it, and adds it to them.
func (e *Earlier) add(resp *Response) {
	resp.Replayed = resp.Replayed && !e.ours && !resp.resent
	e.ours = e.ours || resp.resent || resp.MayHaveReached && resp.Err.Code != v1.CodeKeyInUse
	resp.MayHaveReached = resp.MayHaveReached || e.lost && !resp.Settles()
	e.lost = resp.MayHaveReached
	e.Claimed = e.Claimed || resp.MayHaveReached || resp.resent
}

// hadNoEffect reports whether a response that is not a success proves that its attempt had no
// effect. A gateway's 5xx proves nothing about v1, unless it is a 503 with httpx.UnsentHeader.
func (resp Response) hadNoEffect() bool {
	switch {
	case resp.Err.Code == v1.CodeKeyInUse:
		return false
	case resp.Status == http.StatusServiceUnavailable:
		return beforeEffect[resp.Err.Code] || resp.unsent
	}
	return resp.Status < http.StatusInternalServerError || resp.Err.Code == v1.CodeNotProcessed
}

// beforeEffect are the codes of 503 responses that v1 sends before any effect. Any other, such as
// store_unavailable, may come after the commit of an intent, which v1 then carries out.
var beforeEffect = map[string]bool{
	v1.CodeOverloaded: true, v1.CodeAcquirerNotConfigured: true, v1.CodeAcquirerUnavailable: true,
}

// Settles reports whether the response also proves that the earlier attempts with the same key had
// no effect. invalid_json does not: the proxy sends valid JSON, so v1 got a truncated body.
func (resp Response) Settles() bool {
	return resp.Status/100 == 2 || slices.Contains(v1.SettlingRefusals(), resp.Err.Code)
}
