package nats_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// TestLogins: each kind of login sends and receives; without it, or with a wrong one, the error says so, and tells no
// secret.
func TestLogins(t *testing.T) {
	t.Parallel()
	pki := newAuthority(t)
	user, seed := newSeed(t, nkeys.CreateUser)
	_, otherSeed := newSeed(t, nkeys.CreateUser)
	for name, c := range map[string]struct {
		server       func(o *server.Options)
		login, wrong nats.Login
		refused      bool // the wrong login is one that the server refuses; else there is no connection
	}{
		"token": {
			func(o *server.Options) { o.Authorization = "t0ken" },
			nats.Login{Token: "t0ken"},
			nats.Login{Token: "wr0ng"},
			true,
		},
		"user and password": {
			func(o *server.Options) { o.Username, o.Password = "ocr", "pa55word" },
			nats.Login{User: "ocr", Password: "pa55word"},
			nats.Login{User: "ocr", Password: "wr0ng"},
			true,
		},
		"nkey": {
			func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: user}} },
			nats.Login{Credentials: seed + "\n"},
			nats.Login{Credentials: otherSeed},
			true,
		},
		"creds": newOperator(t),
		"tls": {
			func(o *server.Options) { o.TLSConfig = pki.server(t, tls.NoClientCert) },
			nats.Login{CA: pki.pem},
			nats.Login{CA: newAuthority(t).pem},
			false,
		},
		"mutual tls": {
			func(o *server.Options) {
				o.TLSConfig, o.TLSVerify = pki.server(t, tls.RequireAndVerifyClientCert), true
			},
			pki.client(t),
			nats.Login{CA: pki.pem},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Start(t, c.server)
			q := loggedIn(t, s, c.login)
			must(t, q.Ensure(t.Context()))
			_, err := q.Send(t.Context(), "x", queue.SendOptions{})
			must(t, err)
			must(t, await(t, q, time.Minute).Lease.Delete(t.Context()))

			err = loggedIn(t, s, c.wrong).Ensure(t.Context())
			if err == nil || c.refused != errors.Is(err, queue.ErrDenied) {
				t.Errorf("a wrong login: %v", err)
			}
			for _, secret := range []string{c.wrong.Token, c.wrong.Password, c.wrong.Credentials} {
				if secret != "" && strings.Contains(fmt.Sprint(err), secret) {
					t.Errorf("the error tells a secret: %v", err)
				}
			}
		})
	}
}

func loggedIn(t *testing.T, s *natstest.Server, login nats.Login) queue.Queue {
	t.Helper()
	login.URL = s.URL()
	service, err := nats.Open(login, nats.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, service.Close()) })
	return service.Queue("acme-tasks")
}

func newSeed(t *testing.T, create func() (nkeys.KeyPair, error)) (public, seed string) {
	t.Helper()
	pair, err := create()
	must(t, err)
	public, err = pair.PublicKey()
	must(t, err)
	secret, err := pair.Seed()
	must(t, err)
	return public, string(secret)
}

// newOperator is a server whose accounts are JWTs, and two users' .creds: of an account that it knows, and of another.
func newOperator(t *testing.T) (c struct {
	server       func(o *server.Options)
	login, wrong nats.Login
	refused      bool
},
) {
	t.Helper()
	operator, err := nkeys.CreateOperator()
	must(t, err)
	operatorKey, err := operator.PublicKey()
	must(t, err)
	claims := jwt.NewOperatorClaims(operatorKey)
	token, err := claims.Encode(operator)
	must(t, err)
	trusted, err := jwt.DecodeOperatorClaims(token)
	must(t, err)
	accounts := &server.MemAccResolver{}
	account := func(known, streams bool) (key, creds string) {
		pair, err := nkeys.CreateAccount()
		must(t, err)
		key, err = pair.PublicKey()
		must(t, err)
		claims := jwt.NewAccountClaims(key)
		if streams { // the system's account may have none
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		}
		token, err := claims.Encode(operator)
		must(t, err)
		if known {
			must(t, accounts.Store(key, token))
		}
		user, seed := newSeed(t, nkeys.CreateUser)
		login, err := jwt.NewUserClaims(user).Encode(pair)
		must(t, err)
		file, err := jwt.FormatUserConfig(login, []byte(seed))
		must(t, err)
		return key, string(file)
	}
	system, _ := account(true, false)
	_, known := account(true, true)
	_, unknown := account(false, true)
	c.server = func(o *server.Options) {
		o.TrustedOperators, o.AccountResolver, o.SystemAccount = []*jwt.OperatorClaims{trusted}, accounts, system
	}
	c.login, c.wrong, c.refused = nats.Login{Credentials: known}, nats.Login{Credentials: unknown}, true
	return c
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true,
		NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.pem, _, a.key = a.sign(t, a.cert)
	return a
}

// sign makes a certificate and its key.
func (a *authority) sign(t *testing.T, of *x509.Certificate) (cert, key string, private *ecdsa.PrivateKey) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	by := a.key
	if by == nil {
		by = private // the authority's own
	}
	der, err := x509.CreateCertificate(rand.Reader, of, a.cert, &private.PublicKey, by)
	must(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})), private
}

func (a *authority) issue(t *testing.T) (cert, key string) {
	t.Helper()
	cert, key, _ = a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "ocr"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return cert, key
}

func (a *authority) server(t *testing.T, clients tls.ClientAuthType) *tls.Config {
	t.Helper()
	cert, key := a.issue(t)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	must(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(a.pem))
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: clients, MinVersion: tls.VersionTLS12,
	}
}

func (a *authority) client(t *testing.T) nats.Login {
	t.Helper()
	cert, key := a.issue(t)
	return nats.Login{CA: a.pem, Cert: cert, Key: key}
}
