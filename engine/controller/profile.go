//go:build profile

package controller

import "os"

func init() { pprofAddress = os.Getenv("JACQUARD_PPROF") }
