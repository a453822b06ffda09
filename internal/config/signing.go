package config

import "fmt"

// SigningName is the setting with the secret that signs tenants' keys. It is not in Settings: it makes keys to every
// tenant, so no worker may have it, and it does not belong in a tenant's files (I10).
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
