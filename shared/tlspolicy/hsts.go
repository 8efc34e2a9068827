package tlspolicy

// HSTSHeader and HSTS are the header that tells browsers to come by HTTPS alone for the next two years. Every answer over HTTPS carries it, whatever its
// status and whoever gave it; no answer over plain HTTP does (RFC 6797, 7.2). It says nothing of preload: that is the decision of who owns the domain.
const (
	HSTSHeader = "Strict-Transport-Security"
	HSTS       = "max-age=63072000; includeSubDomains"
)
