package config

import "fmt"

// SigningName is the setting with the secret that signs tenants' keys, and verifies those of the project's users at the
// HTTP API. It makes keys to every tenant: a worker that has it is warned, and verifies with public keys without it (I10).
const SigningName = "SUPABASE_JWT_SECRET"

// SigningSecret reads the project's JWT secret from a file or the environment. The error is an *Errors.
func SigningSecret(src Sources, least int) (Secret, error) {
	l := loader{env: environment(src.Environ), src: src}
	delete(l.env, "CREDENTIALS_DIRECTORY") // the credentials belong to a tenant
	found, f := l.findBelowFlags(Setting{Name: SigningName, Secret: true})
	switch {
	case f != nil:
	case found.text == "":
		f = &fault{
			"it is not set, and signing a key needs it",
			"take it from the project's settings (Supabase: JWT Keys, legacy JWT secret), and set it for this " +
				"command only, or put it into a file and set " + SigningName + "_FILE",
		}
	case len(found.text) < least:
		f = &fault{
			fmt.Sprintf("it is shorter than %d bytes%s, so its keys could be forged", least, whence(found)),
			"use the project's JWT secret as a whole; PostgREST refuses a shorter one",
		}
	}
	if f != nil {
		return Secret{}, &Errors{Problems: []Problem{{SigningName, f.problem, f.remedy}}}
	}
	return NewSecret(found.text), nil
}
