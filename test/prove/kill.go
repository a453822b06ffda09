package main

import "context"

func kill(context.Context, options, *report) error { return nil }
