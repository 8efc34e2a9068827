// Package p12 writes PKCS #12 files (RFC 7292): a private key with its certificate, and further
// certificates. Names become the friendly names by which provider-b clients find a certificate. The
// profile is PBES2 with AES-256 and an HMAC with SHA-256, which OpenSSL, Java and node-forge all
// read.
//
// The package exists because software.sslmate.com/src/go-pkcs12, with which its tests read the
// files, writes no friendly name for a key and its certificate (v0.7.4). Replace this package after
// that library does.
package p12
