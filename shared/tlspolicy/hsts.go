package tlspolicy

// HSTSHeader and HSTS are the header that makes browsers use only HTTPS for the next two years.
// Every response over HTTPS carries it, also an error or a proxy's response. No response over plain
// HTTP does (RFC 6797, 7.2). It leaves preload out: that is the decision of the owner of the
// domain.
const (
	HSTSHeader = "Strict-Transport-Security"
	HSTS       = "max-age=63072000; includeSubDomains"
)
