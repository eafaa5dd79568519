package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"time"
)

// makeCaller writes the certificate with which the API server calls kubelets,
// for exec, logs and the like. It is its own authority.
func (s *state) makeCaller() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making the API server's client key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "devcluster:apiserver", Organization: []string{"system:masters"}},
		NotBefore:    now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fmt.Errorf("making the API server's client certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("making the API server's client key: %w", err)
	}
	for name, block := range map[string]*pem.Block{
		"caller.crt": {Type: "CERTIFICATE", Bytes: cert}, "caller.key": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(s.pathTo("certs", name), pem.EncodeToMemory(block), 0o600); err != nil {
			return fmt.Errorf("writing keys: %w", err)
		}
	}
	return nil
}
